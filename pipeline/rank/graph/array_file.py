"""Files of flat arrays: what ranking keeps in a store.

    head    8 bytes that say what this is, and the length of the directory (4 bytes, little-endian)
    directory   JSON: what the writer wants to be known, and name, type and length of each array
    arrays  one after the other, little-endian, each at a multiple of 8 bytes

An array, or a part of one, is one ranged read. The file lies in pages with checksums (paged_file.py): isal
computes them ten times as fast as zlib those of numpy's .npz, which cost more than a product with the matrix.
Older files lie plain, and begin with another head.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.formats.paged_file import LARGE_PAGE_BYTES, PagedSource, PageWriter
from crawlctl.pipeline.state.kinds import GRAPH
from crawlctl.pipeline.state.layout import data_name
from crawlctl.pipeline.state.manifest import FileEntry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from crawlctl.pipeline.formats.source import RangedSource
    from crawlctl.pipeline.store.base import Store


_PLAIN = b"CRWLARR1"
_MAGIC = b"CRWLARR2"  # in pages
_HEAD = len(_MAGIC) + 4
_ALIGNMENT = 8


class Place(NamedTuple):
    """Where an array lies: its type as numpy writes it, its first byte, and how many numbers it has."""

    dtype: str
    offset: int
    length: int


class _Directory(msgspec.Struct):
    facts: dict[str, Any]
    arrays: list[tuple[str, str, int]]


def write_arrays(
    store: Store,
    arrays: Mapping[str, NDArray[Any]],
    *,
    partition: int,
    round_number: int,
    kind: str = GRAPH,
    suffix: str = "",
    records: int = 0,
    facts: Mapping[str, Any] | None = None,
    counters: Mapping[str, int] | None = None,
) -> FileEntry:
    """Write arrays as one new file; `facts` are kept in it as JSON, `counters` in its entry."""
    plain = {name: np.ascontiguousarray(array, _little(array.dtype)) for name, array in arrays.items()}
    listed = [(name, array.dtype.str, len(array)) for name, array in plain.items()]
    directory = msgspec.json.encode(_Directory(dict(facts or {}), listed))
    name = data_name(kind, partition, round_number, suffix)
    with store.write(name) as sink, PageWriter(sink, LARGE_PAGE_BYTES) as pages:
        pages.write(_MAGIC + len(directory).to_bytes(4, "little") + directory)
        for array in plain.values():
            pages.write(bytes(-pages.bytes % _ALIGNMENT))
            pages.write(array.view(np.uint8).data)
    return FileEntry(kind, partition, sink.name, sink.bytes, records, sink.checksum, dict(counters or {}))


def _little(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return dtype.newbyteorder("<") if dtype.itemsize > 1 else dtype


class ArrayFile:
    """A file of arrays as it is read; one that is not what manifest and directory say is a CorruptFile."""

    def __init__(self, store: Store, entry: FileEntry) -> None:
        self.name = store.locate(entry.name)
        stored = store.open(entry.name)
        if stored.size != entry.bytes:
            raise self._corrupt(stored.size, f"it has {stored.size} bytes and had {entry.bytes}")
        self._source = self._checked(stored)
        head = self._source.read(0, _HEAD)
        length = int.from_bytes(head[len(_MAGIC) :], "little")
        try:
            directory = msgspec.json.decode(self._source.read(_HEAD, length), type=_Directory)
        except (msgspec.DecodeError, UnicodeDecodeError) as err:
            raise self._corrupt(_HEAD, f"no directory of arrays ({err})") from err
        self.facts = directory.facts
        self.places = self._find(directory, _HEAD + length)

    def _checked(self, stored: RangedSource) -> RangedSource:
        """Return the file without the checksums of its pages, if it has any."""
        magic = stored.read(0, _HEAD)[: len(_MAGIC)]
        if stored.size < _HEAD or magic not in (_MAGIC, _PLAIN):
            raise self._corrupt(0, "it does not begin like a file of arrays")
        return PagedSource(stored, LARGE_PAGE_BYTES) if magic == _MAGIC else stored

    def _find(self, directory: _Directory, end: int) -> dict[str, Place]:
        places = {}
        for name, dtype, count in directory.arrays:
            offset = end + -end % _ALIGNMENT
            try:
                end = offset + np.dtype(dtype).itemsize * count
            except TypeError as err:
                raise self._corrupt(_HEAD, f"no type of numbers is called {dtype!r}") from err
            places[name] = Place(dtype, offset, count)
        if end != self._source.size:
            raise self._corrupt(end, f"the arrays should end at byte {end}")
        return places

    def read(self, name: str, start: int = 0, stop: int | None = None) -> NDArray[Any]:
        """Return an array or a range of it; an array nobody wrote is empty."""
        place = self.places.get(name, Place("<u4", 0, 0))
        start, stop, _ = slice(start, stop).indices(place.length)
        dtype = np.dtype(place.dtype)
        length = max(stop - start, 0) * dtype.itemsize
        data = self._source.read(place.offset + start * dtype.itemsize, length) if length else b""
        if len(data) != length:
            raise self._corrupt(place.offset, f"{length} bytes should be there and {len(data)} are")
        return np.frombuffer(data, dtype)

    def _corrupt(self, offset: int, reason: str) -> CorruptFile:
        return CorruptFile(self.name, offset, reason)
