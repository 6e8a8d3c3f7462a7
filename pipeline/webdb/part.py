"""The part of the WebDB of one partition: one or more layers (layers/layer.py), which are read as one table.

A layer is a MapFile, which is two files of a store, and an extract beside it (extract/extract_file.py).
"""

from __future__ import annotations

from contextlib import nullcontext
from itertools import chain
from typing import TYPE_CHECKING

from msgspec.structs import replace

from crawlctl.pipeline.formats.sequencefile.mapfile import MapFileReader, MapFileWriter
from crawlctl.pipeline.state.kinds import WEBDB
from crawlctl.pipeline.state.layout import DATA, EXTRACT, INDEX, KIND_KEY, data_name
from crawlctl.pipeline.state.manifest import FileEntry, file_entry
from crawlctl.pipeline.urls.hosts import host_of, key_bounds, partition_of, url_of_key, webdb_key
from crawlctl.pipeline.webdb.census import Census
from crawlctl.pipeline.webdb.layers.layer import LAYER, ROWS, SINCE, Layer, layers_of
from crawlctl.pipeline.webdb.layers.overlay import overlaid
from crawlctl.pipeline.webdb.packed import leading_fields
from crawlctl.pipeline.webdb.records import WebEntry, decode_entry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from crawlctl.pipeline.formats.sequencefile.block_body import Block
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.webdb.extract.extract_file import ExtractBuilder
    from crawlctl.pipeline.webdb.records import Rows

# A block of a layer has about a thousand rows: a round inflates a block for each row that it reads.
BLOCK_BYTES = 128 << 10
_HELD_BLOCKS = 32


class WebDbPart:
    """Reads a part.

    It keeps the index of each layer, the block of each layer in which a key was looked up last, and the last
    32 blocks that were asked for by their number.
    """

    def __init__(self, store: Store, layers: Sequence[Layer]) -> None:
        self.name = _name(store, layers)  # used in error messages
        self.store = store
        self.layers = tuple(layers)  # the oldest first
        self._rows = [
            MapFileReader(store.open(layer.data.name), store.open(layer.index.name)) for layer in layers
        ]
        self._held: dict[tuple[int, int], Block] = {}  # whole blocks by layer and number

    @property
    def urls(self) -> int:
        """The number of URLs."""
        return sum(layer.data.records for layer in self.layers)

    def blocks(self) -> Iterator[Block]:
        """Yield all rows in key order, in batches."""
        return overlaid([layer.blocks() for layer in self._rows])

    def block(self, layer: int, number: int) -> Block:
        """Return the block `number` of the layer `layer`; the last blocks are kept."""
        found = self._held.get((layer, number))
        if found is None:
            if len(self._held) >= _HELD_BLOCKS:
                del self._held[next(iter(self._held))]
            found = self._held[layer, number] = self._rows[layer].block_number(number)
        return found

    def packed_in(self, layer: int, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return the packed entries of those keys that one layer has; the keys must rise."""
        return self._rows[layer].get_all(keys)

    def packed(self, key: bytes) -> bytes | None:
        """Return the packed entry of a WebDB key, None if the part does not have it."""
        found = (layer.get(key) for layer in reversed(self._rows))
        return next((value for value in found if value is not None), None)

    def get(self, key: bytes) -> WebEntry | None:
        """Return the entry of a WebDB key, None if the part does not have it."""
        value = self.packed(key)
        return None if value is None else decode_entry(value, self.name)

    def of_host(self, host: str) -> Iterator[tuple[bytes, bytes]]:
        """Yield the keys and packed entries of a host."""
        bounds = key_bounds(host.encode("ascii"))
        for block in overlaid([layer.ranged_blocks(*bounds) for layer in self._rows]):
            yield from zip(block.keys, block.values, strict=True)

    def has_host(self, host: bytes) -> bool:
        """Return whether the part has a URL of a host."""
        start, stop = key_bounds(host)
        found = (layer.key_from(start) for layer in self._rows)
        return any(key is not None and key < stop for key in found)

    def seeds_of(self, host: str) -> int:
        """Return the number of seeds of a host."""
        return sum(leading_fields(value, self.name).depth == 0 for _, value in self.of_host(host))

    def __iter__(self) -> Iterator[tuple[str, WebEntry]]:
        for block in self.blocks():
            for key, value in zip(block.keys, block.values, strict=True):
                yield url_of_key(key), decode_entry(value, self.name, block.offset)


def _name(store: Store, layers: Sequence[Layer]) -> str:
    """Return the name of the data file; if the part has several layers, the name of their folder."""
    if not layers:
        return WEBDB
    name = layers[0].data.name
    return store.locate(name if len(layers) == 1 else name.rsplit("/", 2)[0])


class PartRows:
    """The rows of a partition for as long as a task works on it; a partition without a part has no rows.

    A look-up of a key or host may wait for the store. It runs inside `own_work`, a context manager of the
    caller, which tells the caller's watchdog that the task is busy.
    """

    def __init__(
        self,
        store: Store,
        snapshot: Snapshot,
        partition: int,
        own_work: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self.own_work = own_work
        self._part = open_part(store, snapshot, partition)
        self.records = sum(entry.records for entry in snapshot.files_of(WEBDB, partition))
        self.name = self._part.name if self._part else WEBDB

    @property
    def part(self) -> WebDbPart | None:
        """The part of the partition."""
        return self._part

    def blocks(self) -> Iterator[Block]:
        """Return all rows, many at a time."""
        return iter(()) if self._part is None else self._part.blocks()

    def of_host(self, host: str) -> Iterator[tuple[bytes, bytes]]:
        """Yield the keys and packed entries of a host."""
        if self._part is not None:
            with self.own_work():
                yield from self._part.of_host(host)

    def get(self, key: bytes) -> bytes | None:
        """Return the packed entry of a key."""
        with self.own_work():
            return None if self._part is None else self._part.packed(key)


def open_part(store: Store, snapshot: Snapshot, partition: int) -> WebDbPart | None:
    """Return the part of a partition, None if the partition has no URLs yet."""
    return part_in(store, snapshot.files_of(WEBDB, partition))


def part_in(store: Store, files: Iterable[FileEntry]) -> WebDbPart | None:
    """Return the part among the files of one partition, None if there is none."""
    layers = layers_of(files, store.uri)
    return WebDbPart(store, layers) if layers else None


def scan(store: Store, snapshot: Snapshot, partition: int) -> Iterator[tuple[str, WebEntry]]:
    """Yield the URLs of a partition with their entries, sorted by host and URL."""
    part = open_part(store, snapshot, partition)
    return iter(()) if part is None else iter(part)


def lookup(store: Store, snapshot: Snapshot, url: str) -> WebEntry | None:
    """Return the entry of a canonical URL, None if the crawl does not know it."""
    part = open_part(store, snapshot, partition_of(host_of(url), snapshot.partitions))
    return None if part is None else part.get(webdb_key(url))


def write_part(
    store: Store,
    blocks: Iterable[Rows],
    *,
    partition: int,
    round_number: int,
    number: int = 1,
    unsettled: Iterable[bytes] | None = None,
) -> tuple[FileEntry, ...]:
    """Write rows, given in key order, as the only layer of a part; without rows no files are written.

    `number` is the number of the layer. If the index must read the rows again, it is greater than the numbers
    of all old layers; otherwise it is the greatest of these numbers. `unsettled` are the keys of the pages
    that the next review looks at again; None means all pages.
    """
    from crawlctl.pipeline.webdb.extract.extract_file import ExtractBuilder

    census, extract = Census(), ExtractBuilder()
    if unsettled is not None:
        extract.leave_unsettled(unsettled)
    rows = _counted(blocks, census, extract)
    layer = write_layer(store, rows, extract, partition=partition, round_number=round_number)
    if layer is None:
        return ()
    own = {ROWS: layer.data.records, LAYER: number, SINCE: 0}
    return replace(layer, data=replace(layer.data, counters=own | census.counters())).files


def _counted(blocks: Iterable[Rows], census: Census, extract: ExtractBuilder) -> Iterator[Rows]:
    for keys, values in blocks:
        census.add(keys, values)
        extract.add(keys, values)
        yield keys, values


def write_layer(
    store: Store,
    blocks: Iterable[Rows],
    extract: ExtractBuilder | None,
    *,
    partition: int,
    round_number: int,
) -> Layer | None:
    """Write rows, given in key order, as a layer without counters; return None if there are no rows.

    `extract` is filled while `blocks` is read. If it is None, the layer gets no extract.
    """
    rows = iter(blocks)
    first = next(rows, None)
    if first is None:
        return None
    name = data_name(WEBDB, partition, round_number)
    with (
        store.write(f"{name}/{DATA}") as data,
        store.write(f"{name}/{INDEX}") as index,
        MapFileWriter(data, index, metadata={KIND_KEY: WEBDB}, block_bytes=BLOCK_BYTES) as layer,
    ):
        for keys, values in chain((first,), rows):
            layer.extend(keys, values)
    # Only the data file counts records, so that the sum of the records of all files of a kind is right.
    written = Layer(file_entry(data, WEBDB, partition, layer.records), file_entry(index, WEBDB, partition))
    if extract is None:
        return written
    return replace(written, extract=extract.write(store, f"{name}/{EXTRACT}", partition, layer.block_ends))


def with_parts(snapshot: Snapshot, parts: Iterable[FileEntry]) -> tuple[FileEntry, ...]:
    """Return the files of a snapshot, with new files instead of old files of the same kind and partition."""
    new = tuple(parts)
    replaced = {(entry.kind, entry.partition) for entry in new}
    kept = (entry for entry in snapshot.files if (entry.kind, entry.partition) not in replaced)
    return (*kept, *new)
