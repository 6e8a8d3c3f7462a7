"""What counts as a link: the graph job on a small crawl in which each rule shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from msgspec.structs import replace

from crawlctl.pipeline.rank.graph.stored_graph import Graph, read_block
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.webdb.part import scan
from crawlctl.pipeline.webdb.records import Status
from crawlctl.tests.jobs.ranking import make_graph
from crawlctl.tests.pipeline.rank.stored import FETCHED, add_runs, store_webdb

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.pipeline.config.settings import RunnerName
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot

PARTITIONS = 3
A, B, C = (f"https://{name}.example/" for name in "abc")
MOVED, TWIN, GONE = f"{A}moved", f"{B}twin", f"{C}gone"
FAR, LOOP, OTHER_LOOP, LOST = f"{C}far", f"{A}loop", f"{B}loop", f"{A}lost"
FRONTIER, UNKNOWN = f"{C}frontier", "https://elsewhere.example/"
UNFETCHED = replace(FETCHED, status=Status.UNFETCHED)
WEBDB = {
    A: replace(FETCHED, depth=0),
    B: FETCHED,
    C: FETCHED,
    FRONTIER: UNFETCHED,
    MOVED: replace(FETCHED, status=Status.REDIRECTED, redirect_to=FAR),
    FAR: replace(FETCHED, status=Status.REDIRECTED, redirect_to=TWIN, depth=0),
    TWIN: replace(FETCHED, status=Status.DUPLICATE, canonical=B),
    LOOP: replace(FETCHED, status=Status.REDIRECTED, redirect_to=OTHER_LOOP),
    OTHER_LOOP: replace(FETCHED, status=Status.REDIRECTED, redirect_to=LOOP),
    LOST: replace(FETCHED, status=Status.REDIRECTED, redirect_to=UNKNOWN),
    GONE: replace(FETCHED, status=Status.GONE),
}


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LocalStore:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return LocalStore(tmp_path / "crawl")


def arcs(store: LocalStore, snapshot: Snapshot, files: tuple[FileEntry, ...]) -> set[tuple[str, str]]:
    graph = Graph(store, files)
    urls = [[url for url, _ in scan(store, snapshot, number)] for number in range(PARTITIONS)]
    found = set()
    for source in range(PARTITIONS):
        for target in range(PARTITIONS):
            block = read_block(graph.blocks(source), target)
            rows = np.repeat(block.rows, np.diff(block.starts, append=len(block.sources)))
            pairs = zip(block.sources.tolist(), rows.tolist(), strict=True)
            found |= {(urls[source][one], urls[target][other]) for one, other in pairs}
    return found


def linked(
    store: LocalStore, folder: Path, *links: dict[str, list[tuple[str, bool]]], runner: RunnerName = "inline"
) -> set[tuple[str, str]]:
    snapshot = add_runs(store, store_webdb(store, WEBDB, PARTITIONS), *links)
    files = make_graph(store, snapshot, folder, runner)
    graph = Graph(store, files)
    found = arcs(store, snapshot, files)
    assert graph.count("arcs") == len(found)
    assert (graph.count("nodes"), graph.count("members"), graph.count("seeds")) == (len(WEBDB), 4, 1)
    return found


def follow(*urls: str) -> list[tuple[str, bool]]:
    return [(url, False) for url in urls]


@pytest.mark.slow
@pytest.mark.parametrize("runner", ["inline", "forked", "local"])
def test_links_lead_to_pages_wherever_they_lie(store: LocalStore, tmp_path: Path, runner: RunnerName) -> None:
    links = {A: follow(B, C, FRONTIER), B: follow(A), C: follow(A, B)}
    expected = {(A, B), (A, C), (A, FRONTIER), (B, A), (C, A), (C, B)}
    assert linked(store, tmp_path, links, runner=runner) == expected


def test_a_link_counts_once_and_one_to_itself_not_at_all(store: LocalStore, tmp_path: Path) -> None:
    assert linked(store, tmp_path, {A: follow(B, B, A, B)}) == {(A, B)}


def test_nofollow_counts_only_where_nothing_else_is_said(store: LocalStore, tmp_path: Path) -> None:
    links = {A: [(B, True), (C, True), (C, False)]}
    assert linked(store, tmp_path, links) == {(A, C)}


def test_aliases_lead_to_the_page_they_stand_for(store: LocalStore, tmp_path: Path) -> None:
    """From one partition to the next and on, and the names of one page count as one link."""
    assert linked(store, tmp_path, {A: follow(MOVED, TWIN, B), C: follow(MOVED)}) == {(A, B), (C, B)}


def test_a_link_by_an_alias_to_oneself_counts_for_nothing(store: LocalStore, tmp_path: Path) -> None:
    assert linked(store, tmp_path, {B: follow(MOVED, C)}) == {(B, C)}


def test_what_leads_nowhere_is_left_out(store: LocalStore, tmp_path: Path) -> None:
    links = {A: follow(GONE, LOOP, OTHER_LOOP, LOST, UNKNOWN, C)}
    assert linked(store, tmp_path, links) == {(A, C)}


def test_only_live_documents_have_links(store: LocalStore, tmp_path: Path) -> None:
    links = {FRONTIER: follow(A), GONE: follow(A), TWIN: follow(A), UNKNOWN: follow(A), C: follow(A)}
    assert linked(store, tmp_path, links) == {(C, A)}


def test_of_two_versions_the_later_counts_even_if_it_has_no_links(store: LocalStore, tmp_path: Path) -> None:
    before = {A: follow(B, C), B: follow(C), C: follow(A)}
    after: dict[str, list[tuple[str, bool]]] = {A: follow(C), B: []}
    assert linked(store, tmp_path, before, after) == {(A, C), (C, A)}


def test_a_crawl_without_links_has_a_graph_too(store: LocalStore, tmp_path: Path) -> None:
    assert linked(store, tmp_path, {}) == set()
