from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crawlctl.pipeline.config.settings import Config, RunnerSettings
from crawlctl.pipeline.crawl.changes.own_rules import change_now
from crawlctl.pipeline.crawl.work import Work
from crawlctl.pipeline.errors import ConfigError
from crawlctl.pipeline.search.answer.answer import answer
from crawlctl.pipeline.search.answer.find import SearchOptions, find, matching_urls, top_documents
from crawlctl.pipeline.search.evaluate.plain_evaluator import PlainEvaluator
from crawlctl.pipeline.search.evaluate.vector_evaluator import VectorEvaluator
from crawlctl.pipeline.search.open.gathering import with_compound
from crawlctl.pipeline.search.open.open_index import open_index
from crawlctl.pipeline.search.plan.planner import plan_query
from crawlctl.pipeline.search.query.grammar import parse
from crawlctl.pipeline.search.rules.rule_set import RuleSet
from crawlctl.pipeline.search.rules.rule_targets import check_rules
from crawlctl.pipeline.search.rules.rules_file import with_rules
from crawlctl.pipeline.search.rules.search_rules import BOOST_BITS
from crawlctl.pipeline.state.kinds import RULES, SETTINGS
from crawlctl.pipeline.state.own_settings import write_own_settings
from crawlctl.pipeline.state.snapshots import commit, load_current
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.text.details.site_keys import site_key
from crawlctl.pipeline.urls.hosts import host_of
from crawlctl.tests.effort import examples
from crawlctl.tests.pipeline.crawl.said_lines import SaidLines
from crawlctl.tests.pipeline.search.brute_force import Page
from crawlctl.tests.pipeline.search.memory_store import MemoryStore
from crawlctl.tests.pipeline.search.small_index import write_index

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from crawlctl.pipeline.search.answer.results import Results
    from crawlctl.pipeline.store.base import Store, StoredFile


def set_rules(store: Store, **rules: Any) -> None:
    before = load_current(store)
    entry = write_own_settings(store, {f"search.{key}": value for key, value in rules.items()}, 1)
    files = (*(file for file in before.files if file.kind != SETTINGS), entry)
    files = with_rules(store, before, files)
    commit(store, before, files=files, round_number=before.round, now=time.time(), made_by="test")


def crawl(pages: dict[str, str], **rules: Any) -> MemoryStore:
    store = MemoryStore()
    write_index(store, [[Page(url, text=text) for url, text in pages.items()]])
    set_rules(store, **rules)
    return store


class CountingStore(MemoryStore):
    """A store that notes every read and listing."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def _read(self, name: str, start: int, length: int | None) -> bytes:
        self.asked.append(name)
        return super()._read(name, start, length)

    def _list(self, prefix: str) -> Iterator[StoredFile]:
        self.asked.append(prefix)
        return iter(list(super()._list(prefix)))


def found(store: Store, query: str, **options: Any) -> Results:
    return find(open_index(store, cached=False), parse(query), SearchOptions(**options))


def urls(store: Store, query: str, **options: Any) -> list[str]:
    return [hit.url for hit in found(store, query, **options).hits]


A, B, C = "http://a.example/a", "http://b.example/b", "http://c.example/x/c"


def test_a_synonym_is_found_after_the_word_itself() -> None:
    store = crawl(
        {A: "postgresql index", B: "postgres index", C: "house"}, synonyms=["postgres = postgresql"]
    )
    assert urls(store, "postgres index", strict=True) == [B, A]
    assert urls(store, "postgresql index", strict=True) == [A, B]
    assert urls(store, "postgres AND index") == [B, A]
    assert urls(store, "house OR postgres")[-1] == A
    (notice,) = found(store, "postgres").notices
    assert "also searched for postgresql" in notice


def test_quotes_ask_for_the_word_alone_and_a_denied_word_has_no_synonyms() -> None:
    store = crawl({A: "postgresql index", B: "postgres index"}, synonyms=["postgres = postgresql"])
    assert urls(store, '"postgres"') == [B]
    assert urls(store, "index -postgres") == [A]


def test_a_synonym_with_an_arrow_stands_for_the_first_word_only() -> None:
    store = crawl({A: "js tree", B: "javascript tree"}, synonyms=["js => javascript"])
    assert urls(store, "js", strict=True) == [A, B]
    assert urls(store, "javascript", strict=True) == [B]


def test_phrases_stand_for_words_and_words_for_phrases() -> None:
    pages = {A: "ml tree", B: "machine learning tree", C: "learning tree of a machine"}
    store = crawl(pages, synonyms=["machine learning = ml"])
    assert set(urls(store, "ml tree", strict=True)) == {A, B}
    assert set(urls(store, "machine learning tree", strict=True)) == {A, B, C}
    assert urls(store, "machine learning tree", strict=True)[-1] == A


def test_an_unknown_word_with_a_known_synonym_is_no_slip() -> None:
    store = crawl({A: "postgresql index"}, synonyms=["postgres = postgresql"])
    assert found(store, "postgres index").unknown == ()
    assert found(store, "postgres index").total == 1


def test_synonyms_are_explained_and_marked() -> None:
    store = crawl({A: "the postgresql index"}, synonyms=["postgres = postgresql"])
    shown = answer(open_index(store, cached=False), parse("postgres"), SearchOptions(explain=True))
    (page,) = shown.pages
    assert page.explanation is not None
    assert page.explanation.parts[0].label == "postgres = postgresql"
    assert [part.label for part in page.explanation.parts[0].parts] == ["postgresql"]
    assert [page.snippet.text[slice(*one)] for one in page.snippet.spans] == ["postgresql"]


def test_pins_come_first_also_where_they_do_not_match() -> None:
    store = crawl({A: "tree tree", B: "tree", C: "house"}, pins={"Red TREE": [C, B, "http://a.example/none"]})
    assert urls(store, "tree red") == [C, B, A]
    assert [urls(store, "tree red", limit=1, offset=at) for at in range(3)] == [[C], [B], [A]]
    assert urls(store, "tree") == [A, B]
    assert found(store, "tree red", strict=True).total == 2


def test_pins_are_not_folded_or_limited() -> None:
    pages = {f"http://a.example/{one}": "tree" for one in "abcd"}
    store = crawl(pages, pins={"tree": sorted(pages)[:3]})
    hits = found(store, "tree", per_host=1).hits
    assert [hit.url for hit in hits] == sorted(pages)[:3]
    assert [hit.more_on_host for hit in hits] == [0, 0, 1]


def test_blocked_pages_are_in_no_list_and_no_count() -> None:
    pages = {A: "tree", B: "tree", C: "tree", "http://c.example/y": "tree"}
    store = crawl(pages, blocks={"*": ["b.example"], "tree": ["c.example/x/"]})
    assert set(urls(store, "tree")) == {A, "http://c.example/y"}
    result = found(store, "tree", facets=True)
    assert result.total == 2
    (sites,) = (facet for facet in result.facets if facet.name == "site")
    assert {one.value for one in sites.counts} == {"a.example", "c.example"}
    assert set(urls(store, "tree OR house")) == {A, C, "http://c.example/y"}
    assert set(matching_urls(open_index(store, cached=False), parse("tree"), 10)) == set(pages)


def test_a_boost_is_a_part_of_the_score_that_is_explained() -> None:
    store = crawl({A: "tree", B: "tree"}, boosts={"b.example": 2.0, "a.example": 0.5})
    first, second = found(store, "tree", explain=True).hits
    assert (first.url, second.url) == (B, A)
    for hit, rule in ((first, "× 2 for b.example"), (second, "× 0.5 for a.example")):
        assert hit.explanation is not None
        assert [part.reason for part in hit.explanation.parts if part.label == "boost"] == [rule]
        assert sum(part.score for part in hit.explanation.parts) == pytest.approx(hit.score)


def test_rules_are_taken_over_and_go_with_the_setting() -> None:
    store = crawl({A: "tree", B: "tree"}, blocks={"*": ["a.example"]})
    before = load_current(store)
    assert with_rules(store, before, before.files) == before.files
    set_rules(store)
    assert not load_current(store).files_of(RULES)
    assert len(urls(store, "tree")) == 2


@pytest.mark.parametrize(
    ("rules", "remedy"),
    [
        (RuleSet(synonyms=("postgres",)), "postgres = postgresql"),
        (RuleSet(synonyms=("js => ",)), "js => javascript"),
        (RuleSet(synonyms=(f"{'a ' * 9} = b",)), "shorten"),
        (RuleSet(pins={"tree": ("a.example",)}), "https://example.org/page"),
        (RuleSet(pins={"!": (A,)}), "write its words"),
        (RuleSet(blocks={"": (A,)}), "for all queries"),
        (RuleSet(blocks={"*": ("ftp://a",)}), "search.blocks: .*example.org"),
        (RuleSet(boosts={"a.example": 0.0}), "search.blocks"),
    ],
)
def test_a_rule_that_cannot_be_used_is_refused_with_its_remedy(rules: RuleSet, remedy: str) -> None:
    with pytest.raises(ConfigError, match=remedy):
        check_rules(rules)


HOSTS = ("a.example", "b.a.example", "b.a.example:8080")
PATHS = ("", "x", "x/", "x/y", "xy", "z")
TARGETS = (
    "a.example",
    "*.a.example",
    "b.a.example:8080",
    "a.example/x",
    "http://b.a.example/x/",
    "*.a.example/z",
)
all_pages = st.dictionaries(
    st.builds(
        "{}://{}/{}".format,
        st.sampled_from(("http", "https")),
        st.sampled_from(HOSTS),
        st.sampled_from(PATHS),
    ),
    st.lists(st.sampled_from(("tree", "oak", "red", "house")), min_size=1, max_size=6).map(" ".join),
    min_size=1,
    max_size=20,
)


def is_meant(target: str, url: str) -> bool:
    host = host_of(url)
    return site_key(target).matches(url, host, host.partition(":")[0])


@settings(max_examples=examples(40), deadline=None)
@example({"http://a.example/": "tree"}, set(), {"a.example": 0.01}, "tree", 1)
@given(
    all_pages,
    st.sets(st.sampled_from(TARGETS), max_size=3),
    st.dictionaries(st.sampled_from(TARGETS), st.sampled_from((0.01, 0.5, 1.0, 3.0, 100.0)), max_size=4),
    st.sampled_from(("tree", "red tree", "tree OR house", "red house")),
    st.sampled_from((1, 3, 50)),
)
def test_both_evaluators_agree_with_a_naive_one(
    pages: dict[str, str], blocks: set[str], boosts: dict[str, float], query: str, limit: int
) -> None:
    store = MemoryStore()
    half = len(pages) // 2
    some = [Page(url, text=text) for url, text in pages.items()]
    write_index(store, [some[:half], some[half:]] if half else [some])
    synonyms = ["tree = oak"]
    set_rules(store, synonyms=synonyms)
    plain = {hit.url: hit for hit in found(store, query, limit=100, explain=True).hits}
    set_rules(store, synonyms=synonyms, blocks={"*": sorted(blocks)}, boosts=boosts)

    def expected_score(url: str) -> float:
        rules = [target for target in boosts if is_meant(target, url)]
        best = max(rules, key=lambda target: site_key(target).exactness, default=None)
        stored = round(boosts[best] * (1 << BOOST_BITS)) / (1 << BOOST_BITS) if best else 1
        return plain[url].score * stored

    kept = [url for url in plain if not any(is_meant(target, url) for target in blocks)]
    index = open_index(store, cached=False)
    plan = plan_query(parse(query), index)
    tops = [
        top_documents(index, plan, evaluator, SearchOptions(limit=limit, unfolded=True))
        for evaluator in (PlainEvaluator(index.reader, plan), VectorEvaluator(index.vector_lists, plan))
    ]
    assert tops[0].documents == tops[1].documents
    assert tops[0].total == tops[1].total == sum(not plain[url].partial for url in kept)
    shown = [index.records([one.ranked.document])[0].url for one, _ in tops[0].documents]
    assert len(shown) == min(limit, len(kept)) or not plan.loose
    ideal = sorted(kept, key=lambda url: (plain[url].partial, -expected_score(url)))[: len(shown)]
    for got, wanted, (one, _) in zip(shown, ideal, tops[0].documents, strict=True):
        assert plain[got].partial == plain[wanted].partial
        assert plan.as_float(one.ranked.score) == pytest.approx(expected_score(wanted), rel=0.02, abs=1e-4)
        assert expected_score(got) == pytest.approx(expected_score(wanted), rel=0.02, abs=1e-4)


def test_a_cold_query_makes_no_request_for_the_rules() -> None:
    asked = []
    for rules in ({}, {"blocks": {"*": ["a.example"]}, "synonyms": ["oak = tree"]}):
        counting = CountingStore()  # anew: of two compound files of a round, either may be tried first
        write_index(counting, [[Page(A, text="tree"), Page(B, text="tree")]])
        without_rules = load_current(counting)
        set_rules(counting, **rules)
        before = load_current(counting)
        files = with_compound(counting, without_rules, before.files)
        commit(counting, before, files=files, round_number=before.round, now=time.time(), made_by="test")
        counting.asked.clear()
        assert len(urls(counting, "tree")) == (1 if rules else 2)
        assert not any(name.startswith("rules/") for name in counting.asked)
        asked.append(len(counting.asked))
    assert asked[0] == asked[1]


def test_setting_rules_is_one_snapshot_that_queries_follow(tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "crawl")
    write_index(store, [[Page(A, text="tree"), Page(B, text="tree")]])
    work = Work(store, Config(runner=RunnerSettings(name="inline")), SaidLines())
    before = load_current(store).number
    with pytest.raises(ConfigError, match=r"write example\.org"):
        change_now(work, {"search.blocks": {"*": ["ftp://a"]}})
    assert load_current(store).number == before
    changed = change_now(work, {"search.blocks": {"*": ["a.example"]}})
    assert changed.snapshot == before + 1
    assert urls(store, "tree") == [B]
