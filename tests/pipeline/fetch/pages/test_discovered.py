from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from crawlctl.pipeline.fetch.pages.discovered import DiscoveredUrls, Origin
from crawlctl.pipeline.urls.hosts import host_of, webdb_key
from crawlctl.pipeline.webdb.anchors import MAX_ANCHOR_CHARS, MAX_GATHERED, OUTSIDE
from crawlctl.pipeline.webdb.entries import merge_fresh
from crawlctl.pipeline.webdb.records import Fresh, decode_fresh

if TYPE_CHECKING:
    from collections.abc import Iterable

TARGET = "http://a/x"

origins = st.builds(
    Origin,
    source=st.sampled_from(["http://a/", "http://a/2", "http://b/"]),
    seen=st.integers(1, 3),
    depth=st.integers(0, 3),
    score=st.sampled_from([0.0, 0.5]),
    hops=st.integers(0, 5),
)
targets = st.sampled_from([TARGET, "http://a/y", "http://b/z"])
pages = st.lists(
    st.tuples(origins, st.dictionaries(targets, st.sampled_from(["", "one", "two"]))), max_size=8
)


def found(pages: Iterable[tuple[Origin, dict[str, str]]]) -> DiscoveredUrls:
    finds = DiscoveredUrls()
    for origin, links in pages:
        rows = [(webdb_key(url), anchor) for url, anchor in links.items()]
        finds.add(origin, host_of(origin.source).encode(), rows)
    return finds


def one_find(origin: Origin, url: str, anchor: str) -> Fresh:
    ((_, fresh),) = found([(origin, {url: anchor})]).fresh()
    return fresh


@given(pages)
def test_pages_tell_together_what_each_tells(pages: list[tuple[Origin, dict[str, str]]]) -> None:
    wanted: dict[bytes, Fresh] = {}
    for origin, links in pages:
        for url, anchor in links.items():
            key, fresh = webdb_key(url), one_find(origin, url, anchor)
            wanted[key] = merge_fresh(wanted[key], fresh) if key in wanted else fresh
    finds = found(pages)
    assert dict(finds.fresh()) == wanted
    assert {key: decode_fresh(value) for key, value in finds.packed().items()} == wanted
    assert dict(found(reversed(pages)).fresh()) == wanted


def test_a_page_of_another_host_counts_before_all_of_the_own() -> None:
    menu = [(Origin(f"http://a/{number}", 9, 1, 0.5), {TARGET: "menu"}) for number in range(5)]
    ((_, fresh),) = found([*menu, (Origin("http://b/", 9, 1, 0.5), {TARGET: "said"})]).fresh()
    assert (fresh.anchors, fresh.anchor_weights) == (("said", "menu"), (OUTSIDE + 1, 1 + 5))


def test_long_anchors_are_cut() -> None:
    assert one_find(Origin("http://a/", 9, 1, 0.5), TARGET, "x" * 1000).anchors == ("x" * MAX_ANCHOR_CHARS,)


def test_an_anchor_that_becomes_frequent_late_is_found_among_many() -> None:
    rare = [f"text {number}" for number in range(20 * MAX_GATHERED)]
    late = [text for number, text in enumerate(rare) for text in ([text, "z"] if number > 900 else [text])]
    origins = (Origin(f"http://a/{number}", 9, 1, 0.5) for number in range(len(late)))
    ((_, fresh),) = found(
        (origin, {TARGET: text}) for origin, text in zip(origins, late, strict=True)
    ).fresh()
    assert fresh.anchors[0] == "z"
    assert len(fresh.anchors) <= MAX_GATHERED


@pytest.mark.parametrize("anchors", [0, 1, 5, 3 * MAX_GATHERED])
def test_memory_is_counted_and_given_back(anchors: int) -> None:
    finds = DiscoveredUrls()
    keys = [webdb_key(f"http://a/{'folder/' * 8}{number}") for number in range(100)]
    tracemalloc.start()
    for page in range(anchors or 1):
        links = [(bytes(bytearray(key)), f"a text {key[-2:]!r} {page}" if anchors else "") for key in keys]
        finds.add(Origin("http://b/", 9, 1, 0.5), b"b", links)
        del links
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held <= finds.memory <= 2 * held
    finds.clear()
    assert (finds.memory, len(finds)) == (0, 0)


def test_the_latest_change_and_the_earliest_publication_of_a_page_that_was_found_are_kept() -> None:
    finds = found([(Origin("http://a/", 9, 1, 0.5), {TARGET: ""})])
    for lastmod in (7, 9, 8):
        finds.date(webdb_key(TARGET), lastmod, lastmod - 2)
    finds.date(webdb_key("http://a/out-of-scope"), 9)
    ((_, fresh),) = finds.fresh()
    assert (fresh.lastmod, fresh.published) == (9, 5)


def test_an_anchor_in_menus_weighs_less_than_one_in_the_content() -> None:
    finds, key = DiscoveredUrls(), webdb_key(TARGET)
    for number in range(5):
        finds.add(Origin(f"http://a/{number}", 9, 1, 0.5), b"a", [(key, "menu")], {key})
    finds.add(Origin("http://a/", 9, 1, 0.5), b"a", [(key, "said")])
    ((_, fresh),) = finds.fresh()
    assert (fresh.anchors, fresh.anchor_weights) == (("said", "menu"), (2,))


@given(pages, st.sets(st.integers(0, 7)), st.sets(targets))
def test_the_facts_about_a_watched_url_outlive_saves(
    pages: list[tuple[Origin, dict[str, str]]], saves: set[int], watched: set[str]
) -> None:
    finds, at_once = DiscoveredUrls(), found(pages)
    for url in watched:
        finds.watch(webdb_key(url))
    for number, page in enumerate(pages):
        for key, fresh in found([page]).fresh():
            finds.add(page[0], b"a", [(key, text) for text in fresh.anchors or ("",)])
        if number in saves:
            finds.clear()
    wanted = {key: fresh for key, fresh in at_once.fresh() if key.split()[1].decode() in watched}
    for key, fresh in wanted.items():
        assert finds.facts(key) == replace(fresh, anchors=(), anchor_weights=())
    assert all(finds.facts(webdb_key(url)) is None for url in watched if webdb_key(url) not in wanted)
