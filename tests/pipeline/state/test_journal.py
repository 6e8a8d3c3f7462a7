from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlctl.pipeline.errors import CommitConflict, CorruptFile
from crawlctl.pipeline.state.garbage import collect
from crawlctl.pipeline.state.journal import (
    FETCH,
    finish_step,
    finished_step,
    open_round_files,
    partitions_with_runs,
    put_run,
    saved_runs,
    webdb_step,
)
from crawlctl.pipeline.state.layout import data_name, run_name, step_name
from crawlctl.pipeline.state.manifest import FileEntry, encode_entry
from crawlctl.pipeline.state.snapshots import commit, create_crawl
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.tests.effort import examples

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.pipeline.store.base import Store

ROUND = 3
FAR = 2e9


@pytest.fixture
def folder(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "store")


def add(store: Store, kind: str = "outcomes", partition: int = 0, content: bytes = b"12345") -> FileEntry:
    with store.write(data_name(kind, partition, ROUND)) as sink:
        sink.write(content)
    return FileEntry(kind, partition, sink.name, sink.bytes, 1, sink.checksum, {"pages": 1})


def test_the_runs_of_a_partition_come_back_in_the_order_they_were_saved(store: Store) -> None:
    runs = [(add(store), add(store, "fresh")) for _ in range(5)]
    for run in runs:
        put_run(store, ROUND, 0, run)
    put_run(store, ROUND, 1, [add(store, partition=1)])
    put_run(store, ROUND + 1, 0, [add(store)])
    assert saved_runs(store, ROUND, 0) == runs
    assert partitions_with_runs(store, ROUND) == {0, 1}
    assert saved_runs(store, ROUND, 2) == []


def test_a_partition_of_many_digits_is_not_taken_for_one_it_begins_with(folder: LocalStore) -> None:
    entry = add(folder, partition=100_000)
    put_run(folder, ROUND, 100_000, [entry])
    assert saved_runs(folder, ROUND, 10_000) == []
    assert saved_runs(folder, ROUND, 100_000) == [(entry,)]


def test_a_step_is_done_once_it_is_recorded(store: Store) -> None:
    entries = (add(store), add(store, "fresh"))
    assert finished_step(store, ROUND, FETCH) is None
    finish_step(store, ROUND, FETCH, entries)
    assert finished_step(store, ROUND, FETCH) == entries
    assert finished_step(store, ROUND + 1, FETCH) is None
    finish_step(store, ROUND, webdb_step(7), ())
    assert finished_step(store, ROUND, webdb_step(7)) == ()
    assert finished_step(store, ROUND, webdb_step(8)) is None, "the merge of another snapshot"


def test_a_step_is_finished_by_one_run_only(store: Store) -> None:
    first = (add(store),)
    finish_step(store, ROUND, FETCH, first)
    with pytest.raises(CommitConflict, match="another run has finished this step first"):
        finish_step(store, ROUND, FETCH, (add(store),))
    assert finished_step(store, ROUND, FETCH) == first


def test_a_step_may_be_recorded_twice_by_whoever_lost_the_answer(store: Store) -> None:
    entries = (add(store),)
    finish_step(store, ROUND, FETCH, entries)
    finish_step(store, ROUND, FETCH, entries)


def test_gc_leaves_the_open_round_alone_and_takes_those_before(folder: LocalStore) -> None:
    snapshot = create_crawl(folder, 1)
    old, saved, fetched, merged, orphan = (add(folder) for _ in range(5))
    put_run(folder, ROUND - 1, 0, [old])
    run = put_run(folder, ROUND, 0, [saved])
    finish_step(folder, ROUND, FETCH, [saved, fetched])
    finish_step(folder, ROUND, webdb_step(2), [merged])
    commit(folder, snapshot, files=(), round_number=ROUND - 1)
    kept = open_round_files(folder, ROUND)
    collected = collect(folder, keep=1, min_age=0, now=FAR, also_keep=kept)
    records = {run, step_name(ROUND, FETCH), step_name(ROUND, webdb_step(2))}
    assert kept == {saved.name, fetched.name, merged.name} | records
    assert {old.name, orphan.name} <= {file.name for file in collected.files}
    assert saved_runs(folder, ROUND, 0) == [(saved,)]
    assert list(folder.list(f"rounds/{ROUND - 1:08d}/")) == []


def test_files_of_unknown_names_in_the_folder_of_a_round_are_passed_over(folder: LocalStore) -> None:
    folder.put(f"rounds/{ROUND:08d}/fetch-00000-notes.txt", b"whatever")
    folder.put(f"rounds/{ROUND:08d}/fetch-00000-short.json", b"{}")
    assert saved_runs(folder, ROUND, 0) == []
    assert partitions_with_runs(folder, ROUND) == set()
    assert len(open_round_files(folder, ROUND)) == 2


def test_a_run_with_a_missing_or_shortened_file_is_fetched_again(
    folder: LocalStore, caplog: pytest.LogCaptureFixture
) -> None:
    good, gone, short = (add(folder) for _ in range(3))
    for entry in (gone, good, short):
        put_run(folder, ROUND, 0, [add(folder), entry])
    folder.delete([gone.name])
    (folder.root / short.name).write_bytes(b"1234")
    with caplog.at_level(logging.WARNING):
        assert [run[1] for run in saved_runs(folder, ROUND, 0)] == [good]
    assert gone.name in caplog.text
    assert short.name in caplog.text


@settings(max_examples=examples(40), deadline=None)  # each example makes files
@given(data=st.data())
def test_a_torn_or_damaged_record_of_a_run_is_passed_over_and_that_of_a_step_is_an_error(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = LocalStore(tmp_path_factory.mktemp("store"))
    entries = [add(folder), add(folder, "fresh")]
    whole = b"".join(encode_entry(entry) + b"\n" for entry in entries)
    lines = {0, whole.index(b"\n") + 1, len(whole)}
    cut = data.draw(st.integers(0, len(whole)).filter(lambda length: length not in lines))
    folder.put(run_name(ROUND, 0), whole[:cut])
    folder.put(step_name(ROUND, FETCH), whole[:cut])
    assert saved_runs(folder, ROUND, 0) == []
    with pytest.raises(CorruptFile):
        finished_step(folder, ROUND, FETCH)
    assert len(open_round_files(folder, ROUND)) == 2


class Crash(Exception):
    """The process is gone."""


class Crashing(LocalStore):
    """A store on which the n-th operation that changes something is the last."""

    def __init__(self, root: Path, lives: int) -> None:
        super().__init__(root)
        self._lives = lives

    def create(self, name: str, data: bytes) -> bool:
        self.spend()
        return super().create(name, data)

    def spend(self) -> None:
        self._lives -= 1
        if self._lives < 0:
            raise Crash


def write_runs(store: Crashing, sizes: list[int]) -> None:
    """Save runs as a fetch task does: data files first, then their record."""
    for size in sizes:
        run = []
        for _ in range(size):
            store.spend()
            run.append(add(store))
        put_run(store, ROUND, 0, run)
    finish_step(store, ROUND, FETCH, [entry for run in saved_runs(store, ROUND, 0) for entry in run])


@settings(max_examples=examples(40), deadline=None)  # each example makes files
@given(sizes=st.lists(st.integers(1, 3), min_size=1, max_size=4), lives=st.integers(0, 16))
def test_wherever_a_task_crashes_no_record_names_a_file_that_is_not_there(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], lives: int
) -> None:
    root = tmp_path_factory.mktemp("store")
    crashed = False
    try:
        write_runs(Crashing(root, lives), sizes)
    except Crash:
        crashed = True
    store = LocalStore(root)
    runs = saved_runs(store, ROUND, 0)
    named = open_round_files(store, ROUND)
    assert named <= {file.name for file in store.list()}
    assert [len(run) for run in runs] == sizes[: len(runs)]
    done = finished_step(store, ROUND, FETCH)
    assert (done is None) == crashed
    if done is not None:
        assert list(done) == [entry for run in runs for entry in run]
        assert len(runs) == len(sizes)


@settings(max_examples=examples(60), deadline=None)  # each example makes files
@given(offset=st.integers(0, 10_000), bit=st.integers(0, 7))
def test_no_flipped_bit_changes_the_files_of_a_step(
    tmp_path_factory: pytest.TempPathFactory, offset: int, bit: int
) -> None:
    folder = LocalStore(tmp_path_factory.mktemp("store"))
    finish_step(folder, ROUND, FETCH, [add(folder), add(folder, "fresh")])
    record = folder.root / step_name(ROUND, FETCH)
    data = bytearray(record.read_bytes())
    data[offset % len(data)] ^= 1 << bit
    record.write_bytes(data)
    with pytest.raises(CorruptFile, match=step_name(ROUND, FETCH)):
        finished_step(folder, ROUND, FETCH)


@settings(max_examples=examples(60), deadline=None)  # each example makes files
@given(length=st.integers(0, 10_000))
def test_no_record_that_was_cut_off_counts(tmp_path_factory: pytest.TempPathFactory, length: int) -> None:
    folder = LocalStore(tmp_path_factory.mktemp("store"))
    finish_step(folder, ROUND, FETCH, [add(folder), add(folder, "fresh")])
    record = folder.root / step_name(ROUND, FETCH)
    data = record.read_bytes()
    lines = [0, *(at + 1 for at, byte in enumerate(data[:-1]) if byte == ord("\n"))]
    for cut in (*lines, length % len(data)):
        record.write_bytes(data[:cut])
        with pytest.raises(CorruptFile, match=step_name(ROUND, FETCH)):
            finished_step(folder, ROUND, FETCH)


def test_a_record_of_an_older_version_has_no_checksum(folder: LocalStore) -> None:
    entry = add(folder)
    folder.put(step_name(ROUND, FETCH), encode_entry(entry) + b"\n")
    assert finished_step(folder, ROUND, FETCH) == (entry,)
