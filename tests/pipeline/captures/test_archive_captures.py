"""What a fetch task writes into the table can be read again from its archive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.captures.archive_captures import captures_in, list_archives
from crawlctl.pipeline.captures.capture_table import LISTED, tables_of, unlisted_archives
from crawlctl.pipeline.captures.capture_tiers import merged_rows
from crawlctl.pipeline.state.snapshots import load_current
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.urls.hosts import webdb_key
from crawlctl.tests.pipeline.captures.made_captures import ROUNDS, A, all_captures, make_captured, unlist

if TYPE_CHECKING:
    from pathlib import Path


def test_the_captures_of_an_archive_are_those_that_were_written_with_it(tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "crawl")
    snapshot = make_captured(store)
    written = all_captures(store)
    assert sum(map(len, written.values())) == sum(map(len, ROUNDS))
    archives = snapshot.files_of("pages")
    found = list(list_archives(store, archives, snapshot.partitions, 3))
    assert dict(merged_rows(store, tables_of(found))) == written
    counts = {entry.name: entry.counters[LISTED] for entry in found if entry.kind == "pages"}
    assert counts == {entry.name: entry.counters[LISTED] for entry in archives}
    first, second = written[webdb_key(A)]
    assert (first.status, first.mime, first.is_revisit) == (200, "text/html", False)
    assert (second.status, second.digest, second.is_revisit) == (304, "", True)


def test_the_captures_of_one_url_alone_can_be_asked_for(tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "crawl")
    snapshot = make_captured(store)
    found = [
        capture
        for entry in snapshot.files_of("pages")
        for _, capture in captures_in(store.open(entry.name), entry.name, only=A)
    ]
    assert sorted(found, key=lambda one: one.time) == all_captures(store)[webdb_key(A)]


def test_a_damaged_archive_stays_unlisted_and_the_others_are_listed(tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "crawl")
    make_captured(store)
    unlist(store)
    snapshot = load_current(store)
    first, *others = snapshot.files_of("pages")
    path = store.root / first.name
    path.write_bytes(path.read_bytes()[:-20])
    found = list(list_archives(store, [first, *others], snapshot.partitions, 3))
    assert first in found
    assert unlisted_archives(found) == [first]
    rows = dict(merged_rows(store, tables_of(found)))
    assert {one.file for captures in rows.values() for one in captures} == {entry.name for entry in others}
