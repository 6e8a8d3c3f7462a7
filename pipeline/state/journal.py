"""The journal of an open round: which steps are done, so that the next run can resume the round after a kill.

    rounds/00000043/fetch-00003-<time><random>.json   a run that the fetch task of partition 3 has saved
    rounds/00000043/tail-00003-<deadline>-work        tail report: the task waits or has ended (round_tail.py)
    rounds/00000043/goal-00000045-3                   a run of 3 rounds ends with round 45 (run_goal.py)
    rounds/00000043/spent-<owner>-fetch-2400-1800     a process spent 2.4 s and 1.8 CPU-s on the step
    rounds/00000043/fetch.json                        the fetch step is done
    rounds/00000043/webdb-00000044.json               the WebDB is merged, on top of snapshot 44
    rounds/00000043/index-00000044.json               the index is merged, with that WebDB

A file that ends in .json is the record of a run or of a step: a first line with the CRC-32 of the manifest,
then the manifest. It is written as a whole, after all the files that it names. The CRC stands at the
beginning: if a record was cut off behind any line, the CRC is still there and shows that lines are missing.
All other files are empty, and their names say everything.

Which files exist tells which step a round has reached; there is no other state. A merge counts only for the
snapshot that it started from: an `inject` between a kill and the next run commits another snapshot, and its
seeds would be lost. After the commit of a round its journal is not read any more, and `crawlctl gc` deletes
it.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import TYPE_CHECKING
from zlib import crc32

from crawlctl.pipeline.errors import CommitConflict, CorruptFile, MissingFile
from crawlctl.pipeline.state.layout import (
    is_manifest_name,
    partition_of_run,
    round_folder,
    run_name,
    said_by_spent,
    said_by_tail_report,
    spent_name,
    step_name,
    tail_report_name,
)
from crawlctl.pipeline.state.manifest import encode_entry, read_manifest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store

log = logging.getLogger(__name__)

FETCH = "fetch"
_CHECKSUM = b"crc32 "
_CHECKSUM_BYTES = len(_CHECKSUM) + len("00000000\n")


def webdb_step(snapshot: int) -> str:
    """Return the name of the step that merges the WebDB of a snapshot."""
    return f"webdb-{snapshot:08d}"


def index_step(snapshot: int) -> str:
    """Return the name of the step that merges the index of a snapshot."""
    return f"index-{snapshot:08d}"


def put_run(store: Store, round_number: int, partition: int, entries: Iterable[FileEntry]) -> str:
    """Record that a fetch task has written the files of a run; return the name of the record."""
    name = run_name(round_number, partition)
    store.put(name, _encode(entries))
    return name


def saved_runs(store: Store, round_number: int, partition: int) -> list[tuple[FileEntry, ...]]:
    """Return the files of each run that a partition has saved in a round, the oldest first.

    A run with a missing or damaged file is left out: its pages are fetched again.
    """
    prefix = f"{round_folder(round_number)}{FETCH}-{partition:05d}-"
    names = [file.name for file in store.list(prefix) if partition_of_run(file.name) == partition]
    runs = (_whole_run(store, name) for name in names)
    return [run for run in runs if run is not None]


def partitions_with_runs(store: Store, round_number: int) -> set[int]:
    """Return the partitions that have saved runs in a round."""
    partitions = (partition_of_run(file.name) for file in store.list(round_folder(round_number)))
    return {partition for partition in partitions if partition is not None}


def is_round_open(store: Store, round_number: int) -> bool:
    """Return whether a round was begun: a task has saved a run, or the fetch step is done."""
    has_runs = bool(partitions_with_runs(store, round_number))
    return has_runs or finished_step(store, round_number, FETCH) is not None


def put_tail_report(
    store: Store, round_number: int, partition: int, deadline: float, *, has_work: bool
) -> None:
    """Record that a fetch task waits or has ended, and whether it has found work for the next round."""
    store.create(tail_report_name(round_number, partition, deadline, has_work=has_work), b"")


def withdraw_tail_report(
    store: Store, round_number: int, partition: int, deadline: float, *, has_work: bool
) -> None:
    """Delete the record that a task waits."""
    store.delete([tail_report_name(round_number, partition, deadline, has_work=has_work)])


def tail_reports(store: Store, round_number: int, deadline: float) -> dict[int, bool]:
    """Return the partitions of a round that wait or have ended, and whether they have found work."""
    said: dict[int, bool] = {}
    for file in store.list(f"{round_folder(round_number)}tail-"):
        if found := said_by_tail_report(file.name, deadline):
            said[found[0]] = said.get(found[0], False) or found[1]
    return said


def put_spent(store: Store, round_number: int, owner: str, step: str, *, seconds: float, cpu: float) -> None:
    """Record the costs of a process for a step of a round, even if the step is not finished."""
    store.create(spent_name(round_number, owner, step, seconds, cpu), b"")


def spent_by_others(store: Store, round_number: int, owner: str) -> Iterator[tuple[str, float, float]]:
    """Yield the costs of other processes for a round: step, seconds, CPU-seconds."""
    for file in store.list(f"{round_folder(round_number)}spent-"):
        said = said_by_spent(file.name)
        if said and said[0] != owner:
            yield said[1:]


def finish_step(store: Store, round_number: int, step: str, entries: Iterable[FileEntry]) -> None:
    """Record that a step of a round is done, and the files that it has written."""
    name = step_name(round_number, step)
    if not store.create(name, _encode(entries)):
        raise CommitConflict(
            f"{store.locate(name)}: another run has finished this step first; its files count: "
            "run the command again to go on from there"
        )


def finished_step(store: Store, round_number: int, step: str) -> tuple[FileEntry, ...] | None:
    """Return the files of a step of a round that is done, None if it is not done."""
    name = step_name(round_number, step)
    try:
        return _decode(store, name)
    except MissingFile:
        return None


def saved_files(store: Store, round_number: int) -> tuple[FileEntry, ...]:
    """Return the files of all runs that the fetch tasks of an open round have saved so far.

    Only the journal is read; a damaged record counts as not saved.
    """
    entries: list[FileEntry] = []
    for file in store.list(f"{round_folder(round_number)}{FETCH}-"):
        with suppress(CorruptFile, MissingFile):
            entries += _decode(store, file.name)
    return tuple(entries)


def open_round_files(store: Store, round_number: int) -> set[str]:
    """Return the names of all files that an open round has written, with its journal."""
    names: set[str] = set()
    for file in store.list(round_folder(round_number)):
        names.add(file.name)
        if not is_manifest_name(file.name):
            continue
        try:
            names.update(entry.name for entry in _decode(store, file.name))
        except CorruptFile as err:
            log.warning("%s", err)
    return names


def unreadable_records(store: Store, round_number: int) -> Iterator[tuple[str, str]]:
    """Yield the names of damaged records in the journal of a round, and what is wrong with each."""
    for file in store.list(round_folder(round_number)):
        if is_manifest_name(file.name):
            try:
                _decode(store, file.name)
            except CorruptFile as err:
                yield file.name, err.reason


def _whole_run(store: Store, name: str) -> tuple[FileEntry, ...] | None:
    try:
        run = _decode(store, name)
        for entry in run:
            if (found := store.size(entry.name)) != entry.bytes:
                raise CorruptFile(store.locate(entry.name), found, f"it should have {entry.bytes} bytes")
    except (CorruptFile, MissingFile) as err:
        log.warning("the run %s is fetched again: %s", name, err)
        return None
    return run


def _encode(entries: Iterable[FileEntry]) -> bytes:
    manifest = b"".join(encode_entry(entry) + b"\n" for entry in entries)
    return _checksum_line(manifest) + manifest


def _decode(store: Store, name: str) -> tuple[FileEntry, ...]:
    data = store.read(name)
    if not data.endswith(b"\n"):
        raise CorruptFile(store.locate(name), len(data), "the last line is cut off")
    if not data.startswith(_CHECKSUM):  # a record of an older version
        return tuple(read_manifest(data, store.locate(name)))
    line, manifest = data[:_CHECKSUM_BYTES], data[_CHECKSUM_BYTES:]
    if line != _checksum_line(manifest):
        raise CorruptFile(store.locate(name), 0, "the record does not fit its checksum")
    return tuple(read_manifest(manifest, store.locate(name)))


def _checksum_line(manifest: bytes) -> bytes:
    return b"%s%08x\n" % (_CHECKSUM, crc32(manifest))
