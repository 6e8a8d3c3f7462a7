"""The tables of captures: MapFiles from WebDB key to the captures of the URL.

    captures/<partition>/<round>-<attempt>/data, index

A partition has a few such tables (capture_tiers.py); a URL may have captures in each of them. A table has two
counters: its captures in archives of the store, and its captures in imported archives. The counter `captures`
of an archive is the number of its captures in the tables; archives that were written before there were tables
of captures lack this counter.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from crawlctl.pipeline.captures.capture_record import decode_captures, encode_captures, joined
from crawlctl.pipeline.errors import StoreError
from crawlctl.pipeline.formats.sequencefile.mapfile import MapFileReader, MapFileWriter
from crawlctl.pipeline.state.entry_source import EntrySource
from crawlctl.pipeline.state.kinds import CAPTURES, PAGES
from crawlctl.pipeline.state.layout import DATA, INDEX, KIND_KEY, data_name
from crawlctl.pipeline.state.manifest import file_entry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawlctl.pipeline.captures.capture_record import CaptureRecord
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store

    Row = tuple[bytes, list[CaptureRecord]]  # a WebDB key, and captures of its URL

# Counters of a table; LISTED is also a counter of archives.
LISTED, IMPORTED = "captures", "imported"
_BLOCK_BYTES = 64 << 10  # a look-up decompresses one block
_BATCH_ROWS = 512
_CAPTURE_MEMORY = 600  # measured: bytes of Python objects per capture in a run


@dataclass(frozen=True)
class CaptureTable:
    """The two files of a table."""

    data: FileEntry
    index: FileEntry

    @property
    def files(self) -> tuple[FileEntry, FileEntry]:
        """Both files, as a snapshot names them."""
        return self.data, self.index

    @property
    def captures(self) -> int:
        """The number of captures, by the counters."""
        return self.data.counters.get(LISTED, 0) + self.data.counters.get(IMPORTED, 0)

    def get(self, store: Store, key: bytes) -> list[CaptureRecord]:
        """Return the captures of a WebDB key, the oldest first."""
        data, index = EntrySource(store, self.data), EntrySource(store, self.index)
        value = MapFileReader(data, index, read_ahead=_BLOCK_BYTES).get(key)
        return [] if value is None else decode_captures(value, data.name)

    def rows(self, store: Store) -> Iterator[Row]:
        """Yield all rows in the order of their keys."""
        data, index = EntrySource(store, self.data), EntrySource(store, self.index)
        for block in MapFileReader(data, index).blocks():
            for key, value in zip(block.keys, block.values, strict=True):
                yield key, decode_captures(value, data.name, block.offset)


def tables_of(files: Iterable[FileEntry]) -> list[CaptureTable]:
    """Return the tables among some files."""
    pairs: defaultdict[str, dict[str, FileEntry]] = defaultdict(dict)
    for entry in files:
        if entry.kind == CAPTURES:
            folder, _, end = entry.name.rpartition("/")
            pairs[folder][end] = entry
    for folder, pair in pairs.items():
        if set(pair) != {DATA, INDEX}:
            raise StoreError(
                f"{folder}: the snapshot names {', '.join(sorted(pair))} and not {DATA} and {INDEX}; "
                "`crawlctl check --repair` rebuilds it"
            )
    return [CaptureTable(pair[DATA], pair[INDEX]) for pair in pairs.values()]


def write_captures(
    store: Store, rows: Iterable[Row], *, partition: int, round_number: int
) -> tuple[FileEntry, ...]:
    """Write rows, given in key order, as a table; without rows no files are written."""
    rows = iter(rows)
    first = next(rows, None)
    if first is None:
        return ()
    name, counts = data_name(CAPTURES, partition, round_number), Counter({LISTED: 0, IMPORTED: 0})
    with (
        store.write(f"{name}/{DATA}") as data,
        store.write(f"{name}/{INDEX}") as index,
        MapFileWriter(data, index, metadata={KIND_KEY: CAPTURES}, block_bytes=_BLOCK_BYTES) as table,
    ):
        for keys, values in _packed(chain((first,), rows), counts):
            table.extend(keys, values)
    # The index file counts 0 records, so that the sum of the records of all files of a kind is right.
    return (
        file_entry(data, CAPTURES, partition, table.records, dict(counts)),
        file_entry(index, CAPTURES, partition),
    )


def _packed(rows: Iterable[Row], counts: Counter[str]) -> Iterator[tuple[list[bytes], list[bytes]]]:
    """Yield batches of keys and packed captures, and count the captures."""
    keys: list[bytes] = []
    values: list[bytes] = []
    for key, captures in rows:
        imported = sum(capture.is_imported for capture in captures)
        counts[IMPORTED] += imported
        counts[LISTED] += len(captures) - imported
        keys.append(key)
        values.append(encode_captures(captures))
        if len(keys) == _BATCH_ROWS:
            yield keys, values
            keys, values = [], []
    if keys:
        yield keys, values


class RunCaptures:
    """The captures of one run of the fetch task, held in memory until the run is written."""

    def __init__(self) -> None:
        self.count = 0
        self._of_key: defaultdict[bytes, list[CaptureRecord]] = defaultdict(list)

    @property
    def memory(self) -> int:
        """An estimate of the bytes of memory that the captures take."""
        return self.count * _CAPTURE_MEMORY

    def add(self, key: bytes, capture: CaptureRecord) -> None:
        """Add a capture of the URL with a WebDB key."""
        self._of_key[key].append(capture)
        self.count += 1

    def write(self, store: Store, *, partition: int, round_number: int) -> tuple[FileEntry, ...]:
        """Write the table of the run and forget the captures; without captures no files are written."""
        rows = ((key, joined(self._of_key[key])) for key in sorted(self._of_key))
        files = write_captures(store, rows, partition=partition, round_number=round_number)
        self._of_key.clear()
        self.count = 0
        return files


def unlisted_archives(files: Iterable[FileEntry]) -> list[FileEntry]:
    """Return the archives among `files` whose captures are not in the tables."""
    return [entry for entry in files if entry.kind == PAGES and LISTED not in entry.counters]
