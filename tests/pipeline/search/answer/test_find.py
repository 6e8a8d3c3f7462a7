from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlctl.pipeline.errors import CorruptFile, QueryError, StoreError
from crawlctl.pipeline.search.answer.find import ENOUGH, SearchOptions, find, matching_urls, top_documents
from crawlctl.pipeline.search.evaluate.plain_evaluator import PlainEvaluator
from crawlctl.pipeline.search.evaluate.vector_evaluator import VectorEvaluator
from crawlctl.pipeline.search.open.open_index import open_index
from crawlctl.pipeline.search.plan import expansions
from crawlctl.pipeline.search.plan.planner import RANK_WEIGHT, plan_query
from crawlctl.pipeline.search.query.grammar import parse
from crawlctl.pipeline.state.snapshots import create_crawl
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.urls.hosts import stable_hash
from crawlctl.tests.effort import examples
from crawlctl.tests.pipeline.search.brute_force import Page
from crawlctl.tests.pipeline.search.memory_store import MemoryStore
from crawlctl.tests.pipeline.search.small_index import write_index

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from crawlctl.pipeline.search.answer.results import Explanation
    from crawlctl.pipeline.search.evaluate.matches import Evaluator

HOST = "http://a.example"


def urls(store: LocalStore, query: str, **options: Any) -> list[str]:
    hits = find(open_index(store), parse(query), SearchOptions(**options)).hits
    return [hit.url.removeprefix(f"{HOST}/") for hit in hits]


def by_hash(names: Iterable[str]) -> list[str]:
    return sorted(names, key=lambda name: stable_hash(f"{HOST}/{name}"))


def test_more_occurrences_rank_higher_and_ties_follow_the_hashes_of_urls(store: LocalStore) -> None:
    texts = {"c": "tree", "a": "tree", "b": "tree tree"}
    write_index(store, [[Page(f"{HOST}/{name}", text=text) for name, text in texts.items()]])
    assert urls(store, "tree") == ["b", *by_hash("ac")]


@settings(max_examples=examples(10), deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["tree", "tree tree", "a tree"]), st.integers(0, 3)),
        min_size=5,
        max_size=25,
    ),
    st.integers(1, 12),
    st.sampled_from(["tree", "red tree", "*"]),
    st.sampled_from(["score", "date"]),
)
def test_the_order_is_the_same_however_pages_are_spread_over_segments(
    made: list[tuple[str, int]], limit: int, query: str, sort: Literal["score", "date"]
) -> None:
    pages = [
        Page(f"{HOST}/{number}", text=text, group=group, fetched_at=group)
        for number, (text, group) in enumerate(made)
    ]
    answers = []
    for count in (1, 2, 4):
        store = MemoryStore()
        index = open_index(store, write_index(store, [pages[start::count] for start in range(count)]))
        options = [SearchOptions(limit, start, sort) for start in (0, 3)]
        answers += [[find(index, parse(query), one).hits for one in options]]
        index.close()
    assert answers[0] == answers[1] == answers[2]


@settings(max_examples=examples(10), deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["tree", "red tree", "red"]), st.integers(0, 3)), min_size=2, max_size=30
    )
)
def test_counts_lists_and_pages_agree_with_folding_and_without(made: list[tuple[str, int]]) -> None:
    pages = [Page(f"{HOST}/{number}", text=text, group=group) for number, (text, group) in enumerate(made)]
    store = MemoryStore()
    index = open_index(store, write_index(store, [pages[::2], pages[1::2]]))
    folded = find(index, parse("tree"), SearchOptions(100))
    assert sum(1 + hit.similar for hit in folded.hits) == folded.total
    every = find(index, parse("tree"), SearchOptions(100, unfolded=True))
    assert len(every.hits) == every.total == folded.total
    paged = [
        hit.url
        for start in range(0, len(every.hits), 4)
        for hit in find(index, parse("tree"), SearchOptions(4, start, unfolded=True)).hits
    ]
    assert paged == [hit.url for hit in every.hits]
    index.close()


@settings(max_examples=examples(10), deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["tree", "red tree", "red"]),
            st.sampled_from(["a.example", "b.a.example", "c.example", "d.example:81"]),
            st.integers(0, 40),
        ),
        min_size=2,
        max_size=40,
    ),
    st.integers(1, 3),
    st.sampled_from(["score", "date"]),
    st.sampled_from(["tree", "red tree"]),
)
def test_of_a_host_only_the_best_are_shown_and_the_others_are_counted(
    made: list[tuple[str, str, int]], per_host: int, sort: Literal["score", "date"], query: str
) -> None:
    pages = [
        Page(f"http://{host}/{number}", text=text, fetched_at=day)
        for number, (text, host, day) in enumerate(made)
    ]
    store = MemoryStore()
    index = open_index(store, write_index(store, [pages[::2], pages[1::2]]))
    plan = plan_query(parse(query), index)
    for evaluator in (PlainEvaluator(index.reader, plan), VectorEvaluator(index.vector_lists, plan)):

        def shown(limit: int, offset: int = 0, most: int = 0, evaluator: Evaluator = evaluator) -> Any:
            return top_documents(index, plan, evaluator, SearchOptions(limit, offset, sort, per_host=most))

        every, some = shown(100), shown(100, most=per_host)
        is_enough = every.total >= ENOUGH
        assert (some.total, some.partial) == (every.total, 0 if is_enough else every.partial)
        documents = [
            folded.ranked.document for folded, is_partial in every.documents if not (is_enough and is_partial)
        ]
        hosts = [urlsplit(record.url).netloc for record in index.records(documents)]
        best = [one for number, one in enumerate(documents) if hosts[:number].count(hosts[number]) < per_host]
        assert [folded.ranked.document for folded, _ in some.documents] == best
        paged = [one for start in range(0, len(best), 3) for one in shown(3, start, per_host).documents]
        assert paged == some.documents
    index.close()


def test_no_partial_matches_stand_in_for_full_ones_that_a_limit_per_host_leaves_out(
    tmp_path: Path,
) -> None:
    def found(full: int, per_host: int) -> list[tuple[str, bool]]:
        store = LocalStore(tmp_path / f"{full}-{per_host}")
        pages = [Page(f"http://a.example/{number}", text="red tree") for number in range(full)]
        write_index(store, [[*pages, Page("http://b.example/", text="red")]])
        options = SearchOptions(ENOUGH + 5, per_host=per_host)
        hits = find(open_index(store), parse("red tree"), options).hits
        return [(hit.url.split("/")[2], hit.partial) for hit in hits]

    assert found(ENOUGH, 2) == [("a.example", False)] * 2
    assert found(ENOUGH - 1, 2) == [*[("a.example", False)] * 2, ("b.example", True)]
    assert found(ENOUGH, 0)[-1] == ("b.example", True)


def test_the_last_page_of_a_host_says_how_many_more_its_host_has(store: LocalStore) -> None:
    hosts = ["a.example"] * 4 + ["www.a.example", "b.example"]
    pages = [Page(f"http://{host}/{number}", text="tree") for number, host in enumerate(hosts)]
    write_index(store, [pages[::2], pages[1::2]])
    results = find(open_index(store), parse("tree"), SearchOptions(per_host=2))
    assert (len(results.hits), results.total) == (4, 6)
    more = {hit.url.split("/")[2]: hit.more_on_host for hit in results.hits}  # of the last of each host
    assert more == {"a.example": 2, "www.a.example": 0, "b.example": 0}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("tree site:www.a.example", ["no page is on www.a.example; searched on a.example"]),
        ("tree (site:www.a.example OR b)", ["no page is on www.a.example; searched on a.example"]),
        ("tree -site:www.b.example", []),
        ("tree -(b site:www.a.example)", ["no page is on www.a.example; searched on a.example"]),
        ("tree site:www.c.example", []),
    ],
)
def test_a_host_with_www_is_searched_without_it_where_there_is_no_other(
    store: LocalStore, query: str, expected: list[str]
) -> None:
    pages = [Page(f"{HOST}/docs/a", text="tree"), Page("http://www.c.example/docs/b", text="tree")]
    write_index(store, [pages])
    results = find(open_index(store), parse(query))
    assert list(results.notices) == expected
    assert results.hits


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("site:a.example/docs", {"docs/a", "docs/b/c"}),
        ("site:https://WWW.A.example/docs/", {"docs/a", "docs/b/c"}),
        ("site:a.example/docs/b", {"docs/b/c"}),
        ("site:a.example -site:a.example/docs", {"other/docs", "unread"}),
        ("type:pdf", {"docs/a"}),
        ("in:author='ann lee'", set()),
        ('in:author="ann LEE"', {"docs/a"}),
        ("in:price=12.0", {"docs/b/c"}),
        ("in:released=2024-05-01", {"other/docs"}),
        ("lang:fr OR before:2000", {"other/docs", "docs/a"}),
        ("after:2001-09-09 before:2001-09-10", {"docs/b/c"}),
    ],
)
def test_filters_select_pages(store: LocalStore, query: str, expected: set[str]) -> None:
    pages = [
        Page(f"{HOST}/docs/a", kind="pdf", values=(("author", "Ann  Lee"),), last_modified=86_400),
        Page(f"{HOST}/docs/b/c", kind="html", values=(("price", 12),), last_modified=1_000_000_000),
        Page(f"{HOST}/other/docs", values=(("released", 1_714_521_600),), language="fr"),
    ]
    write_index(store, [pages[:1], pages[1:]], [Page(f"{HOST}/unread", anchors=("x",), language="fr")])
    assert set(urls(store, query)) == expected


@pytest.mark.parametrize("query", ["tree foo:bar", "site:www.a.example", "a tree ||"])
def test_pages_are_not_named_for_a_change_by_a_query_read_otherwise_than_typed(
    store: LocalStore, query: str
) -> None:
    write_index(store, [[Page(f"{HOST}/a", text="a tree")]])
    assert matching_urls(open_index(store), parse("a tree"), 10) == [f"{HOST}/a"]
    with pytest.raises(QueryError, match="not clear, and nothing was changed"):
        matching_urls(open_index(store), parse(query), 10)


def test_a_filter_does_not_rank_and_is_no_unknown_word(store: LocalStore) -> None:
    write_index(store, [[Page(f"{HOST}/a/b", text="tree", kind="pdf"), Page(f"{HOST}/c", text="tree")]])
    index = open_index(store)
    alone, filtered = (
        find(index, parse(query)).hits for query in ("body:tree", "body:tree type:pdf site:a.example/a")
    )
    assert filtered[0].score == pytest.approx(alone[0].score, abs=1e-4)
    assert find(index, parse("tree type:epub in:x=y")).unknown == ()


def test_a_rank_lifts_a_page(store: LocalStore) -> None:
    write_index(store, [[Page(f"{HOST}/a", text="tree"), Page(f"{HOST}/b", text="tree", prior=200)]])
    assert urls(store, "tree") == ["b", "a"]


def test_a_rank_decides_between_pages_that_fit_alike_and_lifts_no_page_that_fits_less(
    store: LocalStore,
) -> None:
    linked = Page(f"{HOST}/linked", text="forest " * 9 + "tree " + "forest " * 9, prior=255)
    fitting = Page(f"{HOST}/fitting", text="tree and tree " + "forest " * 9)
    write_index(store, [[linked, fitting, *(Page(f"{HOST}/{number}", text="x") for number in range(9))]])
    assert urls(store, "tree") == ["fitting", "linked"]


def test_full_matches_come_first_and_partial_ones_are_marked(store: LocalStore) -> None:
    pages = [
        Page(f"{HOST}/full", text="red tree and so on"),
        Page(f"{HOST}/part", text="tree tree tree tree"),
        Page(f"{HOST}/none", text="house"),
    ]
    write_index(store, [pages])
    results = find(open_index(store), parse("the red tree"))
    marked = [(hit.url.rpartition("/")[2], hit.partial) for hit in results.hits]
    assert marked == [("full", False), ("part", True)]
    assert (results.total, results.partial) == (1, 1)


def test_strict_and_operators_keep_partial_matches_out(store: LocalStore) -> None:
    write_index(store, [[Page(f"{HOST}/a", text="red tree"), Page(f"{HOST}/b", text="tree")]])
    assert urls(store, "red tree", strict=True) == ["a"]
    assert urls(store, "red AND tree") == ["a"]


def test_partial_matches_follow_only_where_full_ones_are_fewer_than_asked(store: LocalStore) -> None:
    write_index(store, [[Page(f"{HOST}/a", text="red tree"), Page(f"{HOST}/b", text="tree tree tree")]])
    assert urls(store, "red tree", limit=1) == ["a"]
    assert urls(store, "red tree", limit=1, offset=1) == ["b"]


def test_a_search_that_looks_ahead_knows_whether_more_follow(store: LocalStore) -> None:
    write_index(store, [[Page(f"{HOST}/a", text="red tree"), Page(f"{HOST}/b", text="tree tree tree")]])
    for limit, found, has_more in ((1, ["a"], True), (2, ["a", "b"], False), (3, ["a", "b"], False)):
        results = find(open_index(store), parse("red tree"), SearchOptions(limit, ahead=1))
        assert [hit.url.rpartition("/")[2] for hit in results.hits] == found
        assert results.has_more is has_more


WOODS = [
    Page(f"{HOST}/weak", text="oak by a tree and far from them all some house"),
    Page(f"{HOST}/good", title="Tree house", headings=("Tree house",), text="tree house, tree house"),
    Page(f"{HOST}/body", text="tree house"),
    *(Page(f"{HOST}/oak{number}", text="oak") for number in range(5)),
]


def test_a_page_that_is_called_so_and_lacks_one_word_may_stand_before_a_full_match(store: LocalStore) -> None:
    write_index(store, [WOODS])
    results = find(open_index(store), parse("oak tree house"))
    marked = [(hit.url.rpartition("/")[2], hit.partial) for hit in results.hits]
    assert marked[:2] == [("good", True), ("weak", False)]
    assert marked[2] == ("body", True)
    assert (results.total, results.partial) == (1, 7)


@pytest.mark.parametrize(
    ("query", "found"), [("oak AND tree AND house", ["weak"]), ("oak tree house site:a.example", ["weak"])]
)
def test_a_boolean_query_has_no_page_that_lacks_a_word(
    store: LocalStore, query: str, found: list[str]
) -> None:
    write_index(store, [WOODS])
    assert urls(store, query) == found


def test_a_strict_search_and_one_by_date_have_full_matches_first(store: LocalStore) -> None:
    write_index(store, [WOODS])
    assert urls(store, "oak tree house", strict=True) == ["weak"]
    assert urls(store, "oak tree house", sort="date")[0] == "weak"


def test_pages_of_an_answer_have_each_document_once_though_some_lack_a_word(store: LocalStore) -> None:
    write_index(store, [WOODS])
    whole = urls(store, "oak tree house")
    assert [urls(store, "oak tree house", limit=1, offset=number) for number in range(8)] == [
        [url] for url in whole
    ]


def test_the_words_of_two_word_queries_are_all_wanted_first(store: LocalStore) -> None:
    write_index(store, [WOODS])
    assert urls(store, "oak house")[0] == "weak"


def test_a_page_that_lacks_a_word_counts_its_similar_pages(store: LocalStore) -> None:
    pages = [replace(page, group=7) if page.url.endswith(("good", "weak")) else page for page in WOODS]
    write_index(store, [pages])
    results = find(open_index(store), parse("oak tree house"))
    first = results.hits[0]
    assert (first.url.rpartition("/")[2], first.similar) == ("good", 1)
    assert "weak" not in [hit.url.rpartition("/")[2] for hit in results.hits]


def test_the_explanation_of_a_page_that_lacks_a_word_adds_up(store: LocalStore) -> None:
    write_index(store, [WOODS])
    results = find(open_index(store), parse("oak tree house"), SearchOptions(explain=True))
    for hit in results.hits:
        assert hit.explanation is not None
        assert sum(part.score for part in hit.explanation.parts) == pytest.approx(hit.score, abs=1e-4)
    first = results.hits[0].explanation
    assert first is not None
    assert "lacking" in [part.label for part in first.parts]


def test_stop_words_select_with_operators_only(store: LocalStore) -> None:
    write_index(store, [[Page(f"{HOST}/a", text="the tree"), Page(f"{HOST}/b", text="tree")]])
    assert urls(store, "the tree", strict=True) == ["a", "b"]
    assert urls(store, "the AND tree") == ["a"]


def test_a_query_of_stop_words_alone_asks_for_them(store: LocalStore) -> None:
    write_index(store, [[Page(f"{HOST}/a", text="to be or not"), Page(f"{HOST}/b", text="tree")]])
    assert urls(store, "to be") == ["a"]


def test_a_typed_word_of_several_tokens_is_a_phrase(store: LocalStore) -> None:
    write_index(store, [[Page(f"{HOST}/a", text="an e-mail"), Page(f"{HOST}/b", text="mail e")]])
    assert urls(store, "e-mail", strict=True) == ["a"]


def test_a_phrase_stays_within_a_field_and_a_heading(store: LocalStore) -> None:
    pages = [
        Page(f"{HOST}/a", title="red tree"),
        Page(f"{HOST}/b", headings=("red", "tree")),
        Page(f"{HOST}/c", text="red", title="tree"),
        Page(f"{HOST}/d", text="red tree"),
    ]
    write_index(store, [pages])
    assert set(urls(store, '"red tree"')) == {"a", "d"}
    assert urls(store, 'title:"red tree"') == ["a"]


def test_dead_documents_are_hidden(store: LocalStore) -> None:
    write_index(store, [[Page(f"{HOST}/a", text="tree", dead=True), Page(f"{HOST}/b", text="tree")]])
    index = open_index(store)
    assert find(index, parse("tree")).total == 1
    assert index.documents == 1


def test_pages_not_fetched_are_found_by_their_anchors_and_marked(store: LocalStore) -> None:
    write_index(store, [[Page(f"{HOST}/a", text="tree")]], [Page(f"{HOST}/b", anchors=("the tree",))])
    hits = find(open_index(store), parse("anchor:tree OR body:tree")).hits
    assert {hit.url: hit.fetched for hit in hits} == {f"{HOST}/a": True, f"{HOST}/b": False}


def test_near_duplicates_are_folded_into_the_best(store: LocalStore) -> None:
    pages = [
        Page(f"{HOST}/a", text="tree", group=9),
        Page(f"{HOST}/b", text="tree tree", group=9),
        Page(f"{HOST}/c", text="tree"),
        Page(f"{HOST}/d", text="house", group=9),
    ]
    write_index(store, [pages[:2], pages[2:]])
    results = find(open_index(store), parse("tree"))
    assert [(hit.url[-1], hit.similar) for hit in results.hits] == [("b", 1), ("c", 0)]
    assert results.total == 3


def test_folding_goes_on_until_the_page_is_full(store: LocalStore) -> None:
    alike = [Page(f"{HOST}/{number:02}", text="tree tree", group=5) for number in range(30)]
    write_index(store, [[*alike, Page(f"{HOST}/x", text="tree"), Page(f"{HOST}/y", text="tree")]])
    best, *others = urls(store, "tree", limit=3)
    assert best == by_hash([f"{number:02}" for number in range(30)])[0]
    assert others == by_hash("xy")
    assert len(urls(store, "tree", limit=40, unfolded=True)) == 32


def test_sorting_by_date_takes_the_newest_first(store: LocalStore) -> None:
    pages = [
        Page(f"{HOST}/a", text="tree tree", fetched_at=50, last_modified=10),
        Page(f"{HOST}/b", text="tree", fetched_at=30),
        Page(f"{HOST}/c", text="tree", fetched_at=1, last_modified=20),
    ]
    write_index(store, [pages])
    assert urls(store, "tree", sort="date") == ["b", "c", "a"]


def test_words_that_no_page_has_are_told(store: LocalStore) -> None:
    write_index(store, [[Page(f"{HOST}/a", text="tree")]])
    assert find(open_index(store), parse("tree qwertz")).unknown == ("qwertz",)


def parts(explanation: Explanation) -> float:
    return sum(part.score for part in explanation.parts)


@pytest.mark.parametrize(
    "query", ["red tree", '"red tree" OR house', "tree -house", "title:tree the site:example"]
)
def test_an_explanation_adds_up_to_the_score(store: LocalStore, query: str) -> None:
    pages = [
        Page(f"{HOST}/a", title="the tree", text="the red tree", prior=90),
        Page(f"{HOST}/b", text="a tree and a house", prior=3),
        Page(f"{HOST}/c", text="red house"),
    ]
    write_index(store, [pages])
    hits = find(open_index(store), parse(query), SearchOptions(explain=True)).hits
    assert hits
    for hit in hits:
        assert hit.explanation is not None
        assert hit.explanation.score == hit.score == pytest.approx(parts(hit.explanation))


def test_an_explanation_names_fields_and_rank(store: LocalStore) -> None:
    write_index(store, [[Page(f"{HOST}/a", title="tree", text="tree", prior=255), Page(f"{HOST}/b")]])
    (hit,) = find(open_index(store), parse("tree"), SearchOptions(explain=True)).hits
    assert hit.explanation is not None
    tree, rank, near, quality = hit.explanation.parts
    assert quality.label == "quality"
    assert (near.label, near.reason) == ("near: tree", "in title")
    assert tree.label == "tree" and tree.reason.endswith("impact 120/255, in body, title")
    assert rank.score == pytest.approx(RANK_WEIGHT)


def test_a_store_without_an_index_says_what_to_do(store: LocalStore) -> None:
    create_crawl(store, 1)
    with pytest.raises(StoreError, match=r"no index to search yet.*crawlctl run.*crawlctl merge"):
        open_index(store)


def test_of_too_many_words_with_a_prefix_those_on_the_most_pages_are_searched_with_a_notice(
    store: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expansions, "MAX_EXPANSIONS", 2)
    texts = {"a": "tree trunk", "b": "tree trunk", "c": "tram"}
    write_index(store, [[Page(f"{HOST}/{name}", text=text) for name, text in texts.items()]])
    found = find(open_index(store), parse("body:t*"))
    assert {hit.url for hit in found.hits} == {f"{HOST}/a", f"{HOST}/b"}
    assert "more than 2 words begin with t" in found.notices[0]


def test_too_many_numbers_ask_for_a_narrower_range(
    store: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expansions, "MAX_EXPANSIONS", 2)
    write_index(store, [[Page(f"{HOST}/a", text="1 500 900")]])
    index = open_index(store)
    with pytest.raises(QueryError, match=r"lie in 0\.\.1000; narrow the range"):
        find(index, parse("0..1000"))


def test_a_damaged_list_is_a_corrupt_file(store: LocalStore) -> None:
    snapshot = write_index(store, [[Page(f"{HOST}/{number}", text="tree") for number in range(30)]])
    (entry,) = (file for file in snapshot.files if file.name.endswith("/postings"))
    path = store.root / entry.name
    path.write_bytes(b"\xff" * entry.bytes)
    with pytest.raises(CorruptFile, match="postings: damaged at byte"):
        find(open_index(store), parse("tree"))
    path.write_bytes(b"")
    with pytest.raises(CorruptFile, match="bytes should be there"):
        find(open_index(store), parse("tree"))
