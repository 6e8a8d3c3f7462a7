"""Files of flat arrays: every array, and every slice of one, is one ranged read.

    head        8 bytes of magic, and the length of the directory (4 bytes, little-endian)
    directory   JSON: facts that the writer adds, and name, type and length of each array
    arrays      one after the other, little-endian, each at a multiple of 8 bytes

The file is written in pages with checksums (paged_file.py). isal computes these ten times as fast as zlib
computes those of numpy's .npz, which would take longer than a product with a matrix. Older files have no
pages and begin with another magic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.formats.paged_file import LARGE_PAGE_BYTES, PagedSource, PageWriter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from crawlctl.pipeline.formats.paged_file import Sink
    from crawlctl.pipeline.formats.source import RangedSource

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


def write_flat_arrays(
    sink: Sink, arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any] | None = None
) -> None:
    """Write arrays to a sink, which stays open; `facts` are kept in the file as JSON."""
    plain = {name: np.ascontiguousarray(array, _little(array.dtype)) for name, array in arrays.items()}
    listed = [(name, array.dtype.str, len(array)) for name, array in plain.items()]
    directory = msgspec.json.encode(_Directory(dict(facts or {}), listed))
    with PageWriter(sink, LARGE_PAGE_BYTES) as pages:
        pages.write(_MAGIC + len(directory).to_bytes(4, "little") + directory)
        for array in plain.values():
            pages.write(bytes(-pages.bytes % _ALIGNMENT))
            pages.write(array.view(np.uint8).data)


def _little(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return dtype.newbyteorder("<") if dtype.itemsize > 1 else dtype


class FlatArrays:
    """Reads a file of arrays; it holds the directory of the file.

    A file that does not fit its directory is a CorruptFile; errors call the file `name`.
    """

    def __init__(self, stored: RangedSource, name: str) -> None:
        self.name = name
        self._source = self._checked(stored)
        head = self._source.read(0, _HEAD)
        length = int.from_bytes(head[len(_MAGIC) :], "little")
        try:
            directory = msgspec.json.decode(self._source.read(_HEAD, length), type=_Directory)
        except (msgspec.DecodeError, UnicodeDecodeError) as err:
            raise self.corrupt(_HEAD, f"no directory of arrays ({err})") from err
        self.facts = directory.facts
        self._locations = self._find(directory, _HEAD + length)

    def _checked(self, stored: RangedSource) -> RangedSource:
        """Return the file without the checksums of its pages, if it has pages."""
        magic = stored.read(0, _HEAD)[: len(_MAGIC)]
        if stored.size < _HEAD or magic not in (_MAGIC, _PLAIN):
            raise self.corrupt(0, "it does not begin like a file of arrays")
        return PagedSource(stored, LARGE_PAGE_BYTES) if magic == _MAGIC else stored

    def _find(self, directory: _Directory, end: int) -> dict[str, ArrayLocation]:
        locations = {}
        for name, dtype, count in directory.arrays:
            offset = end + -end % _ALIGNMENT
            try:
                end = offset + np.dtype(dtype).itemsize * count
            except TypeError as err:
                raise self.corrupt(_HEAD, f"no type of numbers is called {dtype!r}") from err
            locations[name] = ArrayLocation(dtype, offset, count)
        if end != self._source.size:
            raise self.corrupt(end, f"the arrays should end at byte {end}")
        return locations

    def length(self, name: str) -> int:
        """Return how many numbers an array has; 0 for an array that is not in the file."""
        return self._locations[name].length if name in self._locations else 0

    def read(self, name: str, start: int = 0, stop: int | None = None) -> NDArray[Any]:
        """Return an array or a slice of it; an array that is not in the file is empty."""
        location = self._locations.get(name, ArrayLocation("<u4", 0, 0))
        start, stop, _ = slice(start, stop).indices(location.length)
        dtype = np.dtype(location.dtype)
        length = max(stop - start, 0) * dtype.itemsize
        data = self._source.read(location.offset + start * dtype.itemsize, length) if length else b""
        if len(data) != length:
            raise self.corrupt(location.offset, f"{length} bytes should be there and {len(data)} are")
        return np.frombuffer(data, dtype)

    def corrupt(self, offset: int, reason: str) -> CorruptFile:
        """Return the error that the file is damaged at an offset."""
        return CorruptFile(self.name, offset, reason)
