"""Which snapshot of a remote store is searched, and what is looked up before that is known."""

from __future__ import annotations

import os
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, NoReturn

import msgspec
import pytest

from crawlctl.pipeline.errors import StoreError
from crawlctl.pipeline.search.answer.find import find
from crawlctl.pipeline.search.open.disk_cache import DiskCache
from crawlctl.pipeline.search.open.newest_snapshot import last_snapshot, newest_snapshot
from crawlctl.pipeline.search.open.open_index import open_index
from crawlctl.pipeline.search.open.searcher import Searcher
from crawlctl.pipeline.search.plan import planner
from crawlctl.pipeline.search.query.grammar import parse
from crawlctl.pipeline.state.layout import SNAPSHOTS
from crawlctl.pipeline.state.snapshots import encode_snapshot
from crawlctl.tests.pipeline.search.brute_force import Page
from crawlctl.tests.pipeline.search.memory_store import MemoryStore
from crawlctl.tests.pipeline.search.small_index import write_index

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.store.base import StoredFile

pytestmark = pytest.mark.slow

MANY = " ".join(f"word{number}" for number in range(4000))  # of which no block of a dictionary holds all


class SlowToList(MemoryStore):
    """Lists its snapshots only when the dictionary has been read."""

    def __init__(self) -> None:
        super().__init__()
        self.looked_up = Event()
        self.looked_up.set()

    def _read(self, name: str, start: int, length: int | None) -> bytes:
        data = super()._read(name, start, length)
        if name.startswith("dictionary"):
            self.looked_up.set()
        return data

    def _list(self, prefix: str) -> Iterator[StoredFile]:
        assert self.looked_up.wait(10), "nothing was looked up meanwhile"
        return super()._list(prefix)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SlowToList:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    store = SlowToList()
    write_index(store, [[Page("http://a.example/", text=f"red tree {MANY}", prior=1)]])
    return store


def urls(store: MemoryStore, query: str = "tree") -> list[str]:
    parsed = parse(query)
    index = open_index(store, query=parsed)
    try:
        return [hit.url for hit in find(index, parsed).hits]
    finally:
        index.close()


def crawl_anew(store: MemoryStore, url: str) -> None:
    """Put another crawl in the place of the one that is there."""
    store.files.clear()
    write_index(store, [[Page(url, text="green tree", prior=1)]])


def test_words_are_looked_up_while_the_store_is_asked_for_its_snapshot(store: SlowToList) -> None:
    assert urls(store) == ["http://a.example/"]
    store.looked_up.clear()
    assert urls(store, "word7") == ["http://a.example/"]


def test_a_newer_snapshot_is_the_one_that_counts(store: SlowToList) -> None:
    assert urls(store) == ["http://a.example/"]
    crawl_anew(store, "http://a.example/other")
    assert urls(store) == ["http://a.example/other"]
    assert urls(store, "red") == []


def test_what_is_wrong_with_the_snapshot_of_before_does_not_matter(store: SlowToList) -> None:
    assert urls(store) == ["http://a.example/"]
    dictionary = [name for name in store.files if name.startswith("dictionary")]
    for name in dictionary:
        del store.files[name]
    with pytest.raises(StoreError):
        urls(store, "word7")
    crawl_anew(store, "http://a.example/again")
    assert urls(store, "green") == ["http://a.example/again"]


def test_a_crawl_without_snapshots_is_refused_as_ever(store: SlowToList) -> None:
    urls(store)
    for name in [name for name in store.files if name.startswith(SNAPSHOTS)]:
        del store.files[name]
    with pytest.raises(StoreError):
        urls(store)


def test_a_crawl_made_anew_under_the_same_numbers_is_not_taken_for_the_old_one(store: SlowToList) -> None:
    cache = DiskCache(Path(os.environ["XDG_CACHE_HOME"]), store.uri)
    old = newest_snapshot(store, cache)
    (name, *_) = sorted((name for name in store.files if name.startswith(SNAPSHOTS)), reverse=True)
    other = "0" * len(old.writer)
    store.files[name] = encode_snapshot(msgspec.structs.replace(old, writer=other))
    store.times[name] = 1.0
    assert newest_snapshot(store, cache).writer == other
    assert (last := last_snapshot(store, cache)) is not None and last.writer == other


def test_an_index_that_turns_out_to_be_of_no_use_is_closed(
    store: SlowToList, monkeypatch: pytest.MonkeyPatch
) -> None:
    urls(store)
    closed: list[bool] = []
    monkeypatch.setattr(Searcher, "close", lambda _: closed.append(True))
    for name in [name for name in store.files if name.startswith(SNAPSHOTS)]:
        del store.files[name]
    with pytest.raises(StoreError):
        open_index(store, query=parse("tree"))
    assert closed == [True]


def test_ctrl_c_does_not_wait_for_the_store(store: SlowToList, monkeypatch: pytest.MonkeyPatch) -> None:
    urls(store)
    store.looked_up.clear()  # from now on the store does not answer what snapshots it has

    def interrupted(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr(planner, "plan_query", interrupted)
    with pytest.raises(KeyboardInterrupt):
        open_index(store, query=parse("tree"))
    assert not store.looked_up.is_set()
    store.looked_up.set()
