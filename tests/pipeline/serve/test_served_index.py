"""The index of a server follows the crawl, and goes on with what it has when it cannot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.errors import StoreError
from crawlctl.pipeline.search.answer.find import find
from crawlctl.pipeline.search.query.grammar import parse
from crawlctl.pipeline.serve.served_index import LOOK_EVERY, ServedIndex
from crawlctl.pipeline.state.kinds import WEBDB
from crawlctl.pipeline.state.manifest import FileEntry
from crawlctl.pipeline.state.snapshots import commit, create_crawl
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.tests.pipeline.search.brute_force import Page
from crawlctl.tests.pipeline.search.small_index import write_index

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.pipeline.search.open.searcher import Searcher

ONE = Page("https://a.org/1", "One", "word")
TWO = Page("https://b.org/2", "Two", "word")
DEAD = Page("https://c.org/3", "Three", "word", dead=True)
UNREAD = Page("https://d.org/4", anchors=("word",), language="", fetched=False)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def urls(searcher: Searcher) -> set[str]:
    return {hit.url for hit in find(searcher, parse("word")).hits}


def test_contents_count_pages_and_hosts_without_deleted_and_unread_ones(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    write_index(store, [[ONE, Page("https://a.org/5", "Five", "word"), DEAD], [TWO]], [UNREAD])
    contents = ServedIndex(store).contents()
    assert contents.sites == (("a.org", 2), ("b.org", 1))
    assert contents.pages == 3


def test_known_urls_are_counted_apart_from_pages(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    first = write_index(store, [[ONE], [TWO]], [UNREAD])
    parts = [FileEntry(WEBDB, part, f"webdb/{part}", 1, 7, first.files[0].checksum, {}) for part in (0, 1)]
    commit(store, first, files=(*first.files, *parts), round_number=2)
    contents = ServedIndex(store).contents()
    assert (contents.pages, contents.known_urls) == (2, 14)


def test_a_new_snapshot_is_searched_after_a_moment_and_counted_again(tmp_path: Path) -> None:
    source, store, clock = LocalStore(tmp_path / "new"), LocalStore(tmp_path / "crawl"), Clock()
    first = write_index(store, [[ONE]])
    served = ServedIndex(store, clock)
    assert (served.ask(urls), served.contents().pages) == ({ONE.url}, 1)
    later = write_index(source, [[ONE, TWO]])
    for entry in later.files:
        (store.root / entry.name).parent.mkdir(parents=True, exist_ok=True)
        (store.root / entry.name).write_bytes(source.read(entry.name))
    commit(store, first, files=later.files, round_number=2)
    assert served.ask(urls) == {ONE.url}, "the store is not asked with each search"
    clock.now += LOOK_EVERY
    assert served.ask(urls) == {ONE.url, TWO.url}
    assert served.contents().pages == 2


def test_a_snapshot_that_cannot_be_opened_leaves_the_old_one_in_place(tmp_path: Path) -> None:
    store, clock = LocalStore(tmp_path), Clock()
    first = write_index(store, [[ONE]])
    served = ServedIndex(store, clock)
    commit(store, first, files=(), round_number=2)  # it has no index
    clock.now += LOOK_EVERY
    assert served.ask(urls) == {ONE.url}
    assert served.snapshot.number == first.number
    assert served.readable_contents().pages == 1, "the server is ready"


def test_a_store_that_cannot_be_read_is_told_until_it_is_back(tmp_path: Path) -> None:
    store, clock = LocalStore(tmp_path / "crawl"), Clock()
    write_index(store, [[ONE]])
    served = ServedIndex(store, clock)
    store.root.rename(tmp_path / "away")
    clock.now += LOOK_EVERY
    with pytest.raises(StoreError):
        served.readable_contents()
    (tmp_path / "away").rename(store.root)
    clock.now += LOOK_EVERY
    assert served.readable_contents().pages == 1


def test_without_an_index_there_is_nothing_to_serve(tmp_path: Path) -> None:
    create_crawl(LocalStore(tmp_path), 1)
    with pytest.raises(StoreError, match="no index to search yet"):
        ServedIndex(LocalStore(tmp_path))
