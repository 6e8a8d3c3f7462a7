from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from crawlctl.pipeline.errors import CorruptFile, StoreError
from crawlctl.pipeline.formats.sequencefile.sequencefile import SequenceFileReader
from crawlctl.pipeline.state.layout import KIND_KEY
from crawlctl.pipeline.state.snapshots import Snapshot, commit, create_crawl
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.urls.hosts import webdb_key
from crawlctl.pipeline.webdb.census import HOSTS, status_counts
from crawlctl.pipeline.webdb.part import lookup, open_part, scan, with_parts, write_part
from crawlctl.pipeline.webdb.records import Status, WebEntry, encode

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.pipeline.webdb.records import Rows

URLS = [f"https://host{number % 10}.example/{number:04d}" for number in range(1000)]
KEYS = sorted(map(webdb_key, URLS))


def entry_of(key: bytes) -> WebEntry:
    return WebEntry(Status.GONE if key.endswith(b"7") else Status.FETCHED, len(key), 0.0, int(key[-4:]), 1)


def rows(size: int) -> list[Rows]:
    chunks = [KEYS[start : start + size] for start in range(0, len(KEYS), size)]
    return [(keys, [encode(entry_of(key)) for key in keys]) for keys in chunks]


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "crawl")


@pytest.fixture
def snapshot(store: LocalStore) -> Snapshot:
    return create_crawl(store, partitions=1)


@pytest.fixture
def filled(store: LocalStore, snapshot: Snapshot) -> Snapshot:
    files = write_part(store, rows(300), partition=0, round_number=4)
    return commit(store, snapshot, files=with_parts(snapshot, files), round_number=4)


def test_a_part_is_three_files_of_which_the_data_are_counted(store: LocalStore, filled: Snapshot) -> None:
    extract, data, index = filled.files
    assert (extract.records, data.records, index.records) == (0, 1000, 0)
    assert status_counts(data.counters) == {"fetched": 900, "gone": 100} and data.counters[HOSTS] == 10
    assert extract.counters == index.counters == {}
    assert data.name.startswith("webdb/00000/00000004-")
    assert data.name.removesuffix("/data") == index.name.removesuffix("/index")
    assert data.name.removesuffix("/data") == extract.name.removesuffix("/extract")
    assert [store.size(file.name) for file in filled.files] == [extract.bytes, data.bytes, index.bytes]


def test_the_data_file_says_what_it_is(store: LocalStore, filled: Snapshot) -> None:
    header = SequenceFileReader(store.open(filled.files[1].name)).header
    assert header.metadata == {KIND_KEY: "webdb"}


def test_a_scan_gives_back_every_entry_in_order(store: LocalStore, filled: Snapshot) -> None:
    assert list(scan(store, filled, 0)) == [(key.partition(b" ")[2].decode(), entry_of(key)) for key in KEYS]


def test_lookup_finds_what_is_there_and_only_that(store: LocalStore, filled: Snapshot) -> None:
    assert lookup(store, filled, URLS[123]) == entry_of(webdb_key(URLS[123]))
    assert lookup(store, filled, "https://host3.example/") is None
    assert lookup(store, filled, "https://elsewhere.example/") is None


def test_an_empty_partition_has_no_files(store: LocalStore, snapshot: Snapshot) -> None:
    assert write_part(store, [], partition=0, round_number=1) == ()
    assert open_part(store, snapshot, 0) is None
    assert list(scan(store, snapshot, 0)) == []
    assert lookup(store, snapshot, URLS[0]) is None
    assert list(store.list("webdb/")) == []


def test_rows_out_of_order_leave_no_files(store: LocalStore) -> None:
    with pytest.raises(ValueError, match="sort"):
        write_part(store, reversed(rows(500)), partition=0, round_number=1)
    assert list(store.list("webdb/")) == []


def test_new_parts_replace_those_of_their_partition_only(store: LocalStore, filled: Snapshot) -> None:
    other = write_part(store, rows(1000)[:1], partition=3, round_number=5)
    both = with_parts(filled, other)
    assert both == (*filled.files, *other)
    newer = write_part(store, rows(1000)[:1], partition=0, round_number=5)
    after = commit(store, filled, files=both, round_number=5)
    assert with_parts(after, newer) == (*other, *newer)


def test_a_snapshot_that_names_half_a_part_or_two_is_refused(store: LocalStore, filled: Snapshot) -> None:
    twice = (*filled.files, *write_part(store, rows(1000), partition=0, round_number=5))
    for files in (filled.files[:1], filled.files[:2], filled.files[2:], twice):
        broken = replace(filled, files=files)
        with pytest.raises(StoreError, match="one data and one index file"):
            open_part(store, broken, 0)


def test_a_damaged_entry_is_named_when_read(store: LocalStore, snapshot: Snapshot) -> None:
    damaged = encode(replace(entry_of(KEYS[0]), next_due=1_800_000_000))[:-2]
    files = write_part(store, [(KEYS[:1], [damaged])], partition=0, round_number=1)
    broken = commit(store, snapshot, files=files, round_number=1)
    with pytest.raises(CorruptFile, match=r"webdb/00000/.*/data: damaged"):
        list(scan(store, broken, 0))
    with pytest.raises(CorruptFile, match=r"webdb/00000/.*/data: damaged"):
        lookup(store, broken, KEYS[0].partition(b" ")[2].decode())
