"""The files of the history: all rows are kept, in a bounded number of files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from crawlctl.pipeline.crawl.history.history_files import (
    JOINED,
    history_of,
    read_history,
    with_history_of,
    with_row,
)
from crawlctl.pipeline.crawl.history.history_row import HistoryRow
from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.state.manifest import FileEntry
from crawlctl.pipeline.store.local.store import LocalStore

if TYPE_CHECKING:
    from pathlib import Path

OTHER = FileEntry("webdb", 0, "webdb/00000/00000001-0000000000000000/data", 1, 1, "0" * 64)


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path)


def row(number: int) -> HistoryRow:
    return HistoryRow(snapshot=number, committed=float(number), round=number // 3)


def grown(store: LocalStore, rows: int) -> tuple[FileEntry, ...]:
    files: tuple[FileEntry, ...] = (OTHER,)
    for number in range(1, rows + 1):
        files = with_row(store, files, row(number))
    return files


def test_files_of_equal_size_are_joined_and_no_row_is_lost(store: LocalStore) -> None:
    files: tuple[FileEntry, ...] = (OTHER,)
    for number in range(1, JOINED**2 + 2):
        files = with_row(store, files, row(number))
        # As many files as the digits of the number add up to in base 16: joined like carrying in addition.
        digits = f"{number:x}"
        assert len(history_of(files)) == sum(int(digit, 16) for digit in digits)
    assert files[0] == OTHER
    assert read_history(store, files) == [row(number) for number in range(1, JOINED**2 + 2)]


def test_a_damaged_file_is_reported_and_never_stops_the_history_from_growing(store: LocalStore) -> None:
    files = grown(store, JOINED - 1)
    broken = history_of(files)[3]
    (store.root / broken.name).write_bytes(b"x" * broken.bytes)
    files = with_row(store, files, row(JOINED))
    assert len(history_of(files)) == JOINED  # not joined
    with pytest.raises(CorruptFile, match="its SHA-256 is not the one in the snapshot"):
        read_history(store, files)
    without = tuple(entry for entry in files if entry != broken)
    assert [one.snapshot for one in read_history(store, without)] == [1, 2, 3, *range(5, JOINED + 1)]


def test_a_damaged_file_stays_apart_while_the_others_are_joined(store: LocalStore) -> None:
    files = grown(store, 1)
    (broken,) = history_of(files)
    (store.root / broken.name).write_bytes(b"x" * broken.bytes)
    for number in range(2, 5 * JOINED + 2):
        files = with_row(store, files, row(number))
    assert len(history_of(files)) == 1 + 5
    without = tuple(entry for entry in files if entry != broken)
    assert [one.snapshot for one in read_history(store, without)] == [*range(2, 5 * JOINED + 2)]


def test_the_history_of_another_snapshot_replaces_the_own(store: LocalStore) -> None:
    older, newer = grown(store, 2), grown(store, 5)
    changed = (replace(OTHER, records=9), *history_of(older))
    mixed = with_history_of(changed, newer)
    assert mixed[0].records == 9
    assert history_of(mixed) == history_of(newer)
