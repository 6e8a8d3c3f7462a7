from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.captures.capture_record import CaptureRecord
from crawlctl.pipeline.captures.capture_table import RunCaptures, tables_of, unlisted_archives
from crawlctl.pipeline.errors import CorruptFile, StoreError
from crawlctl.pipeline.formats.sequencefile.mapfile import MapFileWriter
from crawlctl.pipeline.state.manifest import file_entry
from crawlctl.pipeline.state.snapshots import load_current
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.tests.pipeline.captures.made_captures import make_captured, unlist

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.pipeline.state.manifest import FileEntry

KEY = b"a.org https://a.org/"


def test_half_a_table_is_told(tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "crawl")
    data, _ = _table(store)
    with pytest.raises(StoreError, match=r"names data and not data and index; `crawlctl check --repair`"):
        tables_of([data])


def test_a_damaged_row_names_its_file(tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "crawl")
    with (
        store.write("captures/0/1/data") as data,
        store.write("captures/0/1/index") as index,
        MapFileWriter(data, index) as writer,
    ):
        writer.append(KEY, b"\x91\x01")
    (table,) = tables_of([file_entry(data, "captures", 0), file_entry(index, "captures", 0)])
    with pytest.raises(CorruptFile, match=r"captures/0/1/data.*not a row of captures"):
        table.get(store, KEY)


def test_archives_from_before_there_were_captures_are_known_by_their_counters(tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "crawl")
    snapshot = make_captured(store)
    assert not unlisted_archives(snapshot.files)
    unlist(store)
    old = load_current(store)
    assert unlisted_archives(old.files) == list(old.files_of("pages"))


def _table(store: LocalStore) -> tuple[FileEntry, ...]:
    run = RunCaptures()
    run.add(KEY, CaptureRecord(1, 200, "", "", "pages/x", 0, 1))
    assert run.memory > 0
    return run.write(store, partition=0, round_number=1)
