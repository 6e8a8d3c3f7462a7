from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from crawlctl.pipeline.search.answer import facets
from crawlctl.pipeline.search.answer.find import SearchOptions, find
from crawlctl.pipeline.search.open.open_index import open_index
from crawlctl.pipeline.search.query.grammar import parse
from crawlctl.pipeline.urls.hosts import host_of
from crawlctl.tests.effort import examples
from crawlctl.tests.pipeline.search.brute_force import BruteForce, Page
from crawlctl.tests.pipeline.search.memory_store import MemoryStore
from crawlctl.tests.pipeline.search.small_index import write_index
from crawlctl.tests.pipeline.search.strategies import pages

if TYPE_CHECKING:
    import pytest

    from crawlctl.pipeline.index.segment.term_info import TermInfo
    from crawlctl.pipeline.search.answer.results import Facet

YEARS = {0: "", 1: "1970", 1_704_067_199: "2023", 1_704_067_200: "2024"}


def facets_of(query: str, segments: list[list[Page]], frontier: list[Page] | None = None) -> list[Facet]:
    store = MemoryStore()
    index = open_index(store, write_index(store, segments, frontier or ()))
    found = find(index, parse(query), SearchOptions(0, strict=True, facets=True)).facets
    index.close()
    return list(found)


def counts(facet: Facet) -> dict[str, int]:
    assert [one.count for one in facet.counts if one.value] == sorted(
        (one.count for one in facet.counts if one.value), reverse=True
    )
    return {one.value: one.count for one in facet.counts}


@settings(max_examples=examples(10), deadline=None)
@given(
    st.lists(pages, min_size=1, max_size=12, unique_by=lambda page: page.url), st.sampled_from(["*", "run"])
)
def test_facets_count_what_brute_force_counts(made: list[Page], query: str) -> None:
    reference = BruteForce(made)
    urls = reference.find(parse(query).tree)
    matching = [page for page in reference.pages if page.url in urls]
    found = {
        facet.name: counts(facet)
        for facet in facets_of(query, [made[::2], made[1::2]] if made[1:] else [made])
    }
    expected = {
        "site": Counter(host_of(page.url) for page in matching),
        "language": Counter(page.language for page in matching),
        "type": Counter(page.kind for page in matching),
        "year": Counter(YEARS[page.last_modified] for page in matching),
    }
    for name in ("author", "price"):
        values = Counter(
            str(value).lower() for page in matching for key, value in set(page.values) if key == name
        )
        if values:
            expected[f"in:{name}"] = values
    assert found == (expected if matching else {})


def test_pages_not_fetched_have_a_site_only() -> None:
    unread = Page("http://b.example/x", anchors=("run",), language="de", last_modified=5)
    found = facets_of("run", [[Page("http://a.example/a", text="run", kind="pdf")]], [unread])
    assert [counts(facet) for facet in found] == [
        {"a.example": 1, "b.example": 1},
        {"en": 1, "": 1},
        {"pdf": 1, "": 1},
        {"": 2},
    ]


def test_only_the_most_frequent_values_are_shown_and_few_lists_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    values = [("a", 4), ("b", 3), ("c", 2), ("d", 1), ("e", 1), ("f", 1)]
    names = [name for name, count in values for _ in range(count)]
    made = [
        Page(f"http://h{number}.example/", text="run", values=(("author", name),))
        for number, name in enumerate(names)
    ]
    monkeypatch.setattr(facets, "SHOWN", 2)
    read: list[bytes] = []
    original = facets._Facets._matches_of

    def remembered(self: facets._Facets, term: bytes, infos: list[TermInfo]) -> int:
        read.append(term)
        return original(self, term, infos)

    monkeypatch.setattr(facets._Facets, "_matches_of", remembered)
    found = {facet.name: facet for facet in facets_of("run", [made])}
    assert counts(found["in:author"]) == {"a": 4, "b": 3}
    assert not found["in:author"].complete
    assert len(read) == 2, "no list that is left can have more matches"
    assert not found["site"].complete
    monkeypatch.setattr(facets, "MAX_KEYWORDS", 3)
    assert not {facet.name: facet for facet in facets_of("run", [made])}["in:author"].complete


def test_of_a_field_only_so_many_values_are_looked_at() -> None:
    made = [
        Page(f"http://a.example/{name}", text="run", values=(("author", name),)) for name in ("x", "x1", "y")
    ]
    made.append(Page("http://a.example/z", text="run", values=(("author", "y"),)))
    store = MemoryStore()
    index = open_index(store, write_index(store, [made]))
    *_, field = find(index, parse("run"), SearchOptions(0, strict=True, facets=True, facet_lists=1)).facets
    index.close()
    assert (field.name, counts(field), field.complete) == ("in:author", {"y": 2}, False)
