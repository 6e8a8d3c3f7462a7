"""Files of flat arrays, the format of everything that a ranking keeps in the store.

    head        8 bytes of magic, and the length of the directory (4 bytes, little-endian)
    directory   JSON: facts that the writer adds, and name, type and length of each array
    arrays      one after the other, little-endian, each at a multiple of 8 bytes

An array, or a slice of one, is one ranged read. The file is written in pages with checksums
(formats/paged_file.py). isal computes these ten times as fast as zlib computes those of numpy's .npz, which
would take longer than a product with the matrix. Older files have no pages and begin with another magic.
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
_MAGIC = b"CRWLARR2"  # the first bytes of a file in pages
_HEAD = len(_MAGIC) + 4
_ALIGNMENT = 8


class ArrayLocation(NamedTuple):
    """Where an array lies: its type in the notation of numpy, its offset, and how many numbers it has."""

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
    """Reads a file of arrays; it holds the directory of the file.

    A file that does not fit its manifest or directory is a CorruptFile.
    """

    def __init__(self, store: Store, entry: FileEntry) -> None:
        self.name = store.locate(entry.name)
        stored = store.open(entry.name)
        if stored.size != entry.bytes:
            raise self._corrupt(stored.size, f"it has {stored.size} bytes instead of {entry.bytes}")
        self._source = self._checked(stored)
        head = self._source.read(0, _HEAD)
        length = int.from_bytes(head[len(_MAGIC) :], "little")
        try:
            directory = msgspec.json.decode(self._source.read(_HEAD, length), type=_Directory)
        except (msgspec.DecodeError, UnicodeDecodeError) as err:
            raise self._corrupt(_HEAD, f"no directory of arrays ({err})") from err
        self.facts = directory.facts
        self._locations = self._find(directory, _HEAD + length)

    def _checked(self, stored: RangedSource) -> RangedSource:
        """Return the file without the checksums of its pages, if it has pages."""
        magic = stored.read(0, _HEAD)[: len(_MAGIC)]
        if stored.size < _HEAD or magic not in (_MAGIC, _PLAIN):
            raise self._corrupt(0, "it does not begin like a file of arrays")
        return PagedSource(stored, LARGE_PAGE_BYTES) if magic == _MAGIC else stored

    def _find(self, directory: _Directory, end: int) -> dict[str, ArrayLocation]:
        locations = {}
        for name, dtype, count in directory.arrays:
            offset = end + -end % _ALIGNMENT
            try:
                end = offset + np.dtype(dtype).itemsize * count
            except TypeError as err:
                raise self._corrupt(_HEAD, f"no type of numbers is called {dtype!r}") from err
            locations[name] = ArrayLocation(dtype, offset, count)
        if end != self._source.size:
            raise self._corrupt(end, f"the arrays should end at byte {end}")
        return locations

    def read(self, name: str, start: int = 0, stop: int | None = None) -> NDArray[Any]:
        """Return an array or a slice of it; an array that is not in the file is empty."""
        location = self._locations.get(name, ArrayLocation("<u4", 0, 0))
        start, stop, _ = slice(start, stop).indices(location.length)
        dtype = np.dtype(location.dtype)
        length = max(stop - start, 0) * dtype.itemsize
        data = self._source.read(location.offset + start * dtype.itemsize, length) if length else b""
        if len(data) != length:
            raise self._corrupt(location.offset, f"{length} bytes should be there and {len(data)} are")
        return np.frombuffer(data, dtype)

    def _corrupt(self, offset: int, reason: str) -> CorruptFile:
        return CorruptFile(self.name, offset, reason)
