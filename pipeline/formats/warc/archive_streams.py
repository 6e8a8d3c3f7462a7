"""The inflated bytes of a web archive, whether gzip, Zstandard or plain.

In a compressed archive the records are compressed one by one. A Zstandard file may begin with the dictionary
that its records were compressed with, in a frame that other programs skip
(https://iipc.github.io/warc-specifications/specifications/warc-zstd/).

A member, below, is a gzip member or a Zstandard frame: one compressed stream that holds whole records.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

from isal import igzip_lib

from crawlctl.pipeline.errors import CorruptFile

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlctl.pipeline.formats.source import RangedSource

GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_DICTIONARY_MAGIC = b"\x5d\x2a\x4d\x18"
_FRAME_HEAD = 8  # bytes of the magic and the length of a frame that other programs skip
_MAX_DICTIONARY = 64 << 20
_READ_BYTES = 256 << 10  # bytes of the file that are read at once
PLAIN_BYTES = 64 << 10  # bytes of a plain archive that are read at once
MAX_HEADER = 256 << 10  # bytes; servers refuse URLs that are far shorter


def open_stream(source: RangedSource, start: int) -> Stream:
    """Return the plain bytes of an archive from the record at the offset `start` on."""
    magic = source.read(start, len(ZSTD_MAGIC))
    if magic.startswith(GZIP_MAGIC):
        return _CompressedStream(source, start, _gzip())
    if magic in (ZSTD_MAGIC, _DICTIONARY_MAGIC):
        dictionary, first = _dictionary(source)
        return _CompressedStream(source, max(start, first), _zstd(source.name, dictionary))
    return Stream(source, start)


class Stream:
    """The bytes of an archive without compression; `offset` is where the current record begins in the file.

    Holds one read of the file, or more if a header line is longer.
    """

    def __init__(self, source: RangedSource, start: int) -> None:
        self.name = source.name
        self.offset = start
        self._source = source
        self._raw_position = start
        self._buffer = b""
        self._at = 0

    def skip_blank_lines(self) -> bool:
        """Go to the next record; return False at the end of the file."""
        while True:
            while self._at < len(self._buffer):
                if self._buffer[self._at] not in b"\r\n":
                    self._begin_record()
                    return True
                self._at += 1
            if not self._fill(is_between_records=True):
                return False

    def line(self, limit: int) -> str:
        """Return the next line without its line end; a line longer than `limit` bytes is a CorruptFile."""
        while (end := self._buffer.find(b"\n", self._at)) < 0:
            if len(self._buffer) - self._at > limit:
                raise self._corrupt(f"a header is longer than {MAX_HEADER} bytes")
            self._require_more()
        line = self._buffer[self._at : end]
        self._at = end + 1
        return line.rstrip(b"\r").decode("utf-8", "replace")

    def take(self, size: int) -> bytes:
        """Return exactly the next `size` bytes."""
        taken = []
        while size:
            if self._at == len(self._buffer):
                self._require_more()
            data = self._buffer[self._at : self._at + size]
            self._at += len(data)
            size -= len(data)
            taken.append(data)
        return taken[0] if len(taken) == 1 else b"".join(taken)

    def _begin_record(self) -> None:
        self.offset = self._raw_position - len(self._buffer) + self._at

    def _require_more(self) -> None:
        if not self._fill(is_between_records=False):
            raise self._corrupt("the file ends within a record")

    def _fill(self, is_between_records: bool) -> bool:
        """Add bytes to the buffer; return False at the end of the file."""
        return self._add(self._read_raw())

    def _add(self, data: bytes) -> bool:
        self._buffer = self._buffer[self._at :] + data
        self._at = 0
        return bool(data)

    def _read_raw(self) -> bytes:
        data = self._source.read(self._raw_position, _READ_BYTES)
        self._raw_position += len(data)
        return data

    def _corrupt(self, reason: str) -> CorruptFile:
        return CorruptFile(self.name, self.offset, reason)


class _Decompressor(Protocol):
    """Inflates one member, with the interface of the decompressors of Python's bz2 and lzma."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int = -1, /) -> bytes: ...


class _Compression(NamedTuple):
    """How the members of a file are compressed."""

    decompressor: Callable[[], _Decompressor]  # makes a new one for the next member
    error: type[Exception]  # the error that it raises for damaged data
    member: str  # the name of a member in messages


class _CompressedStream(Stream):
    """The inflated bytes of an archive; the offset of a record is the offset of its member."""

    def __init__(self, source: RangedSource, start: int, compression: _Compression) -> None:
        super().__init__(source, start)
        self._compression = compression
        self._decompressor = compression.decompressor()
        self._fresh = b""  # bytes of the file that are not inflated yet
        self._member = start  # the offset of the current member

    def _begin_record(self) -> None:
        self.offset = self._member

    def _fill(self, is_between_records: bool) -> bool:
        while True:
            if self._decompressor.eof:
                if not is_between_records:
                    raise self._corrupt(f"a record is longer than its {self._compression.member}")
                if not self._next_member():
                    return False
            if self._decompressor.needs_input and not self._fresh:
                self._fresh = self._read_raw()
                if not self._fresh:
                    self.offset = self._member
                    raise self._corrupt(f"the file ends within a {self._compression.member}")
            if self._add(self._inflate()):
                return True

    def _next_member(self) -> bool:
        self._fresh = self._decompressor.unused_data or self._read_raw()
        self._member = self._raw_position - len(self._fresh)
        self._decompressor = self._compression.decompressor()
        return bool(self._fresh)

    def _inflate(self) -> bytes:
        data, self._fresh = self._fresh, b""
        try:
            return self._decompressor.decompress(data, PLAIN_BYTES)
        except self._compression.error as err:
            self.offset = self._member
            raise self._corrupt(f"not a {self._compression.member} ({err})") from err


def _gzip() -> _Compression:
    error = cast("type[Exception]", igzip_lib.error)  # its stub takes the class for an instance
    return _Compression(lambda: igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP), error, "gzip member")


def _zstd(name: str, dictionary: bytes) -> _Compression:
    from crawlctl.pipeline.formats.zstd_module import zstd

    known = None
    if dictionary:
        try:
            known = zstd.ZstdDict(dictionary)
            zstd.ZstdDecompressor(known)  # raises if it is damaged
        except (ValueError, zstd.ZstdError) as err:
            raise CorruptFile(name, 0, f"its dictionary is damaged ({err})") from err
    return _Compression(lambda: zstd.ZstdDecompressor(known), zstd.ZstdError, "Zstandard frame")


def _dictionary(source: RangedSource) -> tuple[bytes, int]:
    """Return the inflated dictionary of a file, empty without one, and the offset of the first record."""
    head = source.read(0, _FRAME_HEAD)
    if not head.startswith(_DICTIONARY_MAGIC):
        return b"", 0
    size = int.from_bytes(head[4:], "little")
    if size > min(_MAX_DICTIONARY, source.size - _FRAME_HEAD):
        raise CorruptFile(source.name, 0, f"a dictionary of {size} bytes is longer than it can be")
    dictionary = source.read(_FRAME_HEAD, size)
    if dictionary.startswith(ZSTD_MAGIC):
        dictionary = _inflated_dictionary(source.name, dictionary)
    return dictionary, _FRAME_HEAD + size


def _inflated_dictionary(name: str, compressed: bytes) -> bytes:
    from crawlctl.pipeline.formats.zstd_module import zstd

    try:
        return bytes(zstd.ZstdDecompressor().decompress(compressed, _MAX_DICTIONARY))
    except zstd.ZstdError as err:
        raise CorruptFile(name, 0, f"its dictionary is damaged ({err})") from err
