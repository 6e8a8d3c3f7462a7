"""The encodings of the web: every label the WHATWG standard knows, and the Python codec that reads it.

Python's own aliases cannot be used: they have labels that no browser knows, and several labels mean another
encoding to browsers (`latin1` is windows-1252 on the web, `gb2312` is GBK, `shift_jis` has Microsoft's
additions). The `webencodings` package (0.6.1) cannot be used either: it has the same labels, but reads GBK
and ISO-2022-JP with codecs that know fewer characters than browsers do, refuses two encodings that we read
(see below), and has no table of the names that our detector of encodings gives.

https://encoding.spec.whatwg.org/#names-and-labels
"""

from __future__ import annotations

import codecs
from typing import NamedTuple


class Encoding(NamedTuple):
    """An encoding: its name in the standard, and the name of its Python codec."""

    name: str
    codec: str


# One line per encoding: name, codec, then the labels other than the name. The standard replaces iso-2022-kr
# and hz-gb-2312 by an error, because bytes that change their meaning can smuggle scripts into pages. We run
# no scripts, so we read them.
_TABLE = """
utf-8 utf_8: unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf8 x-unicode20utf8
ibm866 cp866: 866 cp866 csibm866
iso-8859-2 iso8859_2: csisolatin2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2
iso-8859-3 iso8859_3: csisolatin3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3
iso-8859-4 iso8859_4: csisolatin4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4
iso-8859-5 iso8859_5: csisolatincyrillic cyrillic iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988
iso-8859-6 iso8859_6: arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6-e
iso-8859-6 iso8859_6: iso-8859-6-i iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987
iso-8859-7 iso8859_7: csisolatingreek ecma-118 elot_928 greek greek8 iso-ir-126 iso8859-7 iso88597 iso_8859-7
iso-8859-7 iso8859_7: iso_8859-7:1987 sun_eu_greek
iso-8859-8 iso8859_8: csiso88598e csisolatinhebrew hebrew iso-8859-8-e iso-ir-138 iso8859-8 iso88598
iso-8859-8 iso8859_8: iso_8859-8 iso_8859-8:1988 visual
iso-8859-8-i iso8859_8: csiso88598i logical
iso-8859-10 iso8859_10: csisolatin6 iso-ir-157 iso8859-10 iso885910 l6 latin6
iso-8859-13 iso8859_13: iso8859-13 iso885913
iso-8859-14 iso8859_14: iso8859-14 iso885914
iso-8859-15 iso8859_15: csisolatin9 iso8859-15 iso885915 iso_8859-15 l9
iso-8859-16 iso8859_16:
koi8-r koi8_r: cskoi8r koi koi8 koi8_r
koi8-u koi8_u: koi8-ru
macintosh mac_roman: csmacintosh mac x-mac-roman
windows-874 cp874: dos-874 iso-8859-11 iso8859-11 iso885911 tis-620
windows-1250 cp1250: cp1250 x-cp1250
windows-1251 cp1251: cp1251 x-cp1251
windows-1252 cp1252: ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1
windows-1252 cp1252: iso88591 iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii x-cp1252 x-user-defined
windows-1253 cp1253: cp1253 x-cp1253
windows-1254 cp1254: cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5
windows-1254 cp1254: latin5 x-cp1254
windows-1255 cp1255: cp1255 x-cp1255
windows-1256 cp1256: cp1256 x-cp1256
windows-1257 cp1257: cp1257 x-cp1257
windows-1258 cp1258: cp1258 x-cp1258
x-mac-cyrillic mac_cyrillic: x-mac-ukrainian
gbk gb18030: chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 iso-ir-58 x-gbk
gb18030 gb18030:
big5 big5hkscs: big5-hkscs cn-big5 csbig5 x-x-big5
euc-jp euc_jp: cseucpkdfmtjapanese x-euc-jp
iso-2022-jp iso2022_jp_2: csiso2022jp
shift_jis cp932: csshiftjis ms932 ms_kanji shift-jis sjis windows-31j x-sjis
euc-kr cp949: cseuckr csksc56011987 iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601
euc-kr cp949: windows-949
iso-2022-kr iso2022_kr: csiso2022kr
hz-gb-2312 hz:
utf-16be utf_16_be: unicodefffe
utf-16le utf_16_le: csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16
"""
# Names that the detector gives to encodings for which the standard has another name. KOI8-U is KOI8-R with
# the letters of Ukrainian instead of some box-drawing characters, which pages do not use.
_DETECTOR_NAMES = {
    **{"uhc": "euc-kr", "cp949": "euc-kr", "koi8-r": "koi8-u", "utf-8-sig": "utf-8"},
    **{"maccyrillic": "x-mac-cyrillic", "mac-cyrillic": "x-mac-cyrillic"},
}
# Encodings of old pages and texts that the detector finds. Browsers cannot read them, so no label names them.
_UNLABELLED = """
ibm855 cp855
johab johab
utf-32be utf_32_be
utf-32le utf_32_le
"""


def _labels() -> dict[str, Encoding]:
    found: dict[str, Encoding] = {}
    for line in _TABLE.strip().splitlines():
        encoding, _, labels = line.partition(":")
        name, codec = encoding.split()
        found.update(dict.fromkeys((name, *labels.split()), Encoding(name, codec)))
    return found


_BY_LABEL = _labels()
_BY_DETECTION = {line.split()[0]: Encoding(*line.split()) for line in _UNLABELLED.strip().splitlines()}
UTF_8 = _BY_LABEL["utf-8"]
UTF_16_LE = _BY_LABEL["utf-16le"]
UTF_16_BE = _BY_LABEL["utf-16be"]
WINDOWS_1252 = _BY_LABEL["windows-1252"]
UTF_32_LE = _BY_DETECTION["utf-32le"]
UTF_32_BE = _BY_DETECTION["utf-32be"]
ISO_2022_JP = _BY_LABEL["iso-2022-jp"]
ISO_2022_KR = _BY_LABEL["iso-2022-kr"]


_TOO_MANY_PENDING = "pending buffer overflow"


def decode_whole(data: bytes, codec: str, errors: str) -> str:
    """Return the text of bytes; a character that is cut off at their end is left out."""
    try:
        return codecs.getincrementaldecoder(codec)(errors).decode(data)
    except UnicodeError as err:
        # Python keeps at most eight bytes of a cut-off character; a broken escape sequence can have more.
        # From 3.13 on this is a UnicodeDecodeError too.
        if isinstance(err, UnicodeDecodeError) and err.reason != _TOO_MANY_PENDING:
            raise
        return data.decode(codec, errors)


def encoding_of(label: str) -> Encoding | None:
    """Return the encoding of a label, or None if browsers know no such label."""
    return _BY_LABEL.get(label.strip("\t\n\f\r ").lower())


def detected_encoding(name: str) -> Encoding | None:
    """Return the encoding for a name that the detector of encodings gives, or None."""
    name = name.lower()
    return encoding_of(_DETECTOR_NAMES.get(name, name)) or _BY_DETECTION.get(name)
