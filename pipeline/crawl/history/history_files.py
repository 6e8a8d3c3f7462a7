"""The files of the history: each commit adds its row, and the snapshot keeps all rows for ever.

Files of a snapshot never change, so a row is a new file. Sixteen files of about the same length are joined
into one file: 16 files of 1 row into one file of 16 rows, 16 files of 16 rows into one of 256, and so on. So
a snapshot has at most 15 files per power of 16 (60 files for 65,535 commits), and each row is written again
only once per power.

Each snapshot names all files of the history. So `crawlctl gc` deletes old snapshots but not the history, and
a round that was killed and resumed has one row, because it has one commit.
"""

from __future__ import annotations

from contextlib import suppress
from hashlib import sha256
from itertools import chain
from typing import TYPE_CHECKING

from crawlctl.pipeline.crawl.history.history_row import decode_rows, encode_rows, sound_rows
from crawlctl.pipeline.errors import CorruptFile, MissingFile
from crawlctl.pipeline.state.kinds import HISTORY
from crawlctl.pipeline.state.layout import data_name
from crawlctl.pipeline.state.manifest import file_entry
from crawlctl.pipeline.store.parallel_reads import ParallelReads

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crawlctl.pipeline.crawl.history.history_row import HistoryRow
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store

JOINED = 16  # how many files of one size class become one file


def with_row(store: Store, files: Sequence[FileEntry], row: HistoryRow) -> tuple[FileEntry, ...]:
    """Return the files of a snapshot, with one row added to its history."""
    old, rows = list(history_of(files)), [row]
    while len(equals := [entry for entry in old if _size_class(entry.records) == _size_class(len(rows))]) >= (
        JOINED - 1
    ):
        sound = _sound_tables(store, equals)
        if len(sound) < JOINED - 1:
            break
        rows = [*chain.from_iterable(sound.values()), *rows]
        old = [entry for entry in old if entry.name not in sound]
    others = (entry for entry in files if entry.kind != HISTORY)
    return (*others, *old, _write(store, rows))


def _sound_tables(store: Store, entries: Iterable[FileEntry]) -> dict[str, list[HistoryRow]]:
    """Return the rows of each file that can be read, by its name.

    A damaged file is left out and stays as it is: it must neither stop a crawl nor keep other files from
    being joined.
    """
    sound: dict[str, list[HistoryRow]] = {}
    for entry in entries:
        with suppress(CorruptFile, MissingFile):
            sound[entry.name] = _read(store, entry)
    return sound


def with_history_of(files: Iterable[FileEntry], other: Iterable[FileEntry]) -> tuple[FileEntry, ...]:
    """Return the files of a snapshot with the history of another snapshot in place of its own."""
    return (*(entry for entry in files if entry.kind != HISTORY), *history_of(other))


def history_of(files: Iterable[FileEntry]) -> tuple[FileEntry, ...]:
    """Return the files of the history among the files of a snapshot."""
    return tuple(entry for entry in files if entry.kind == HISTORY)


def read_history(store: Store, files: Iterable[FileEntry]) -> list[HistoryRow]:
    """Return all rows of a crawl, the oldest first."""
    reads = ParallelReads(remote="://" in store.uri)
    try:
        tables = reads.map(lambda entry: _read(store, entry), history_of(files))
    finally:
        reads.close()
    return sorted(chain.from_iterable(tables), key=lambda row: row.snapshot)


def readable_history(store: Store, files: Iterable[FileEntry]) -> list[HistoryRow]:
    """Return the rows of all files that can be read, the oldest first; damaged files are skipped."""
    tables = _sound_tables(store, history_of(files)).values()
    return sorted((row for rows in tables for row in rows), key=lambda row: row.snapshot)


def salvaged_history(
    store: Store, files: Iterable[FileEntry], sound: Iterable[FileEntry]
) -> tuple[tuple[FileEntry, ...], int]:
    """Write the sound rows of damaged files again; return the new file, if there is one, and the rows lost.

    `files` are the files of a snapshot, `sound` those among them that are not damaged.
    """
    kept = {entry.name for entry in sound}
    damaged = [entry for entry in history_of(files) if entry.name not in kept]
    rows: list[HistoryRow] = []
    for entry in damaged:
        with suppress(MissingFile):
            rows += sound_rows(store.read(entry.name))
    lost = sum(entry.records for entry in damaged) - len(rows)
    rows.sort(key=lambda row: row.snapshot)
    return ((_write(store, rows),) if rows else ()), lost


def _size_class(records: int) -> int:
    """Return the power of JOINED that a number of rows reaches: 0 for 1 to 15, 1 for 16 to 255."""
    reached = 0
    while records >= JOINED ** (reached + 1):
        reached += 1
    return reached


def _write(store: Store, rows: Sequence[HistoryRow]) -> FileEntry:
    with store.write(data_name(HISTORY, 0, rows[-1].round, ".jsonl")) as sink:
        sink.write(encode_rows(rows))
    return file_entry(sink, HISTORY, 0, len(rows))


def _read(store: Store, entry: FileEntry) -> list[HistoryRow]:
    data, name = store.read(entry.name), store.locate(entry.name)
    if sha256(data).hexdigest() != entry.checksum:
        raise CorruptFile(name, 0, "its SHA-256 is not the one in the snapshot")
    return decode_rows(data, name)
