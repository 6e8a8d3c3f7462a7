"""The compression codecs that every Hadoop has.

Deflate is done by Intel's igzip (isal): on 1 kB pages and on WebDB entries it compresses 3–6 times as fast as
zlib at level 1, at the same ratio, and inflates twice as fast (bench/bench_sequencefile.py). It writes
ordinary zlib and gzip streams.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast

from isal import isal_zlib

if TYPE_CHECKING:
    from collections.abc import Callable

_PACKAGE = "org.apache.hadoop.io.compress."
_LEVEL = 2
_ZLIB_BITS = 15
_GZIP_BITS = 31
_IgzipError = cast("type[Exception]", isal_zlib.error)  # its stub takes the class for an instance


class _Inflater(Protocol):
    @property
    def eof(self) -> bool: ...

    def decompress(self, data: bytes | memoryview, /, max_length: int = ...) -> bytes: ...


class _Stored:
    """The inflater of data that is not compressed: returns it as it is."""

    eof = True

    def decompress(self, data: bytes | memoryview, /, max_length: int = -1) -> bytes:
        return bytes(data[:max_length])


class Codec:
    """One way to compress; each call takes or returns one whole stream, as Hadoop files contain them."""

    def __init__(
        self,
        name: str,
        class_name: str,
        compress: Callable[[bytes], bytes],
        inflater: Callable[[], _Inflater],
    ) -> None:
        self.name = name
        self.class_name = class_name
        self.compress = compress
        self._inflater = inflater

    def decompress(self, data: bytes | memoryview, limit: int) -> bytes:
        """Return the inflated data; more than `limit` bytes or a damaged stream is a ValueError."""
        if not len(data):
            return b""  # some codecs of Hadoop write no stream for no data
        inflater = self._inflater()
        try:
            plain = inflater.decompress(data, limit + 1)
        except (_IgzipError, OSError, ValueError) as err:
            raise ValueError(f"not a {self.name} stream ({err})") from err
        if len(plain) > limit:
            raise ValueError(f"inflates to more than {limit} bytes")
        if not inflater.eof:
            raise ValueError(f"a {self.name} stream is cut off")
        return plain


def _deflate(name: str, class_name: str, bits: int) -> Codec:
    return Codec(
        name,
        _PACKAGE + class_name,
        lambda data: isal_zlib.compress(data, _LEVEL, bits),
        lambda: isal_zlib.decompressobj(bits),
    )


def _compress_bzip2(data: bytes) -> bytes:
    import bz2

    return bz2.compress(data)


def _bzip2_inflater() -> _Inflater:
    import bz2

    return bz2.BZ2Decompressor()


STORED = Codec("none", "", bytes, _Stored)
_COMPRESSED = (
    _deflate("default", "DefaultCodec", _ZLIB_BITS),
    _deflate("deflate", "DeflateCodec", _ZLIB_BITS),
    _deflate("gzip", "GzipCodec", _GZIP_BITS),
    Codec("bzip2", _PACKAGE + "BZip2Codec", _compress_bzip2, _bzip2_inflater),
)
CODECS = {codec.name: codec for codec in _COMPRESSED}


def codec_of_class(class_name: str) -> Codec:
    """Return the codec of a class name, STORED for an empty one; an unknown class is a ValueError."""
    for codec in (STORED, *_COMPRESSED):
        if codec.class_name == class_name:
            return codec
    raise ValueError(f"codec {class_name} is none of {', '.join(CODECS)}")
