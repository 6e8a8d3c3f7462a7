"""Converts the bytes of a sitemap to UTF-8 before they are parsed.

The protocol says UTF-8, but XML may declare any encoding, and Chinese and Japanese files do. First a byte
order mark decides, then the form of the first `<` (in two or four bytes), then the XML declaration by its
WHATWG label. A file that declares nothing, or an unknown encoding, is read as UTF-8. Invalid bytes become
U+FFFD: they spoil only their own URL, not the rest of the file.

https://www.w3.org/TR/xml/#sec-guessing
"""

from __future__ import annotations

import codecs
import re

from crawlctl.pipeline.formats.web_encodings import UTF_8, UTF_16_BE, UTF_16_LE, encoding_of

BOM = codecs.BOM_UTF8
DECLARATION_BYTES = 1024  # at the start of a file; an XML declaration must end within them

# First bytes → codec. UTF-32 comes first, because its byte order marks begin like those of UTF-16.
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
    """Converts a file that begins with `start` to UTF-8, in several calls."""

    def __init__(self, start: bytes | bytearray) -> None:
        self._decoder = codecs.getincrementaldecoder(_codec_of(start))("replace")

    def feed(self, data: bytes | bytearray, *, final: bool = False) -> bytes:
        """Return the next bytes in UTF-8; an incomplete character waits for the next call."""
        before = self._decoder.getstate()
        try:
            return self._decoder.decode(data, final).encode()
        except UnicodeError:
            # Python cannot keep an invalid escape sequence for the next call, so it is decoded as it is.
            self._decoder.setstate(before)
            return self._decoder.decode(data, True).encode()


def _codec_of(start: bytes | bytearray) -> str:
    for begin, codec in (*_MARKS, *_LOOKS):
        if start.startswith(begin):
            return codec
    declared = _DECLARATION.match(start[:DECLARATION_BYTES])
    encoding = encoding_of(declared[1].decode("latin-1")) if declared else None
    # A declaration that can be read as ASCII is not UTF-16, even if it says so.
    return UTF_8.codec if encoding is None or encoding in _WIDE else encoding.codec
