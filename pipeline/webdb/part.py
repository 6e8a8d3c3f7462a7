"""The part of the WebDB of one partition: a MapFile, which is two files of a store."""

from __future__ import annotations

from contextlib import nullcontext
from itertools import chain
from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import StoreError
from crawlctl.pipeline.formats.sequencefile.mapfile import MapFileReader, MapFileWriter
from crawlctl.pipeline.state.kinds import WEBDB
from crawlctl.pipeline.state.layout import DATA, INDEX, KIND_KEY, data_name
from crawlctl.pipeline.state.manifest import FileEntry
from crawlctl.pipeline.urls.hosts import host_of, key_bounds, partition_of, url_of_key, webdb_key
from crawlctl.pipeline.webdb.census import Census
from crawlctl.pipeline.webdb.records import WebEntry, decode_entry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import AbstractContextManager

    from crawlctl.pipeline.formats.sequencefile.block_body import Block
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.store.writer import StoreWriter
    from crawlctl.pipeline.webdb.records import Rows


class WebDbPart:
    """Reads a part; it keeps the index of the part and the last block in which a key was looked up."""

    def __init__(self, store: Store, data: str, index: str) -> None:
        self.name = store.locate(data)  # for errors
        self._rows = MapFileReader(store.open(data), store.open(index))

    def blocks(self) -> Iterator[Block]:
        """Return all rows in key order as they are stored, many at a time."""
        return self._rows.blocks()

    def packed(self, key: bytes) -> bytes | None:
        """Return the packed entry of a WebDB key, None if the part does not have it."""
        return self._rows.get(key)

    def get(self, key: bytes) -> WebEntry | None:
        """Return the entry of a WebDB key, None if the part does not have it."""
        value = self.packed(key)
        return None if value is None else decode_entry(value, self.name)

    def of_host(self, host: str) -> Iterator[tuple[bytes, bytes]]:
        """Yield the keys and packed entries of a host."""
        return self._rows.range(*key_bounds(host.encode("ascii")))

    def __iter__(self) -> Iterator[tuple[str, WebEntry]]:
        for block in self.blocks():
            for key, value in zip(block.keys, block.values, strict=True):
                yield url_of_key(key), decode_entry(value, self.name, block.offset)


class PartRows:
    """The rows of a partition for as long as a task works on it; a partition without a part has no rows.

    A look at a single key or host may wait for the store. It happens within `own_work`, a context manager of
    the caller, which tells its watchdog that the task is busy.
    """

    def __init__(
        self,
        store: Store,
        snapshot: Snapshot,
        partition: int,
        own_work: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self._own_work = own_work
        self._part = open_part(store, snapshot, partition)
        self.records = sum(entry.records for entry in snapshot.files_of(WEBDB, partition))
        self.name = self._part.name if self._part else WEBDB

    def blocks(self) -> Iterator[Block]:
        """Return all rows, many at a time."""
        return iter(()) if self._part is None else self._part.blocks()

    def of_host(self, host: str) -> Iterator[tuple[bytes, bytes]]:
        """Yield the keys and packed entries of a host."""
        if self._part is not None:
            with self._own_work():
                yield from self._part.of_host(host)

    def get(self, key: bytes) -> bytes | None:
        """Return the packed entry of a key."""
        with self._own_work():
            return None if self._part is None else self._part.packed(key)


def open_part(store: Store, snapshot: Snapshot, partition: int) -> WebDbPart | None:
    """Return the part of a partition, None if the partition has no URLs yet."""
    return part_in(store, snapshot.files_of(WEBDB, partition))


def part_in(store: Store, files: Iterable[FileEntry]) -> WebDbPart | None:
    """Return the part among the files of one partition, None if there is none."""
    names = [entry.name for entry in files if entry.kind == WEBDB]
    if not names:
        return None
    ends = {name.rpartition("/")[2]: name for name in names}
    if len(names) != 2 or set(ends) != {DATA, INDEX}:
        raise StoreError(
            f"{store.uri}: the snapshot does not name one data and one index file for a partition of the "
            f"WebDB but {names}; `crawlctl check --repair` rebuilds it"
        )
    return WebDbPart(store, ends[DATA], ends[INDEX])


def scan(store: Store, snapshot: Snapshot, partition: int) -> Iterator[tuple[str, WebEntry]]:
    """Yield the URLs of a partition with their entries, sorted by host and URL."""
    part = open_part(store, snapshot, partition)
    return iter(()) if part is None else iter(part)


def lookup(store: Store, snapshot: Snapshot, url: str) -> WebEntry | None:
    """Return the entry of a canonical URL, None if the crawl does not know it."""
    part = open_part(store, snapshot, partition_of(host_of(url), snapshot.partitions))
    return None if part is None else part.get(webdb_key(url))


def write_part(
    store: Store, blocks: Iterable[Rows], *, partition: int, round_number: int
) -> tuple[FileEntry, ...]:
    """Write rows, which come in key order, as the part of a partition; without rows no files are written."""
    rows = iter(blocks)
    first = next(rows, None)
    if first is None:
        return ()
    name = data_name(WEBDB, partition, round_number)
    census = Census(name)
    with (
        store.write(f"{name}/{DATA}") as data,
        store.write(f"{name}/{INDEX}") as index,
        MapFileWriter(data, index, metadata={KIND_KEY: WEBDB}) as part,
    ):
        for keys, values in chain((first,), rows):
            census.add(keys, values)
            part.extend(keys, values)
    # The index counts no records, so that the records of all files of a kind can be added.
    return (
        _file_entry(data, partition, part.records, census.counters()),
        _file_entry(index, partition, 0, {}),
    )


def _file_entry(written: StoreWriter, partition: int, records: int, counters: dict[str, int]) -> FileEntry:
    return FileEntry(WEBDB, partition, written.name, written.bytes, records, written.checksum, counters)


def with_parts(snapshot: Snapshot, parts: Iterable[FileEntry]) -> tuple[FileEntry, ...]:
    """Return the files of a snapshot, with new files instead of old files of the same kind and partition."""
    new = tuple(parts)
    replaced = {(entry.kind, entry.partition) for entry in new}
    kept = (entry for entry in snapshot.files if (entry.kind, entry.partition) not in replaced)
    return (*kept, *new)
