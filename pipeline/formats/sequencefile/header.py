"""The header of a Hadoop SequenceFile: classes, compression, metadata and sync marker.

Hadoop gives a header no checksum. Headers that crawlctl writes have a checksum as an entry of the metadata,
which Hadoop ignores: the CRC-32 of the header, eight hex digits, computed with zeros in the place of the
digits. Files of other programs, and the oldest files of crawlctl, have no checksum.

https://hadoop.apache.org/docs/stable/api/org/apache/hadoop/io/SequenceFile.html
"""

from __future__ import annotations

from collections.abc import Mapping
from struct import Struct
from typing import TYPE_CHECKING, Literal
from zlib import crc32

import msgspec
from msgspec.structs import replace

from crawlctl.pipeline.errors import CorruptFile, UnsupportedFile
from crawlctl.pipeline.formats.sequencefile.vint import encode_vint, read_vint
from crawlctl.pipeline.formats.sequencefile.writables import is_known

if TYPE_CHECKING:
    from crawlctl.pipeline.formats.window import Window

Compression = Literal["none", "record", "block"]

MAGIC = b"SEQ"
VERSION = 6
SYNC_BYTES = 16
ESCAPE = b"\xff\xff\xff\xff"  # a record length of -1: the sync marker follows
MAX_HEADER_BYTES = 1 << 20
CHECKSUM_KEY = "crawlctl.header.crc32"
OWN = "crawlctl."  # the names of the metadata that we write begin with this

_INT = Struct(">i")
_FLAGS: dict[tuple[int, int], Compression] = {(0, 0): "none", (1, 0): "record", (1, 1): "block"}
_NO_CHECKSUM = "00000000"
_FLAGS_OF = {compression: bytes(flags) for flags, compression in _FLAGS.items()}


class Header(msgspec.Struct, frozen=True):
    """The header of one file; `end` is the offset of the first record, `codec` a Java class or empty."""

    key_class: str
    value_class: str
    compression: Compression
    codec: str
    sync: bytes
    metadata: Mapping[str, str] = msgspec.field(default_factory=dict)
    end: int = 0


def encode_header(header: Header) -> bytes:
    """Return the bytes of a header; the metadata are in the order in which Hadoop writes them."""
    fields = [MAGIC, bytes((VERSION,)), _encode_string(header.key_class), _encode_string(header.value_class)]
    fields.append(_FLAGS_OF[header.compression])
    if header.compression != "none":
        fields.append(_encode_string(header.codec))
    fields.append(_INT.pack(len(header.metadata)))
    for name, value in sorted(header.metadata.items(), key=lambda item: item[0].encode()):
        fields += (_encode_string(name), _encode_string(value))
    fields.append(header.sync)
    encoded = b"".join(fields)
    if len(encoded) > MAX_HEADER_BYTES:
        raise ValueError(f"a header of {len(encoded)} bytes; keep metadata below {MAX_HEADER_BYTES}")
    return encoded


def encode_checked_header(header: Header) -> bytes:
    """Return the bytes of a header with its checksum added to the metadata."""
    encoded = encode_header(replace(header, metadata={**header.metadata, CHECKSUM_KEY: _NO_CHECKSUM}))
    entry = _encode_string(CHECKSUM_KEY) + _encode_string(_NO_CHECKSUM)
    at = encoded.index(entry) + len(entry)
    return encoded[: at - len(_NO_CHECKSUM)] + b"%08x" % crc32(encoded) + encoded[at:]


def read_header(window: Window) -> Header:
    """Return the header of a file; a file that is no SequenceFile of version 6 is a CorruptFile."""
    return _HeaderReader(window).read()


def _encode_string(text: str) -> bytes:
    data = text.encode()
    return encode_vint(len(data)) + data


class _HeaderReader:
    """Reads the fields of a header one after the other."""

    def __init__(self, window: Window) -> None:
        self._window = window
        self._offset = 0
        self._checksum_end = 0  # the offset behind the digits; 0 without a checksum

    def read(self) -> Header:
        self._read_magic()
        key_class, value_class = self._string(), self._string()
        compression = self._compression()
        codec = self._string() if compression != "none" else ""
        metadata = self._metadata()
        sync = self._take(SYNC_BYTES)
        self._check(metadata.pop(CHECKSUM_KEY, None))
        header = Header(key_class, value_class, compression, codec, sync, metadata, self._offset)
        classes_known = is_known(key_class) and is_known(value_class)
        if not classes_known and any(name.startswith(OWN) for name in metadata):
            raise CorruptFile(
                self._window.name, 0, f"{key_class}, {value_class}: not the classes of a table of ours"
            )
        return header

    def _check(self, checksum: str | None) -> None:
        """Raise unless the header fits its checksum; without one there is nothing to check."""
        if checksum is None:
            return
        header = bytearray(self._window.take(0, self._offset))
        header[self._checksum_end - len(_NO_CHECKSUM) : self._checksum_end] = _NO_CHECKSUM.encode()
        if checksum != f"{crc32(header):08x}":
            raise CorruptFile(self._window.name, 0, "the header does not fit its checksum")

    def _read_magic(self) -> None:
        if self._window.size < len(MAGIC) + 1 or self._take(len(MAGIC)) != MAGIC:
            raise CorruptFile(self._window.name, 0, "not a SequenceFile")
        version = self._take(1)[0]
        if version != VERSION:
            raise UnsupportedFile(
                self._window.name, len(MAGIC), f"version {version}; only {VERSION} can be read"
            )

    def _compression(self) -> Compression:
        first, second = self._take(2)
        if (first, second) not in _FLAGS:
            raise CorruptFile(self._window.name, self._offset - 2, f"compression flags {first}, {second}")
        return _FLAGS[first, second]

    def _metadata(self) -> dict[str, str]:
        start = self._offset
        count: int = _INT.unpack(self._take(_INT.size))[0]
        if not 0 <= count <= MAX_HEADER_BYTES:
            raise CorruptFile(self._window.name, start, f"{count} entries of metadata")
        metadata = {}
        for _ in range(count):
            name = self._string()
            metadata[name] = self._string()
            if name == CHECKSUM_KEY:
                self._checksum_end = self._offset
        return metadata

    def _string(self) -> str:
        start = self._offset
        length, self._offset = read_vint(self._window, start)
        if length < 0:
            raise CorruptFile(self._window.name, start, f"a string of {length} bytes")
        data = self._take(length)
        try:
            return data.decode()
        except UnicodeDecodeError as err:
            raise CorruptFile(self._window.name, start, "a string is not UTF-8") from err

    def _take(self, length: int) -> bytes:
        if self._offset + length > MAX_HEADER_BYTES:
            raise CorruptFile(self._window.name, self._offset, f"a header above {MAX_HEADER_BYTES} bytes")
        data = bytes(self._window.take(self._offset, length))
        self._offset += length
        return data
