from __future__ import annotations

import codecs

import pytest

from crawlctl.pipeline.formats import web_encodings as encodings
from crawlctl.pipeline.formats.web_encodings import decode_whole, detected_encoding, encoding_of


def test_every_label_has_a_codec() -> None:
    labels = encodings._BY_LABEL
    assert len(labels) >= 220
    assert all(codecs.lookup(encoding.codec) for encoding in labels.values())


@pytest.mark.parametrize(
    ("label", "name", "codec"),
    [
        ("latin1", "windows-1252", "cp1252"),
        (" ISO-8859-1\n", "windows-1252", "cp1252"),
        ("us-ascii", "windows-1252", "cp1252"),
        ("x-user-defined", "windows-1252", "cp1252"),
        ("iso-8859-9", "windows-1254", "cp1254"),
        ("gb2312", "gbk", "gb18030"),
        ("shift_jis", "shift_jis", "cp932"),
        ("ks_c_5601-1987", "euc-kr", "cp949"),
        ("utf8", "utf-8", "utf_8"),
        ("utf-16", "utf-16le", "utf_16_le"),
        ("tis-620", "windows-874", "cp874"),
    ],
)
def test_labels_mean_what_browsers_read_into_them(label: str, name: str, codec: str) -> None:
    assert encoding_of(label) == (name, codec)


@pytest.mark.parametrize("label", ["", "utf-7", "rot13", "hex", "unicode_escape", "idna", "utf_8", "koi9"])
def test_no_other_label_is_known(label: str) -> None:
    assert encoding_of(label) is None


@pytest.mark.parametrize(("name", "expected"), [("UHC", "euc-kr"), ("UTF-8-SIG", "utf-8"), ("BIG5", "big5")])
def test_the_names_of_the_detector_are_understood(name: str, expected: str) -> None:
    found = detected_encoding(name)
    assert found is not None
    assert found.name == expected


@pytest.mark.parametrize("codec", ["iso2022_jp_2", "iso2022_kr", "hz"])
def test_an_escape_that_makes_no_sense_at_the_end_is_read_leniently(codec: str) -> None:
    for tail in (b"\x1b$B\x1b$iso-202", b"\x1b$", b"\x1b" * 20):
        assert decode_whole(b"text " + tail, codec, "replace").startswith("text ")


def test_a_character_that_is_cut_off_is_left_out() -> None:
    assert decode_whole("日本".encode("gb18030")[:-1], "gb18030", "strict") == "日"
    with pytest.raises(UnicodeDecodeError):
        decode_whole(b"\xff\xff", "gb18030", "strict")
