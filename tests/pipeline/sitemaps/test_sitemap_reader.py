from __future__ import annotations

import codecs
import gzip
import time
import tracemalloc
from typing import TYPE_CHECKING
from urllib.parse import quote

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.config.settings import SitemapSettings
from crawlctl.pipeline.config.units import Size
from crawlctl.pipeline.formats.web_dates import parse_lastmod
from crawlctl.pipeline.sitemaps import sitemap_reader
from crawlctl.pipeline.sitemaps.sitemap_reader import (
    SitemapContent,
    SitemapPage,
    SitemapReader,
    read_sitemap,
    read_sitemap_body,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

HERE = "https://example.org/sitemap.xml"
XMLNS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
DEFAULTS = SitemapSettings()
ROBOTS = "https://example.org/robots.txt"
BITS = st.binary(max_size=60) | st.sampled_from([b"<urlset>", b"<url>", b"<loc>", b"</", b"\x1f\x8b\x08"])


def urlset(*urls: str, head: str = '<?xml version="1.0" encoding="UTF-8"?>\n') -> bytes:
    entries = "".join(f"<url><loc>{url}</loc></url>\n" for url in urls)
    return f"{head}<urlset {XMLNS}>{entries}</urlset>".encode()


def read(
    *chunks: bytes, settings: SitemapSettings = DEFAULTS, strip: tuple[str, ...] = ()
) -> tuple[list[str], SitemapReader]:
    reader = SitemapReader(HERE, settings, strip)
    return [page.url for page in read_sitemap(reader, chunks)], reader


def in_pieces(body: bytes, size: int) -> Iterable[bytes]:
    return (body[start : start + size] for start in range(0, len(body), size))


def test_pages_and_their_dates_are_read() -> None:
    body = (
        f"<urlset {XMLNS}><url>\n <loc> https://example.org/a?x=1&amp;y=2\n</loc>"
        "<lastmod>2024-02-29T12:00:00+01:00</lastmod><priority>0.5</priority></url>"
        "<url><lastmod>yesterday</lastmod><loc>http://EXAMPLE.org/b#c</loc></url></urlset>"
    )
    reader = SitemapReader(HERE, DEFAULTS)
    assert list(read_sitemap(reader, [body.encode()])) == [
        SitemapPage("https://example.org/a?x=1&y=2", 1709204400),
        SitemapPage("http://example.org/b", None),
    ]
    assert (reader.problem, reader.listed, reader.children) == ("", 2, [])


def test_parameters_the_operator_named_are_stripped() -> None:
    urls, _ = read(urlset("https://example.org/a?utm_source=map"), strip=("utm_*",))
    assert urls == ["https://example.org/a"]


def test_a_sitemap_speaks_for_its_own_host_only() -> None:
    foreign = ["https://www.example.org/", "https://example.org:8443/", "https://evil.example/"]
    urls, reader = read(urlset("https://example.org/a", *foreign, "nonsense", "ftp://example.org/"))
    assert urls == ["https://example.org/a"]
    assert (reader.foreign, reader.invalid) == (3, 2)
    assert reader.problem == f"{HERE}: 3 on other hosts and 2 that are no URL of 6 entries are left out"


def test_an_index_gives_its_children_and_no_pages() -> None:
    body = (
        f"<sitemapindex {XMLNS}><sitemap><loc>https://example.org/1.xml.gz</loc></sitemap>"
        "<url><loc>https://example.org/no-page</loc></url>"
        "<sitemap><loc>https://evil.example/2.xml</loc></sitemap></sitemapindex>"
    )
    urls, reader = read(body.encode())
    assert urls == []
    assert reader.children == ["https://example.org/1.xml.gz"]


def test_the_locations_of_images_are_not_pages() -> None:
    body = (
        f"<urlset {XMLNS}><url><loc>https://example.org/a</loc>"
        "<image:image><image:loc>https://example.org/a.png</image:loc></image:image>"
        "<image:loc>https://example.org/b.png</image:loc></url></urlset>"
    )
    assert read(body.encode())[0] == ["https://example.org/a"]


def test_a_prefix_of_the_whole_vocabulary_is_understood() -> None:
    body = "<s:urlset xmlns:s='x'><s:url><s:loc>https://example.org/a</s:loc></s:url></s:urlset>"
    assert read(body.encode())[0] == ["https://example.org/a"]


def test_a_text_sitemap_has_a_url_a_line() -> None:
    body = (
        b"\xef\xbb\xbfhttps://example.org/a\r\n\r\n  https://example.org/b \nnot a url\nhttps://example.org/c"
    )
    urls, reader = read(body)
    assert urls == ["https://example.org/a", "https://example.org/b", "https://example.org/c"]
    assert reader.invalid == 1


# What a file declares, and the codec that writes it.
DECLARED = [
    ("utf-16", "utf-16"),
    ("utf-16", "utf-16-le"),
    ("utf-16", "utf-16-be"),
    ("utf-32", "utf-32"),
    ("utf-32", "utf-32-be"),
    ("iso-8859-1", "iso-8859-1"),
    ("windows-1251", "cp1251"),
    ("gb2312", "gb2312"),
    ("GBK", "gbk"),
    ("gb18030", "gb18030"),
    ("Big5", "big5"),
    ("Shift_JIS", "cp932"),
    ("EUC-JP", "euc_jp"),
    ("iso-2022-jp", "iso2022_jp"),
    ("euc-kr", "euc_kr"),
]
LETTERS = {"iso-8859-1": "é", "windows-1251": "ж", "euc-kr": "한"}


@pytest.mark.parametrize(("declared", "codec"), DECLARED)
@pytest.mark.parametrize("form", ["xml", "gzip"])
def test_a_sitemap_is_read_in_the_encoding_it_declares(declared: str, codec: str, form: str) -> None:
    letter = LETTERS.get(declared, "日")
    head = f'<?xml version="1.0" encoding="{declared}"?>\n'
    body = urlset(f"https://example.org/{letter}", "https://example.org/b", head=head).decode().encode(codec)
    urls, reader = read(gzip.compress(body) if form == "gzip" else body)
    assert urls == [f"https://example.org/{quote(letter)}", "https://example.org/b"]
    assert reader.problem == ""


@pytest.mark.parametrize("mark", [codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE])
def test_a_byte_order_mark_outweighs_the_declaration(mark: bytes) -> None:
    codec = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16-le"}.get(mark, "utf-16-be")
    head = '<?xml version="1.0" encoding="gb2312"?>'
    body = urlset("https://example.org/日", head=head).decode().encode(codec)
    assert read(mark + body)[0] == ["https://example.org/%E6%97%A5"]


@pytest.mark.parametrize(
    "label",
    [
        "unicode",
        "ANSI",
        "utf-8mb4",
        "none",
        "rot13",
        "hex",
        "utf-7",
        "undefined",
        "idna",
        "punycode",
        "x" * 900,
    ],
)
def test_an_encoding_nobody_knows_is_read_as_utf_8(label: str) -> None:
    body = urlset("https://example.org/é", head=f'<?xml version="1.0" encoding="{label}"?>')
    urls, reader = read(body)
    assert urls == ["https://example.org/%C3%A9"]
    assert reader.problem == ""


def test_a_byte_that_breaks_its_encoding_spoils_its_own_url_only() -> None:
    body = urlset("https://example.org/X", "https://example.org/b").replace(b"X", b"\xff")
    assert read(body)[0] == ["https://example.org/%EF%BF%BD", "https://example.org/b"]


def test_an_escape_sequence_that_makes_no_sense_does_no_harm() -> None:
    head = b'<?xml version="1.0" encoding="iso-2022-jp"?><urlset>'
    entry = b"<url><loc>https://example.org/a</loc></url>"
    body = head + entry + b" " * (16_384 - len(head + entry) - 9) + b"\x1b$B\x1b$iso" + entry + b"</urlset>"
    content = read_sitemap_body(HERE, body, DEFAULTS)
    assert content.pages[0].url == "https://example.org/a"
    assert "reading it failed" not in content.problem


def test_a_text_sitemap_in_utf_16_is_read() -> None:
    assert read("https://example.org/é\n".encode("utf-16"))[0] == ["https://example.org/%C3%A9"]


def test_blank_lines_and_a_byte_order_mark_before_the_declaration_do_no_harm() -> None:
    assert read(b"\n\n\xef\xbb\xbf\n" + urlset("https://example.org/a"))[0] == ["https://example.org/a"]


def in_two_members(body: bytes) -> bytes:
    return gzip.compress(body[:90]) + gzip.compress(body[90:])


@pytest.mark.parametrize("pack", [bytes, gzip.compress, in_two_members])
@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 100_000])
@pytest.mark.parametrize("form", ["xml", "text"])
def test_it_does_not_matter_how_the_bytes_arrive(
    pack: Callable[[bytes], bytes], size: int, form: str
) -> None:
    urls = [f"https://example.org/{number}" for number in range(20)]
    body = b"\xef\xbb\xbf\n" + (urlset(*urls) if form == "xml" else "\n".join(urls).encode())
    found, reader = read(*in_pieces(pack(body), size))
    assert found == urls
    assert reader.problem == ""


def test_empty_members_of_gzip_cost_no_more_than_their_bytes() -> None:
    empty = gzip.compress(b"", mtime=0)
    body = gzip.compress(urlset("https://example.org/a")) + empty * (8_000_000 // len(empty))
    began = time.process_time()
    urls, reader = read(body)
    assert time.process_time() - began < 10  # it took 51 s when each member copied the rest
    assert urls == ["https://example.org/a"]
    assert "more than 10000 gzip members" in reader.problem


def test_what_was_read_crosses_a_pipe() -> None:
    body = urlset("https://example.org/a", "https://evil.example/", "nonsense")[:-9]
    content = read_sitemap_body(HERE, body, DEFAULTS)
    assert content.pages == [SitemapPage("https://example.org/a", None)]
    assert "its XML is broken" in content.problem
    sent = msgspec.msgpack.encode(content)
    assert msgspec.msgpack.decode(sent, type=SitemapContent) == content


def test_a_fault_of_our_own_is_a_problem_of_the_sitemap(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> int:
        raise RuntimeError("a fault")

    monkeypatch.setattr(sitemap_reader, "parse_lastmod", fail)
    content = read_sitemap_body(HERE, urlset("https://example.org/a"), DEFAULTS)
    assert content.problem == f"{HERE}: reading it failed with RuntimeError: a fault"


def test_padding_behind_gzip_means_nothing() -> None:
    urls, reader = read(gzip.compress(urlset("https://example.org/a")) + bytes(512))
    assert urls == ["https://example.org/a"]
    assert reader.problem == ""


def test_an_empty_body_lists_nothing() -> None:
    for body in (b"", b"\n \n", b"\x1f"):
        assert read(body)[0] == []


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (urlset("https://example.org/a")[:-9] + b"</nonsense>", "its XML is broken"),
        (urlset("https://example.org/a")[:-9], "its XML is broken"),
        (b"<urlset>" + b"<url><loc>https://example.org/a</loc></url>" + b"<a>" * 40, "nested too deeply"),
        (gzip.compress(urlset("https://example.org/a"), mtime=0)[:-4], "end early"),
    ],
)
def test_a_broken_sitemap_gives_what_came_before_and_says_what_is_wrong(body: bytes, problem: str) -> None:
    urls, reader = read(body)
    assert urls == ["https://example.org/a"]
    assert problem in reader.problem
    assert reader.problem.startswith(HERE)


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>' + urlset(head=""), "DOCTYPE"),
        (b'<!DOCTYPE x SYSTEM "file:///etc/passwd"><urlset/>', "DOCTYPE"),
        (b"<html><body>Not found</body></html>", "a document of type html"),
        (b"<\x1b]0;title\x07/>", "its XML is broken"),
        (gzip.compress(b"x" * 100, mtime=0)[:20] + b"\xff" * 30, "damaged"),
    ],
)
def test_what_is_no_sitemap_is_refused(body: bytes, problem: str) -> None:
    urls, reader = read(body)
    assert urls == []
    assert problem in reader.problem
    assert reader.done


def test_no_more_urls_are_read_than_the_limit() -> None:
    body = urlset(*(f"https://example.org/{number}" for number in range(9)))
    urls, reader = read(body, settings=SitemapSettings(max_urls=5))
    assert len(urls) == 5
    assert "more than 5 URLs" in reader.problem
    urls, reader = read(body, settings=SitemapSettings(max_urls=9))
    assert (len(urls), reader.problem) == (9, "")


def test_no_more_bytes_are_inflated_than_the_limit() -> None:
    body = urlset("https://example.org/a") + b" " * 100
    _, reader = read(body, settings=SitemapSettings(max_bytes=Size(len(body))))
    assert reader.problem == ""
    for packed in (body, gzip.compress(body)):
        urls, reader = read(packed, settings=SitemapSettings(max_bytes=Size(len(body) - 1)))
        assert urls == ["https://example.org/a"]
        assert "more than" in reader.problem


def test_a_bomb_stays_small() -> None:
    bomb = gzip.compress(b"<urlset>" + b" " * (30 << 20), 9)
    tracemalloc.start()
    try:
        _, reader = read(bomb, settings=SitemapSettings(max_bytes=Size(20 << 20)))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "more than" in reader.problem
    assert peak < 1 << 20


@pytest.mark.parametrize("start", [b"<urlset><!--", b"<urlset a='", b"http://example.org/"])
def test_a_piece_that_does_not_end_is_given_up(start: bytes) -> None:
    _, reader = read(start, *[b"x" * 65_536] * 30)
    assert "the rest is left out" in reader.problem


def test_the_number_of_elements_is_bounded() -> None:
    urls, reader = read(urlset("https://example.org/a")[:-9], b"<x/>" * 1_100_000)
    assert urls == ["https://example.org/a"]
    assert "more than 1000000 elements" in reader.problem


def test_a_location_that_is_too_long_is_no_url() -> None:
    urls, reader = read(urlset("https://example.org/" + "a<x/>" * 5_000, "https://example.org/b"))
    assert urls == ["https://example.org/b"]
    assert reader.invalid == 1


@given(
    st.lists(
        st.binary(max_size=60) | st.sampled_from([b"<urlset>", b"<url>", b"<loc>", b"</", b"\x1f\x8b\x08"])
    )
)
def test_no_bytes_raise(chunks: list[bytes]) -> None:
    _, reader = read(*chunks)
    assert reader.done


@pytest.mark.parametrize(
    ("text", "stamp"),
    [
        ("1970-01-01", 0),
        ("2024", 1704067200),
        ("2024-02", 1706745600),
        ("2024-02-29", 1709164800),
        ("2024-02-29T23:59:60Z", 1709251199),
        ("2024-02-29T12:30Z", 1709209800),
        ("2024-02-29T12:30:00.123456-05:30", 1709229600),
        ("2024-02-29 12:30:00", 1709209800),
        ("2024-02-29T12:30:00+0100", 1709206200),
        ("2023-02-29", None),
        ("2024-13-01", None),
        ("1969-12-31", None),
        ("0000-01-01", None),
        ("9999-12-31T23:59:59-23:59", None),
        ("29.02.2024", None),
        ("", None),
        ("٢٠٢٤", None),
    ],
)
def test_dates_are_read_as_w3c_writes_them(text: str, stamp: int | None) -> None:
    assert parse_lastmod(text) == stamp


def test_what_lies_before_the_damage_of_a_gzip_file_is_read() -> None:
    urls = [f"https://example.org/{number * 7919}" for number in range(200)]
    packed = gzip.compress(urlset(*urls), mtime=0)
    damaged = packed[: len(packed) // 2] + bytes(99) + packed[len(packed) // 2 + 99 :]
    whole, reader = read(damaged)
    assert "damaged" in reader.problem or "broken" in reader.problem
    assert whole == read(*in_pieces(damaged, 7))[0]
    assert whole == urls[: len(whole)] and len(whole) > 50
