"""Opens the files that `crawlctl dump` shows: the files of a table, or any file of records."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from crawlctl.pipeline.errors import MissingFile
from crawlctl.pipeline.formats.sequencefile.sequencefile import SequenceFileReader
from crawlctl.pipeline.formats.source import PathSource
from crawlctl.pipeline.index.runs.run_files import HEADS
from crawlctl.pipeline.index.words.word_table import WORDS
from crawlctl.pipeline.state.entry_source import EntrySource
from crawlctl.pipeline.state.kinds import SEGMENTS, WEBDB
from crawlctl.pipeline.state.layout import DATA, EXTRACT, INDEX
from crawlctl.pipeline.store.open import open_store
from crawlctl.pipeline.webdb.part import open_part

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.formats.sequencefile.header import Header
    from crawlctl.pipeline.formats.source import RangedSource
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.webdb.part import WebDbPart

# Files of a table that are no SequenceFiles, or hold no records of it.
_NO_RECORDS = tuple(f"/{name}" for name in (INDEX, EXTRACT, HEADS, WORDS))
_SEGMENT_TABLES = ("docs", "links", "terms")  # tables that are also files of each segment


class Records(Protocol):
    """Keys and values of one table, and the header that says how to decode them; `name` is for errors."""

    name: str

    @property
    def header(self) -> Header:
        """The header of the file; for a WebDB part the header of its oldest layer."""

    def __iter__(self) -> Iterator[tuple[bytes, bytes]]: ...


class _PartRecords:
    """The rows of a WebDB part; its layers are no tables of their own."""

    def __init__(self, store: Store, part: WebDbPart) -> None:
        self.name = part.name
        self.header = SequenceFileReader(EntrySource(store, part.layers[0].data)).header
        self._part = part

    def __iter__(self) -> Iterator[tuple[bytes, bytes]]:
        for block in self._part.blocks():
            yield from zip(block.keys, block.values, strict=True)


def open_table(store: Store, snapshot: Snapshot, table: str, partition: int | None) -> Iterator[Records]:
    """Yield the files of a table, of one partition or of all: in runs, and in segments."""
    if table == WEBDB:
        for number in sorted({entry.partition for entry in snapshot.files_of(WEBDB, partition)}):
            if part := open_part(store, snapshot, number):
                yield _PartRecords(store, part)
        return
    of_segments = (f"/{table}", f"/{table}/{DATA}") if table in _SEGMENT_TABLES else ()
    for entry in snapshot.files_of(table, partition):
        if not entry.name.endswith(_NO_RECORDS):
            yield SequenceFileReader(EntrySource(store, entry))
    for entry in snapshot.files_of(SEGMENTS, partition):
        if entry.name.endswith(of_segments):
            yield SequenceFileReader(EntrySource(store, entry))


def open_file(target: str) -> SequenceFileReader:
    """Open a SequenceFile, or a MapFile by its folder, by path or URI."""
    return SequenceFileReader(_remote_source(target) if "://" in target else _local_source(Path(target)))


def _local_source(path: Path) -> RangedSource:
    return PathSource(path / DATA if path.is_dir() else path)


def _remote_source(uri: str) -> RangedSource:
    folder, _, name = uri.rstrip("/").rpartition("/")
    store = open_store(folder)
    try:
        return store.open(name)
    except MissingFile:
        return store.open(f"{name}/{DATA}")
