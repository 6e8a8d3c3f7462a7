"""The bytes of a web archive, packed by the record with gzip or Zstandard, or plain.

A file packed with Zstandard may begin with a dictionary that its records were packed with, in a frame that
other programs skip (https://iipc.github.io/warc-specifications/specifications/warc-zstd/).
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
_FRAME_HEAD = 8  # bytes of a frame to be skipped before what it holds: magic and length
_MAX_DICTIONARY = 64 << 20
_RAW_PIECE = 256 << 10
PLAIN_PIECE = 64 << 10
# Room for a URL of any length that servers take, and then some.
MAX_HEADER = 256 << 10


def open_stream(source: RangedSource, start: int) -> Stream:
    """Return the bytes of an archive from the record at `start` on."""
    magic = source.read(start, len(ZSTD_MAGIC))
    if magic.startswith(GZIP_MAGIC):
        return _PackedStream(source, start, _gzip())
    if magic in (ZSTD_MAGIC, _DICTIONARY_MAGIC):
        dictionary, first = _dictionary(source)
        return _PackedStream(source, max(start, first), _zstd(source.name, dictionary))
    return Stream(source, start)


class Stream:
    """The plain bytes of a file; `offset` is where, in the file, the record being read begins."""

    def __init__(self, source: RangedSource, start: int) -> None:
        self.name = source.name
        self.offset = start
        self._source = source
        self._raw_position = start
        self._buffer = b""
        self._at = 0

    def skip_blank_lines(self) -> bool:
        """Go to the next record; whether there is one."""
        while True:
            while self._at < len(self._buffer):
                if self._buffer[self._at] not in b"\r\n":
                    self._begin_record()
                    return True
                self._at += 1
            if not self._fill(is_between_records=True):
                return False

    def line(self, limit: int) -> str:
        """Return the next line without its end."""
        while (end := self._buffer.find(b"\n", self._at)) < 0:
            if len(self._buffer) - self._at > limit:
                raise self._corrupt(f"a header is longer than {MAX_HEADER} bytes")
            self._require_more()
        line = self._buffer[self._at : end]
        self._at = end + 1
        return line.rstrip(b"\r").decode("utf-8", "replace")

    def take(self, size: int) -> bytes:
        """Return exactly the next `size` bytes."""
        pieces = []
        while size:
            if self._at == len(self._buffer):
                self._require_more()
            piece = self._buffer[self._at : self._at + size]
            self._at += len(piece)
            size -= len(piece)
            pieces.append(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _begin_record(self) -> None:
        self.offset = self._raw_position - len(self._buffer) + self._at

    def _require_more(self) -> None:
        if not self._fill(is_between_records=False):
            raise self._corrupt("the file ends within a record")

    def _fill(self, is_between_records: bool) -> bool:
        """Add bytes to the buffer; False if there are none."""
        return self._add(self._read_raw())

    def _add(self, data: bytes) -> bool:
        self._buffer = self._buffer[self._at :] + data
        self._at = 0
        return bool(data)

    def _read_raw(self) -> bytes:
        data = self._source.read(self._raw_position, _RAW_PIECE)
        self._raw_position += len(data)
        return data

    def _corrupt(self, reason: str) -> CorruptFile:
        return CorruptFile(self.name, self.offset, reason)


class _Unpacker(Protocol):
    """What takes a gzip member or a frame of Zstandard apart, as Python's own bz2 and lzma do."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int = -1, /) -> bytes: ...


class _Packing(NamedTuple):
    """How records are packed: what unpacks the next one, what that raises, and what a piece is called."""

    unpacker: Callable[[], _Unpacker]
    error: type[Exception]
    piece: str


class _PackedStream(Stream):
    """The bytes in packed pieces, each of which holds whole records."""

    def __init__(self, source: RangedSource, start: int, packing: _Packing) -> None:
        super().__init__(source, start)
        self._packing = packing
        self._unpacker = packing.unpacker()
        self._fresh = b""
        self._piece = start

    def _begin_record(self) -> None:
        self.offset = self._piece

    def _fill(self, is_between_records: bool) -> bool:
        while True:
            if self._unpacker.eof:
                if not is_between_records:
                    raise self._corrupt(f"a record is longer than its {self._packing.piece}")
                if not self._next_piece():
                    return False
            if self._unpacker.needs_input and not self._fresh:
                self._fresh = self._read_raw()
                if not self._fresh:
                    self.offset = self._piece
                    raise self._corrupt(f"the file ends within a {self._packing.piece}")
            if self._add(self._unpack()):
                return True

    def _next_piece(self) -> bool:
        self._fresh = self._unpacker.unused_data or self._read_raw()
        self._piece = self._raw_position - len(self._fresh)
        self._unpacker = self._packing.unpacker()
        return bool(self._fresh)

    def _unpack(self) -> bytes:
        data, self._fresh = self._fresh, b""
        try:
            return self._unpacker.decompress(data, PLAIN_PIECE)
        except self._packing.error as err:
            self.offset = self._piece
            raise self._corrupt(f"not a {self._packing.piece} ({err})") from err


def _gzip() -> _Packing:
    error = cast("type[Exception]", igzip_lib.error)  # its stub takes the class for an instance
    return _Packing(lambda: igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP), error, "gzip member")


def _zstd(name: str, dictionary: bytes) -> _Packing:
    from backports import zstd

    known = None
    if dictionary:
        try:
            known = zstd.ZstdDict(dictionary)
            zstd.ZstdDecompressor(known)  # looks into it
        except (ValueError, zstd.ZstdError) as err:
            raise CorruptFile(name, 0, f"its dictionary is damaged ({err})") from err
    return _Packing(lambda: zstd.ZstdDecompressor(known), zstd.ZstdError, "Zstandard frame")


def _dictionary(source: RangedSource) -> tuple[bytes, int]:
    """Return the dictionary at the start of a file, itself packed or not, and where the first record is."""
    head = source.read(0, _FRAME_HEAD)
    if not head.startswith(_DICTIONARY_MAGIC):
        return b"", 0
    size = int.from_bytes(head[4:], "little")
    if size > min(_MAX_DICTIONARY, source.size - _FRAME_HEAD):
        raise CorruptFile(source.name, 0, f"a dictionary of {size} bytes is longer than it can be")
    dictionary = source.read(_FRAME_HEAD, size)
    if dictionary.startswith(ZSTD_MAGIC):
        dictionary = _unpacked_dictionary(source.name, dictionary)
    return dictionary, _FRAME_HEAD + size


def _unpacked_dictionary(name: str, packed: bytes) -> bytes:
    from backports import zstd

    try:
        return bytes(zstd.ZstdDecompressor().decompress(packed, _MAX_DICTIONARY))
    except zstd.ZstdError as err:
        raise CorruptFile(name, 0, f"its dictionary is damaged ({err})") from err
