"""Tables of captures over many rounds: nothing is lost, tables stay few, and a round writes what it adds."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from math import log
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.captures.capture_record import CaptureRecord, joined
from crawlctl.pipeline.captures.capture_table import IMPORTED, LISTED, RunCaptures, tables_of
from crawlctl.pipeline.captures.capture_tiers import RATIO, merge_captures, merged_rows
from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.store.local.store import LocalStore

if TYPE_CHECKING:
    from crawlctl.pipeline.state.manifest import FileEntry

KEYS = [b"a.org https://a.org/%d" % number for number in range(6)]
ROUNDS = st.lists(
    st.lists(st.tuples(st.sampled_from(KEYS), st.booleans()), max_size=12), min_size=1, max_size=8
)


@given(ROUNDS)
def test_all_captures_of_all_rounds_are_there_in_few_tables(rounds: list[list[tuple[bytes, bool]]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = LocalStore(Path(folder))
        wanted: defaultdict[bytes, list[CaptureRecord]] = defaultdict(list)
        files: list[FileEntry] = []
        written = 0
        for number, added in enumerate(rounds):
            run = RunCaptures()
            for place, (key, is_imported) in enumerate(added):
                name = "/x.warc" if is_imported else f"pages/{number}"
                capture = CaptureRecord(number, 200, "text/html", "sha1:A", name, place, 1)
                run.add(key, capture)
                wanted[key].append(capture)
            new = run.write(store, partition=0, round_number=number)
            after = merge_captures(store, files, new, partition=0, round_number=number)
            written += sum(table.captures for table in tables_of(after) if table.data not in files)
            files = list(after or files)
        tables = tables_of(files)
        found = dict(merged_rows(store, tables))
        assert found == {key: joined(captures) for key, captures in wanted.items()}
        imported = sum(one.is_imported for captures in found.values() for one in captures)
        total = sum(map(len, found.values()))
        assert sum(table.data.counters[IMPORTED] for table in tables) == imported
        assert sum(table.data.counters[LISTED] for table in tables) == total - imported
        steps = log(total + 1, 1 + 1 / RATIO) + 1
        assert len(tables) <= log(total + 1, RATIO) + 1
        assert written <= total * steps
        for table in tables:
            assert all(table.get(store, key) == captures for key, captures in table.rows(store))


def test_without_new_captures_nothing_is_written(tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "crawl")
    assert merge_captures(store, [], [], partition=0, round_number=1) == ()
    assert RunCaptures().write(store, partition=0, round_number=1) == ()
    assert not list(store.list())


def test_a_damaged_table_stays_as_it_is_and_stops_no_round(tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "crawl")
    files = list(_run_of(store, 1))
    broken = files[0]
    (store.root / broken.name).write_bytes(b"x" * broken.bytes)
    for number in range(2, 20):
        files = list(merge_captures(store, files, _run_of(store, number), partition=0, round_number=number))
        assert broken in files
        assert len(tables_of(files)) <= 1 + log(number, RATIO) + 1
    sound = [table for table in tables_of(files) if table.data != broken]
    assert {one.time for _, captures in merged_rows(store, sound) for one in captures} == set(range(2, 20))


def test_a_damaged_table_of_the_round_itself_is_an_error(tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "crawl")
    runs = [*_run_of(store, 1), *_run_of(store, 2)]
    (store.root / runs[0].name).write_bytes(b"x" * runs[0].bytes)
    with pytest.raises(CorruptFile):
        merge_captures(store, [], runs, partition=0, round_number=2)


def _run_of(store: LocalStore, number: int) -> tuple[FileEntry, ...]:
    run = RunCaptures()
    run.add(KEYS[0], CaptureRecord(number, 200, "text/html", "sha1:A", f"pages/{number}", 0, 1))
    return run.write(store, partition=0, round_number=number)
