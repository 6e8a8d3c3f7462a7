from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.state.snapshots import commit, create_crawl
from crawlctl.pipeline.urls.hosts import webdb_key
from crawlctl.pipeline.webdb.due import DueCounts, count_due, due_counts, estimate_due, next_due
from crawlctl.pipeline.webdb.part import write_part
from crawlctl.pipeline.webdb.records import Status, WebEntry, encode
from crawlctl.tests.pipeline.webdb.older_parts import without_new_counters
from crawlctl.tests.pipeline.webdb.recording_store import RecordingStore

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot

NOW = 1_800_000_000
DUE = {0: [NOW - 7, NOW - 7], 1: [NOW - 500, NOW + 500], 3: [2_000_000_000]}  # by partition; 2 has no part


@pytest.fixture
def store(tmp_path: Path) -> RecordingStore:
    return RecordingStore(tmp_path / "crawl")


@pytest.fixture
def snapshot(store: RecordingStore) -> Snapshot:
    files: list[FileEntry] = []
    for partition, dues in DUE.items():
        keys = [webdb_key(f"https://a.example/{number}") for number in range(len(dues))]
        values = [encode(WebEntry(Status.GONE, due, 0.5, 1, 0)) for due in dues]
        files += write_part(store, [(keys, values)], partition=partition, round_number=1)
    made = commit(store, create_crawl(store, 4), files=files, round_number=1)
    store.opened.clear()
    return made


@pytest.mark.parametrize("now", [NOW - 501, NOW - 500, NOW - 8, NOW - 7, NOW, NOW + 499, NOW + 500, 2**31])
def test_the_count_is_that_of_all_entries(store: RecordingStore, snapshot: Snapshot, now: int) -> None:
    due = {partition: sum(due <= now for due in dues) for partition, dues in DUE.items()}
    older = without_new_counters(snapshot)
    assert count_due(store, snapshot, now) == count_due(store, older, now) == sum(due.values())
    assert estimate_due(store, older, now) == due
    estimate = estimate_due(store, snapshot, now)
    assert {partition for partition, count in estimate.items() if count} == {
        partition for partition, count in due.items() if count
    }


def test_an_estimate_reads_no_part(store: RecordingStore, snapshot: Snapshot) -> None:
    assert estimate_due(store, snapshot, NOW) == {0: 2, 1: 1, 3: 0}
    assert store.opened == []
    estimate_due(store, without_new_counters(snapshot), NOW)
    assert {name.split("/")[1] for name in store.opened} == {"00000", "00001", "00003"}


def test_a_count_reads_only_parts_whose_counters_leave_it_open(
    store: RecordingStore, snapshot: Snapshot
) -> None:
    assert count_due(store, snapshot, NOW + 500) == 4
    assert store.opened == []
    assert count_due(store, snapshot, NOW) == 3
    assert {name.split("/")[1] for name in store.opened} <= {"00001"}


def test_what_falls_due_within_a_day_and_a_week_is_counted_without_what_is_due_now(
    store: RecordingStore, snapshot: Snapshot
) -> None:
    assert due_counts(store, snapshot, NOW) == DueCounts(3, 1, 1)
    assert due_counts(store, snapshot, 2_000_000_000 - 3 * 86_400) == DueCounts(4, 0, 1)
    assert store.opened == []


def test_the_next_due_time_is_that_of_the_first_entry(snapshot: Snapshot) -> None:
    assert next_due(snapshot, NOW - 501) == NOW - 500
    assert next_due(snapshot, NOW + 500) == 2_000_000_000
    assert next_due(snapshot, 2_000_000_000) is None
    assert next_due(without_new_counters(snapshot), 0) is None


def test_a_crawl_without_parts_has_nothing_due(store: RecordingStore) -> None:
    empty = create_crawl(store, 1)
    assert count_due(store, empty, NOW) == 0
    assert estimate_due(store, empty, NOW) == {}
    assert next_due(empty, NOW) is None
