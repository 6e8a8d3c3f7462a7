"""The columns of a segment: numbers of each document, by ordinal.

    head      8 bytes that name the format, and the number of documents (4 bytes, little-endian)
    columns   all of COLUMNS one after the other: one number per document, little-endian
    hosts     the number of hosts, the first ordinal of each (4 bytes), and their names, a newline between two

Each column and the hosts are followed by their CRC-32. The offset of a column follows from the number of
documents, which is in the manifest, so one ranged read is enough for a column, or for one of its numbers. A
new column needs a new name of the format (_MAGIC), and a reader that still knows the columns of the old
format.
"""

from __future__ import annotations

import sys
from array import array
from struct import Struct
from typing import TYPE_CHECKING, Literal, NamedTuple
from zlib import crc32

from crawlctl.pipeline.errors import CorruptFile

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from crawlctl.pipeline.formats.source import RangedSource

COLUMNS = {
    "hashes": 8,  # stable_hash of the URL
    "rows": 4,  # the row of the document in docs and links
    "fetched": 4,  # seconds since 1970
    "modified": 4,  # the latest date of the page (DocHead), seconds since 1970; 0 if unknown
    "body": 4,  # the field lengths: words in each field …
    "heading": 4,
    "title": 4,
    "url": 4,
    "anchor": 4,
    "anchors": 4,  # CRC-32 of the anchors that were indexed
    "languages": 4,  # the letters of the language code
    "flags": 1,  # NOT_FETCHED, and in the bits above the quality of the page (index/static_quality.py)
    "characters": 4,  # how many characters the URL has
    "explicit": 1,  # how explicit the page is (text/words/explicit.py); not in files of the first format
}
NOT_FETCHED = 1  # the flag of pages of the frontier

_MAGIC = b"CRWLCOL2"
_FIRST_MAGIC = b"CRWLCOL1"
_ADDED = ("explicit",)  # columns that the first format lacks; in its files all these numbers are 0
_HEAD = Struct("<8sI")
_NUMBER = Struct("<I")
_CODES: dict[int, Literal["B", "I", "Q"]] = {1: "B", 4: "I", 8: "Q"}


class Hosts(NamedTuple):
    """The hosts of a segment in byte order; the documents of a host end where the next host begins."""

    names: list[bytes]
    firsts: Sequence[int]

    def bounds(self, index: int, documents: int) -> tuple[int, int]:
        """Return the first ordinal of the host at an index, and the ordinal behind its last."""
        after = self.firsts[index + 1] if index + 1 < len(self.names) else documents
        return self.firsts[index], after


def encode_columns(
    columns: Mapping[str, bytes | memoryview], hosts: Sequence[tuple[bytes, int]], documents: int
) -> Iterator[bytes | memoryview]:
    """Yield the bytes of the file, column by column.

    `columns` are little-endian, `hosts` have first ordinals.
    """
    yield _HEAD.pack(_MAGIC, documents)
    for name, width in COLUMNS.items():
        if len(columns[name]) != width * documents:
            raise ValueError(f"the column {name} has not {width} bytes for each of {documents} documents")
        yield columns[name]
        yield _NUMBER.pack(crc32(columns[name]))
    firsts = b"".join([_NUMBER.pack(first) for _, first in hosts])
    table = _NUMBER.pack(len(hosts)) + firsts + b"\n".join([host for host, _ in hosts])
    yield table
    yield _NUMBER.pack(crc32(table))


class ColumnReader:
    """Reads the columns of a segment of `documents` documents; raises CorruptFile on damage."""

    def __init__(self, source: RangedSource, documents: int) -> None:
        self.documents = documents
        self._source = source
        self._starts = {}
        self._is_first: bool | None = None
        at = _HEAD.size
        for name, width in COLUMNS.items():
            self._starts[name] = at
            at += width * documents + _NUMBER.size
        self._end = at

    def raw(self, name: str) -> bytes:
        """Return a whole column as its little-endian bytes."""
        if name in _ADDED and self._is_of_first_format():
            return bytes(COLUMNS[name] * self.documents)
        return self._sound(self._starts[name], COLUMNS[name] * self.documents)

    def column(self, name: str) -> Sequence[int]:
        """Return a whole column."""
        return _numbers(self.raw(name), COLUMNS[name])

    def number(self, name: str, ordinal: int) -> int:
        """Return the number of one document; reads nothing else."""
        if not 0 <= ordinal < self.documents:
            raise self._corrupt(self._starts[name], f"no document {ordinal} among {self.documents}")
        if name in _ADDED and self._is_of_first_format():
            return 0
        width = COLUMNS[name]
        return int.from_bytes(self._read(self._starts[name] + width * ordinal, width), "little")

    def hosts(self) -> Hosts:
        """Return the table of hosts."""
        start = self._starts[_ADDED[0]] if self._is_of_first_format() else self._end
        length = self._source.size - start - _NUMBER.size
        data = self._sound(start, max(length, _NUMBER.size))  # reads at least the number of hosts
        count = _NUMBER.unpack_from(data)[0]
        names_at = _NUMBER.size * (1 + count)
        names = data[names_at:].split(b"\n") if count else []
        if len(names) != count:
            raise self._corrupt(start, f"{len(names)} hosts where {count} are announced")
        return Hosts(names, _numbers(data[_NUMBER.size : names_at], _NUMBER.size))

    def check(self) -> None:
        """Raise CorruptFile unless the file begins as columns of this number of documents do."""
        head = self._read(0, _HEAD.size)
        if head not in (_HEAD.pack(magic, self.documents) for magic in (_MAGIC, _FIRST_MAGIC)):
            raise self._corrupt(0, f"it does not begin like the columns of {self.documents} documents")
        self._is_first = head.startswith(_FIRST_MAGIC)

    def _is_of_first_format(self) -> bool:
        if self._is_first is None:
            self.check()
        return bool(self._is_first)

    def _sound(self, start: int, length: int) -> bytes:
        stored = self._read(start, length + _NUMBER.size)
        data = stored[:length]
        if _NUMBER.pack(crc32(data)) != stored[length:]:
            raise self._corrupt(start, "a checksum does not fit")
        return data

    def _read(self, start: int, length: int) -> bytes:
        data = self._source.read(start, length) if length > 0 else b""
        if len(data) != length:
            raise self._corrupt(start, f"{length} bytes should be there and {len(data)} are")
        return data

    def _corrupt(self, offset: int, reason: str) -> CorruptFile:
        return CorruptFile(self._source.name, offset, reason)


def _numbers(data: bytes, width: int) -> Sequence[int]:
    if sys.byteorder == "little":
        return memoryview(data).cast(_CODES[width])
    swapped = array(_CODES[width], data)
    swapped.byteswap()
    return swapped


def pack_language(language: str) -> int:
    """Return the code of a language, up to four letters, as a number."""
    return int.from_bytes(language.encode("ascii", "ignore")[:4], "little")


def unpack_language(number: int) -> str:
    """Return the language code that `pack_language` was given."""
    return number.to_bytes(4, "little").rstrip(b"\0").decode("ascii", "replace")
