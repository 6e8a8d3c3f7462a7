"""The encoding of a sitemap: turned into UTF-8 before any reader sees it.

The protocol says UTF-8, yet XML may declare any encoding, and Chinese and Japanese files do.  A byte order
mark decides, then the look of a `<` in two or four bytes, then the declaration by its label on the web.  A
file that declares nothing, or an encoding nobody knows, is read as UTF-8.  Bytes that break their encoding
become U+FFFD: they spoil their own URL and not the rest of the file.

https://www.w3.org/TR/xml/#sec-guessing
"""

from __future__ import annotations

import codecs
import re

from crawlctl.pipeline.formats.web_encodings import UTF_8, UTF_16_BE, UTF_16_LE, encoding_of

BOM = codecs.BOM_UTF8
DECLARATION_BYTES = 1024  # in which an XML declaration must have ended

# What a file begins with, and its codec; UTF-32 comes first, its marks begin like those of UTF-16.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf_32_le"),
    (codecs.BOM_UTF32_BE, "utf_32_be"),
    (codecs.BOM_UTF16_LE, UTF_16_LE.codec),
    (codecs.BOM_UTF16_BE, UTF_16_BE.codec),
    (BOM, UTF_8.codec),
)
_LOOKS = (
    (b"<\x00\x00\x00", "utf_32_le"),
    (b"\x00\x00\x00<", "utf_32_be"),
    (b"<\x00", UTF_16_LE.codec),
    (b"\x00<", UTF_16_BE.codec),
)
_WIDE = {UTF_16_LE, UTF_16_BE}
_DECLARATION = re.compile(rb"""<\?xml[^>]*?\sencoding\s*=\s*["']([^"'<>]+)""")


class Transcoder:
    """Turns the bytes of a file that begins with `start` into UTF-8, piece by piece."""

    def __init__(self, start: bytes | bytearray) -> None:
        self._decoder = codecs.getincrementaldecoder(_codec_of(start))("replace")

    def feed(self, data: bytes | bytearray, *, final: bool = False) -> bytes:
        """Return the next bytes in UTF-8; those of a character cut in two wait for the next call."""
        before = self._decoder.getstate()
        try:
            return self._decoder.decode(data, final).encode()
        except UnicodeError:
            # More is cut off than Python can set aside: an escape sequence that makes no sense.
            self._decoder.setstate(before)
            return self._decoder.decode(data, True).encode()


def _codec_of(start: bytes | bytearray) -> str:
    for begin, codec in (*_MARKS, *_LOOKS):
        if start.startswith(begin):
            return codec
    declared = _DECLARATION.match(start[:DECLARATION_BYTES])
    encoding = encoding_of(declared[1].decode("latin-1")) if declared else None
    # A declaration that can be read as ASCII is not in UTF-16, whatever it says.
    return UTF_8.codec if encoding is None or encoding in _WIDE else encoding.codec
