"""Reads web archives, ours and those of others: gzip by the record, or plain.

A record of any length is read piece by piece.  Whatever lies before a damaged place is given out first; then
CorruptFile names the record in which the damage is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from isal import igzip_lib

from crawlctl.pipeline.errors import CorruptFile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.formats.source import RangedSource

_GZIP_MAGIC = b"\x1f\x8b"
_RAW_PIECE = 256 << 10
_PLAIN_PIECE = 64 << 10
# Room for a URL of any length that servers take, and then some.
_MAX_HEADER = 256 << 10
_IgzipError = cast("type[Exception]", igzip_lib.error)  # its stub takes the class for an instance


class WarcRecord:
    """A record whose header has been read; its block can be read until the next record is asked for."""

    def __init__(self, offset: int, version: str, headers: tuple[tuple[str, str], ...], length: int) -> None:
        self.offset = offset
        self.version = version
        self.headers = headers
        self.length = length
        self._remaining = length
        self._stream: _Stream | None = None

    def header(self, name: str) -> str | None:
        """Return the first value of a field; names are not case-sensitive."""
        wanted = name.lower()
        return next((value for key, value in self.headers if key.lower() == wanted), None)

    @property
    def type(self) -> str:
        """What kind of record it is: response, request, revisit, …"""
        return self.header("WARC-Type") or ""

    @property
    def url(self) -> str | None:
        """What the record is about; WARC 1.0 has it in angle brackets at times."""
        target = self.header("WARC-Target-URI")
        return target and target.strip("<>")

    def read(self, size: int = -1) -> bytes:
        """Return the next `size` bytes of the block, fewer only at its end; all that is left if negative."""
        if self._stream is None:
            raise ValueError("the reader is at another record; read a block before the next record is taken")
        wanted = self._remaining if size < 0 else min(size, self._remaining)
        data = self._stream.take(wanted)
        self._remaining -= len(data)
        return data

    def _attach(self, stream: _Stream) -> None:
        self._stream = stream

    def _detach(self) -> None:
        """Skip what has not been read of the block."""
        while self._remaining:
            self.read(_PLAIN_PIECE)
        self._stream = None


class WarcReader:
    """Goes through the records of a file, from the record at `start` on."""

    def __init__(self, source: RangedSource, start: int = 0) -> None:
        self._source = source
        self._start = start

    def __iter__(self) -> Iterator[WarcRecord]:
        stream = _open(self._source, self._start)
        while stream.skip_blank_lines():
            record = _read_header(stream)
            record._attach(stream)
            yield record
            record._detach()


def split_http(block: bytes) -> tuple[bytes, bytes]:
    """Return the head of an HTTP message, with the empty line that ends it, and its body."""
    ends = [(block.find(mark), len(mark)) for mark in (b"\r\n\r\n", b"\n\n")]
    cut = min((at + size for at, size in ends if at >= 0), default=len(block))
    return block[:cut], block[cut:]


def _open(source: RangedSource, start: int) -> _Stream:
    is_gzip = source.read(start, len(_GZIP_MAGIC)) == _GZIP_MAGIC
    return _GzipStream(source, start) if is_gzip else _Stream(source, start)


def _read_header(stream: _Stream) -> WarcRecord:
    offset = stream.offset
    version = stream.line(_MAX_HEADER)
    if not version.startswith("WARC/"):
        raise CorruptFile(
            stream.name, offset, f"a record begins with {version[:40]!r} and not with its version"
        )
    headers: list[tuple[str, str]] = []
    room = _MAX_HEADER
    while line := stream.line(room):
        room -= len(line)
        name, colon, value = line.partition(":")
        if line[0] in " \t" and headers:
            headers[-1] = (headers[-1][0], f"{headers[-1][1]} {line.strip()}")
        elif colon:
            headers.append((name.strip(), value.strip()))
        else:
            raise CorruptFile(stream.name, offset, f"{line[:40]!r} is no named field")
    length = next((value for name, value in headers if name.lower() == "content-length"), "")
    if not (length.isascii() and length.isdigit() and len(length) < 19):
        raise CorruptFile(stream.name, offset, f"{length[:40]!r} is no Content-Length")
    return WarcRecord(offset, version, tuple(headers), int(length))


class _Stream:
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
                raise self._corrupt(f"a header is longer than {_MAX_HEADER} bytes")
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


class _GzipStream(_Stream):
    """The bytes in gzip members, each of which holds whole records."""

    def __init__(self, source: RangedSource, start: int) -> None:
        super().__init__(source, start)
        self._inflater = _new_inflater()
        self._fresh = b""
        self._member = start

    def _begin_record(self) -> None:
        self.offset = self._member

    def _fill(self, is_between_records: bool) -> bool:
        while True:
            if self._inflater.eof:
                if not is_between_records:
                    raise self._corrupt("a record is longer than its gzip member; see `warcio recompress`")
                if not self._next_member():
                    return False
            if self._inflater.needs_input and not self._fresh:
                self._fresh = self._read_raw()
                if not self._fresh:
                    self.offset = self._member
                    raise self._corrupt("the file ends within a gzip member")
            if self._add(self._inflate()):
                return True

    def _next_member(self) -> bool:
        self._fresh = self._inflater.unused_data or self._read_raw()
        self._member = self._raw_position - len(self._fresh)
        self._inflater = _new_inflater()
        return bool(self._fresh)

    def _inflate(self) -> bytes:
        data, self._fresh = self._fresh, b""
        try:
            return bytes(self._inflater.decompress(data, _PLAIN_PIECE))
        except _IgzipError as err:
            self.offset = self._member
            raise self._corrupt(f"not a gzip stream ({err})") from err


def _new_inflater() -> igzip_lib.IgzipDecompressor:
    return igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)
