"""What a query asks a remote store for."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from crawlctl.pipeline.errors import MissingFile, StoreError
from crawlctl.pipeline.search.answer.find import SearchOptions, find
from crawlctl.pipeline.search.open.disk_cache import DiskCache, default_folder
from crawlctl.pipeline.search.open.open_index import open_index
from crawlctl.pipeline.search.open.remote import RemoteFiles
from crawlctl.pipeline.search.query.grammar import parse
from crawlctl.pipeline.store.parallel_reads import ParallelReads
from crawlctl.tests.pipeline.search.brute_force import Page
from crawlctl.tests.pipeline.search.memory_store import MemoryStore
from crawlctl.tests.pipeline.search.small_index import write_index

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from crawlctl.pipeline.state.snapshots import Snapshot

PAGES = [
    Page(f"http://{host}.example/{number}", text=f"red tree number {number}", prior=1)
    for host in "abc"
    for number in range(40)
]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "crawlctl" / "search"


def asked(
    store: MemoryStore, snapshot: Snapshot, query: str, *, cached: bool = True, limit: int = 2
) -> list[str]:
    """Return the files of which something is read for a query."""
    store.reads.clear()
    index = open_index(store, snapshot, cached=cached)
    assert find(index, parse(query), SearchOptions(limit=limit)).hits
    index.close()
    return ["/".join((name.split("/")[0], *name.split("/")[3:])) for name, _, _ in store.reads]


def test_with_a_warm_cache_a_query_reads_blocks_lists_and_documents_only(cache: Path) -> None:
    store = MemoryStore()
    snapshot = write_index(store, [PAGES[:60], PAGES[60:]])
    asked(store, snapshot, "AND red number", limit=len(PAGES))
    assert store.looks == 0
    again = asked(store, snapshot, "AND tree 7")
    assert set(again) <= {"dictionary/data", "segments/postings", "segments/docs/data"}
    # One for each segment: the list of `tree`; that of 7 lies in the dictionary.
    assert again.count("segments/postings") <= 2
    assert asked(store, snapshot, "AND tree 7") == []


def test_a_query_takes_two_trips_and_one_for_the_documents(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = MemoryStore()
    snapshot = write_index(store, [PAGES[:60], PAGES[60:]])
    asked(store, snapshot, "AND red number", limit=len(PAGES))
    trips: list[int] = []
    together = ParallelReads.map

    def counted(parallel: ParallelReads, function: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
        before = len(store.reads)
        results = together(parallel, function, items)
        if len(store.reads) > before:
            trips.append(len(store.reads) - before)
        return results

    monkeypatch.setattr(ParallelReads, "map", counted)
    asked(store, snapshot, '"tree number" (7 OR 8)')
    assert len(trips) <= 3
    assert sum(trips) == len(store.reads)  # all that is read is read in one of the trips


def test_lists_that_lie_side_by_side_take_one_read(cache: Path) -> None:
    store = MemoryStore()
    snapshot = write_index(store, [PAGES])
    assert asked(store, snapshot, '"red tree number"').count("segments/postings") == 1


def test_without_a_cache_nothing_is_written(cache: Path) -> None:
    store = MemoryStore()
    snapshot = write_index(store, [PAGES])
    first = asked(store, snapshot, "tree", cached=False)
    # How often a block of documents is read depends on which thread comes first.
    assert set(asked(store, snapshot, "tree", cached=False)) == set(first)
    assert not cache.exists()


def test_a_folder_that_cannot_be_written_is_no_obstacle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "crawlctl").write_text("a file where the folder would be")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    store = MemoryStore()
    assert asked(store, write_index(store, [PAGES]), "tree")


def test_a_cache_forgets_what_was_not_used_for_longest(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path, "s3://bucket", max_bytes=100)
    for name in ("old", "new"):
        cache.put(name, 0, bytes(60))
    old = DiskCache(tmp_path, "s3://bucket")._path("old", 0, 60)  # the only way to age a file
    os.utime(old, (0, 0))
    cache.trim()
    assert cache.get("old", 0, 60) is None
    assert cache.get("new", 0, 60) == bytes(60)


def test_a_piece_that_was_cut_off_is_read_anew(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path, "s3://bucket")
    cache.put("name", 3, b"abcdef")
    (kept,) = tmp_path.iterdir()
    kept.write_bytes(b"abc")
    assert cache.get("name", 3, 6) is None


def test_caches_belong_to_the_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "relative, which the specification forbids")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_folder() == tmp_path / ".cache" / "crawlctl" / "search"


def test_a_snapshot_is_read_only_and_knows_its_files_only() -> None:
    store = MemoryStore()
    files = RemoteFiles(store, write_index(store, [PAGES]).files, None)
    with pytest.raises(StoreError, match="open for reading"):
        files.put("docs/x", b"")
    with pytest.raises(MissingFile):
        files.read("docs/x")
