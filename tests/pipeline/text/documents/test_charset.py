from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.text.documents.charset import decode

# An encoding, its name in the standard, and a text that uses it.
SAMPLES = [
    ("utf-8", "utf-8", "Zażółć gęślą jaźń, Füße, наука, 日本"),
    ("cp1252", "windows-1252", "Le café est très bon à l’été, où l’on déjeune – voilà ça même être naïf. "),
    ("windows-1250", "windows-1250", "Příliš žluťoučký kůň úpěl ďábelské ódy, škoda že česky nemluví. "),
    ("windows-1251", "windows-1251", "Съешь же ещё этих мягких французских булок, да выпей чаю. "),
    ("koi8-r", "koi8-r", "Съешь же ещё этих мягких французских булок, да выпей чаю. "),
    ("shift_jis", "shift_jis", "これは日本語の文章です。文字コードの判定を試験するために書きました。"),
    ("euc-jp", "euc-jp", "これは日本語の文章です。文字コードの判定を試験するために書きました。"),
    ("iso-2022-jp", "iso-2022-jp", "これは日本語の文章です。文字コードの判定を試験するために書きました。"),
    ("gb2312", "gbk", "这是一个中文网页,用来测试字符编码的检测功能是否正确。"),
    ("big5", "big5", "這是一個中文網頁,用來測試字元編碼的偵測功能是否正確。"),
    ("euc-kr", "euc-kr", "이것은 한국어 문장입니다. 문자 인코딩 감지를 시험하기 위해 썼습니다. "),
    ("iso-8859-7", "iso-8859-7", "Αυτό είναι ένα κείμενο στα ελληνικά για να δοκιμάσουμε την ανίχνευση. "),
    ("windows-1255", "windows-1255", "זהו טקסט בעברית לבדיקת זיהוי הקידוד של הדף הזה באתר. "),
    ("windows-1256", "windows-1256", "هذا نص باللغة العربية لاختبار كشف ترميز الصفحة في الموقع. "),
]
# GBK and KOI8-R are read as their supersets when nobody named them.
SAME_READING = {("gbk", "gb18030"), ("koi8-r", "koi8-u")}


def page(text: str, meta: str = "") -> str:
    return f"<html><head>{meta}<title>x</title></head><body><p>{text * 3}"


@pytest.mark.parametrize(("codec", "name", "text"), SAMPLES)
@pytest.mark.parametrize(
    "meta", ['<meta charset="{}">', '<meta http-equiv="Content-Type" content="text/html; charset={}">']
)
def test_meta_names_the_encoding(codec: str, name: str, text: str, meta: str) -> None:
    html = page(text, meta.format(codec))
    assert decode(html.encode(codec)) == (html, name, "meta")


@pytest.mark.parametrize(("codec", "name", "text"), SAMPLES)
def test_the_header_names_the_encoding(codec: str, name: str, text: str) -> None:
    assert decode(page(text).encode(codec), f"text/html; charset={codec}") == (page(text), name, "header")


@pytest.mark.parametrize(("codec", "name", "text"), SAMPLES)
def test_an_undeclared_encoding_is_detected(codec: str, name: str, text: str) -> None:
    found = decode(page(text).encode(codec))
    assert found.text == page(text)
    assert found.encoding == name or (name, found.encoding) in SAME_READING
    assert found.how == ("utf-8" if codec == "utf-8" else "detected")


@pytest.mark.parametrize(
    ("codec", "name"), [("utf-8-sig", "utf-8"), ("utf-16", "utf-16le"), ("utf-16-be", "utf-16be")]
)
def test_a_byte_order_mark_beats_every_declaration(codec: str, name: str) -> None:
    text = page("é", "<meta charset=koi8-r>")
    mark = "\ufeff" if codec == "utf-16-be" else ""
    assert decode((mark + text).encode(codec), "text/html; charset=big5") == (text, name, "bom")


@pytest.mark.parametrize(("codec", "name"), [("utf-16-le", "utf-16le"), ("utf-16-be", "utf-16be")])
def test_utf16_without_a_mark_is_seen_by_its_zeros(codec: str, name: str) -> None:
    assert decode(page("é").encode(codec), "text/html; charset=utf-8") == (page("é"), name, "detected")


@pytest.mark.parametrize(("codec", "name"), [("utf-32-le", "utf-32le"), ("utf-32-be", "utf-32be")])
@pytest.mark.parametrize("text", [page("é"), "日本語の文章です。文字"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_utf32_is_seen_by_its_mark_or_its_zeros(codec: str, name: str, text: str, mark: str) -> None:
    found = decode((mark + text).encode(codec), "text/html; charset=utf-8")
    assert found == (text, name, "bom" if mark else "detected")


@pytest.mark.parametrize("body", [b"", b"\0", b"\0\0\0\0", b"\0" * 100, b"a\0\0\0", b"a\0b\0\0\0"])
def test_a_few_zeros_prove_no_wide_encoding(body: bytes) -> None:
    assert decode(body).encoding == "utf-8"


OLD_CYRILLIC = "Съешь же ещё этих мягких французских булок, да выпей чаю. " * 4
OLD_KOREAN = "이것은 한국어 문장입니다. 문자 인코딩 감지를 시험하기 위해 썼습니다. " * 4


@pytest.mark.parametrize(
    ("codec", "name", "text"),
    [
        ("mac_cyrillic", "x-mac-cyrillic", OLD_CYRILLIC),
        ("cp855", "ibm855", OLD_CYRILLIC),
        ("cp866", "ibm866", OLD_CYRILLIC),
        ("koi8_u", "koi8-u", "Моя люба Україно, ґанок і їжак, єдина земля наша. " * 4),
        ("johab", "johab", OLD_KOREAN),
        ("iso2022_kr", "iso-2022-kr", OLD_KOREAN),
    ],
)
def test_an_encoding_that_browsers_have_given_up_is_detected(codec: str, name: str, text: str) -> None:
    assert decode(text.encode(codec), markup=False) == (text, name, "detected")


@pytest.mark.parametrize("label", ["johab", "ibm855", "utf-32", "utf-32le"])
def test_a_page_cannot_name_an_encoding_that_browsers_do_not_know(label: str) -> None:
    assert decode(b"<p>plain", f"text/html; charset={label}") == ("<p>plain", "utf-8", "utf-8")


def test_the_header_beats_meta() -> None:
    html = page("Съешь", "<meta charset=koi8-r>")
    assert decode(html.encode("cp1251"), "text/html; charset=windows-1251")[1:] == ("windows-1251", "header")


@pytest.mark.parametrize("declared", ["iso-8859-1", "koi8-r", "shift_jis", "utf-16"])
def test_well_formed_utf8_refutes_another_declaration(declared: str) -> None:
    html = page("déjà vu — наука")
    assert decode(html.encode(), f"text/html; charset={declared}") == (html, "utf-8", "utf-8")


def test_bytes_that_are_not_utf8_refute_that_declaration() -> None:
    html = page("Съешь же ещё этих мягких французских булок. ", "<meta charset=utf-8>")
    assert decode(html.encode("cp1251"), "text/html; charset=utf-8") == (html, "windows-1251", "detected")


def test_a_pasted_word_in_windows_1252_is_repaired() -> None:
    body = "Füße, Länder, Öl ".encode() * 5 + "café “zitiert” – naïve".encode("cp1252")
    found = decode(body, "text/html; charset=utf-8")
    assert found.text.endswith("café “zitiert” – naïve")
    assert found[1:] == ("utf-8", "header")


@pytest.mark.parametrize(("codec", "name", "text"), SAMPLES)
def test_a_body_cut_within_a_character_loses_only_that(codec: str, name: str, text: str) -> None:
    body = page(text).encode(codec)[:-1]
    found = decode(body, f"text/html; charset={codec}")
    assert found.encoding == name
    assert page(text).startswith(found.text[:-1])


def test_a_meta_in_a_comment_does_not_count() -> None:
    html = "<!-- <meta charset=koi8-r> --><meta charset=windows-1251>Съешь"
    assert decode(html.encode("cp1251"))[1:] == ("windows-1251", "meta")


def test_a_meta_that_says_utf16_is_a_slip_of_the_pen() -> None:
    assert decode(b"<meta charset=utf-16><p>plain") == ("<meta charset=utf-16><p>plain", "utf-8", "meta")


def test_an_unknown_label_is_no_declaration() -> None:
    assert decode(b"<meta charset=utf-7>+AD4-", "text/html; charset=x-unknown")[1:] == ("utf-8", "utf-8")


def test_an_xml_declaration_counts() -> None:
    html = '<?xml version="1.0" encoding="windows-1251"?><html>Съешь'
    assert decode(html.encode("cp1251"))[1:] == ("windows-1251", "meta")


def test_plain_text_declares_nothing_in_its_body() -> None:
    text = "a lesson: write <meta charset=koi8-r> first, café"
    assert decode(text.encode(), markup=False) == (text, "utf-8", "utf-8")


@pytest.mark.parametrize(
    "meta",
    [
        "<META CHARSET='koi8-r'/>",
        "<meta name=a content=b charset = koi8-r >",
        '<meta content="text/html;charset=koi8-r" http-equiv=content-type>',
        '<meta data-x=">" charset=koi8-r>',
    ],
)
def test_meta_may_be_written_in_many_ways(meta: str) -> None:
    assert decode((meta + "Съешь").encode("koi8-r"))[1:] == ("koi8-r", "meta")


@pytest.mark.parametrize("start", [b"<meta '", b'<meta a="', b"<!--", b"<meta charset='", b"<?xml "])
def test_a_hostile_head_is_scanned_in_bounded_time(start: bytes) -> None:
    assert decode(start * 100_000).encoding == "utf-8"


@given(
    st.binary(max_size=3000),
    st.sampled_from(["", "utf-8", "utf-16", "iso-2022-jp", "big5", "hz-gb-2312", "%"]),
)
def test_whatever_comes_is_decoded(body: bytes, charset: str) -> None:
    found = decode(body, f"text/html; charset={charset}")
    found.text.encode()
    assert found.how in {"bom", "header", "meta", "utf-8", "detected", "default"}


@given(st.text(max_size=500))
def test_utf8_comes_back_as_it_was(text: str) -> None:
    assert decode(b"\xef\xbb\xbf" + text.encode()).text == text
