"""A word that begins the name of a large site stands for that name in URLs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import accumulate
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.index.segment.columns import Hosts
from crawlctl.pipeline.search.answer.find import SearchOptions, find, matching_urls
from crawlctl.pipeline.search.evaluate.plain_evaluator import PlainEvaluator
from crawlctl.pipeline.search.evaluate.site_names import SiteNames
from crawlctl.pipeline.search.evaluate.vector_evaluator import VectorEvaluator
from crawlctl.pipeline.search.open.open_index import open_index
from crawlctl.pipeline.search.plan.planner import plan_query
from crawlctl.pipeline.search.query.grammar import parse
from crawlctl.pipeline.store.parallel_reads import ParallelReads
from crawlctl.tests.pipeline.search.brute_force import Page
from crawlctl.tests.pipeline.search.memory_store import MemoryStore
from crawlctl.tests.pipeline.search.small_index import write_index

if TYPE_CHECKING:
    from crawlctl.pipeline.search.open.searcher import Searcher

GOOD = "http://www.postgresql.org/create-index"  # its text says neither postgres nor postgresql
OTHER = "http://django.example/indexes"
PAGES = (
    Page(GOOD, title="Create Index", text="create index makes an index", headings=("Create Index",)),
    Page("http://www.postgresql.org/drop", title="Drop Table", text="drop table"),
    Page(OTHER, title="Classes", text="here postgres creates an index for a class"),
    Page("http://en.scikit-learn.example/a", text="create trees"),
)


def index_of(*pages: Page) -> Searcher:
    store = MemoryStore()
    return open_index(store, write_index(store, [list(pages[::2]), list(pages[1::2])]), cached=False)


@pytest.fixture(name="index")
def made_index() -> Searcher:
    return index_of(*PAGES)


@pytest.mark.parametrize(
    ("word", "names"),
    [
        ("postgres", ("postgresql",)),
        ("postgresql", ()),  # the whole name is a word of the URL
        ("postgre", ("postgresql",)),
        ("postgr", ()),  # less than 2/3 of the name
        ("sciki", ("scikit",)),
        ("lear", ("learn",)),
        ("www", ()),
        ("exampl", ()),  # what stands behind the last dot is no name
        ("djang", ("django",)),
        ("", ()),
    ],
)
def test_a_name_is_longer_than_the_word_but_not_much(
    index: Searcher, word: str, names: tuple[str, ...]
) -> None:
    assert index.sites_named(word) == names


def test_names_of_small_sites_do_not_count() -> None:
    many = [Page(f"http://large.example/{number}", text="tree") for number in range(400)]
    index = index_of(*many, Page("http://postgresql.example/a", text="tree"))
    assert index.sites_named("postgres") == ()
    assert index.sites_named("larg") == ("large",)


@dataclass
class ManyHosts:
    """As much of an IndexReader as site names ask for: segments with hosts, several in a partition."""

    tables: list[tuple[int, dict[bytes, int]]]  # by segment: its partition, and the pages of each host
    parallel: ParallelReads = field(default_factory=lambda: ParallelReads(remote=False))

    @property
    def segments(self) -> list[SimpleNamespace]:
        return [SimpleNamespace(partition=at, documents=sum(some.values())) for at, some in self.tables]

    def fetched_ranges(self) -> dict[int, object]:
        return dict.fromkeys(range(len(self.tables)))

    def hosts(self, segment: int) -> Hosts:
        table = sorted(self.tables[segment][1].items())
        ends = list(accumulate((count for _, count in table), initial=0))
        return Hosts([name for name, _ in table], ends[:-1])


@given(st.lists(st.dictionaries(st.integers(0, 30), st.integers(1, 400), min_size=1), min_size=1, max_size=5))
def test_large_sites_are_those_with_a_200th_of_all_pages_however_they_lie(
    segments: list[dict[int, int]],
) -> None:
    tables = []
    for number, pages in enumerate(segments):
        own = {b"name%02d.org" % host: count for host, count in pages.items() if host % 2 == number % 2}
        tables.append((number % 2, own))
    whole = Counter[bytes]()
    for _, own in tables:
        whole.update(own)
    names = SiteNames(cast("Any", ManyHosts(tables)))
    for host in range(31):
        name = f"name{host:02}"
        is_large = whole[f"{name}.org".encode()] * 200 >= whole.total() > 0 < whole[f"{name}.org".encode()]
        assert (name in names.begun_by(name[:-1])) == is_large


def test_pages_not_fetched_yet_make_no_site_large() -> None:
    store = MemoryStore()
    known = [Page(f"http://postgresql.example/{number}", text="tree") for number in range(9)]
    write_index(store, [[Page("http://large.example/a", text="tree")]], frontier=known)
    assert open_index(store).sites_named("postgres") == ()


def test_the_page_of_a_site_called_by_a_short_name_comes_first(index: Searcher) -> None:
    found = find(index, parse("postgres create index"), SearchOptions(explain=True, strict=True))
    assert [hit.url for hit in found.hits] == [GOOD, OTHER]
    assert found.notices == (
        'also searched for postgresql in URLs; for postgres alone, write "postgres" in quotes',
    )
    assert found.synonyms == (), "nothing but URLs has them"
    explanation = found.hits[0].explanation
    assert explanation is not None
    assert "postgres = url:postgresql" in [part.label for part in explanation.parts]


def test_a_word_that_more_pages_have_than_the_name_is_no_short_form_of_it() -> None:
    index = index_of(
        Page("http://httpd.example/a", text="tree"),
        *(Page(f"http://b.example/{number}", text="http tree") for number in range(2)),
    )
    assert index.sites_named("http") == ("httpd",)
    found = find(index, parse("http tree"), SearchOptions(strict=True))
    assert (found.total, found.notices) == (2, ())


@pytest.mark.parametrize(
    "query", ['"postgres" create index', "postgres AND create", "postgres", "-postgres drop"]
)
def test_operators_quotes_and_single_words_ask_for_the_word_itself(index: Searcher, query: str) -> None:
    found = find(index, parse(query), SearchOptions(strict=True))
    assert not found.notices
    assert GOOD not in [hit.url for hit in found.hits]


def test_pages_are_chosen_for_a_change_by_their_words_alone(index: Searcher) -> None:
    assert matching_urls(index, parse("postgres index"), 9) == [OTHER]


@pytest.mark.parametrize("query", ["postgres create index", "scikit postgres", "learn djang index"])
def test_both_evaluators_agree(index: Searcher, query: str) -> None:
    plan = plan_query(parse(query), index)
    assert plan.loose is not None and plan.proximity is not None
    for step in (plan.step, plan.loose):
        plain = PlainEvaluator(index.reader, plan).matches(step)
        vector = VectorEvaluator(index.vector_lists, plan).matches(step)
        assert plain.rescored(plan.proximity, 9) == vector.rescored(plan.proximity, 9)
        assert plain.total == vector.total
