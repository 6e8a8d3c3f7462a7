"""What the fuzzer starts from: small inputs of each kind, and the pieces their formats are made of."""

from __future__ import annotations

import gzip
import json
import zlib
from pathlib import Path
from typing import NamedTuple

from crawlctl.tests.fuzz.zip_seeds import epub_seeds, office_seeds, xml_seeds
from crawlctl.tests.pipeline.imports.archives import answer, page, record

SHARED = Path(__file__).parents[3] / "shared" / "data"


class Corpus(NamedTuple):
    """Seeds, and tokens to put into them."""

    seeds: tuple[bytes, ...]
    tokens: tuple[bytes, ...]


_SENTENCE = "Süße Früchte, 日本語 и кириллица; an ordinary sentence about nothing. "
_ENCODINGS = (
    "utf-8",
    "utf-16",
    "utf-16-be",
    "utf-32",
    "gb18030",
    "euc_jp",
    "iso2022_jp",
    "cp1251",
    "big5",
    "cp932",
    "cp949",
)
_LABELS = (
    b"gb2312",
    b"GBK",
    b"Shift_JIS",
    b"euc-jp",
    b"Big5",
    b"euc-kr",
    b"iso-2022-jp",
    b"iso-2022-kr",
    b"hz-gb-2312",
    b"utf-7",
    b"utf-8mb4",
    b"utf-16",
    b"utf-32",
    b"windows-1252",
    b"unicode",
    b"none",
    b"rot13",
    b"hex",
    b"idna",
    b"punycode",
    b"undefined",
)
_HTML = page("Loops", "/a", "b?c=d&e#f", "//h.example/", "http://[::1]:81/x") + (
    '<meta charset="utf-8"><meta name="robots" content="noindex, max-snippet:-1"><base href="/x/">'
    '<link rel="canonical" href="/y"><meta http-equiv="refresh" content="5; url=/z"><h1>Title</h1>'
    f"<table><tr><td>{_SENTENCE}<td><svg><title>x</title></svg><template><p>t</template></table>"
    "<script>if (a<b) {}</script><style>p{}</style><noscript>text</noscript><textarea></textarea>"
    "<a href=' java\tscript:x' rel=nofollow>y</a><!-- c --><![CDATA[d]]>&amp;&#x1F600;&#0;&notit;"
)
_XHTML = (
    '<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml">'
    f"<head><title>T</title></head><body><p>{_SENTENCE}<br/><a href='/a'>a</a></p><![CDATA[<b>]]></body>"
    "</html>"
)
_RSS = (
    '<?xml version="1.0"?><rss version="2.0"><channel><title>News</title><link>http://h.example/</link>'
    "<item><title>One</title><link>/1</link><pubDate>Tue, 10 Jun 2003 04:00:00 GMT</pubDate>"
    "<description>&lt;p&gt;text&lt;/p&gt;</description></item></channel></rss>"
)
_ATOM = (
    '<?xml version="1.0" encoding="utf-8"?><feed xmlns="http://www.w3.org/2005/Atom"><title>F</title>'
    '<link href="/feed" rel="self"/><entry><title>E</title><link href="/e"/>'
    "<updated>2003-12-13T18:30:02Z</updated><summary>s</summary></entry></feed>"
)
_URLSET = (
    '<?xml version="1.0" encoding="{}"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    "<url><loc>https://h.example/日</loc><lastmod>2024-02-29T12:00:00+01:00</lastmod></url>"
    "<url><loc>https://h.example/b?x=1&amp;y=2</loc><priority>0.5</priority></url></urlset>"
)
_JSON_FEED = (
    b'{"version": "https://jsonfeed.org/version/1.1", "items": [{"url": "/e", "date_modified": "2003"}]}'
)
_INDEX = "<sitemapindex><sitemap><loc>https://h.example/1.xml.gz</loc></sitemap></sitemapindex>"
_ROBOTS = (
    "\ufeffUser-agent: *\nDisallow: /private/\nAllow: /private/*.html$\nCrawl-delay: 1.5\n"
    "Sitemap: https://h.example/sitemap.xml\n\nUser-agent: crawlctl\nUser-agent: other\n"
    "Disallow: /*?session=*&\nDisallow: /caf%C3%A9/~x\nAllow: /index.html\nDisallow: *.gif$ # comment\n"
)
_HEAD = (
    "HTTP/1.1 301 Moved\r\nContent-Type: text/html; charset=utf-8\r\nLocation: ../b?c\r\n"
    'Retry-After: 120\r\nETag: W/"x"\r\nLast-Modified: Tue, 15 Nov 1994 12:45:26 GMT\r\n'
    "X-Robots-Tag: crawlctl: noindex, unavailable_after: 25 Jun 2010 15:00:00 PST\r\n"
    "Content-Language: de, en\r\nContent-Encoding: gzip\r\n folded\r\nSet-Cookie: a=b\r\n\r\n"
)
_URLS = (
    "https://user:pw@Host.Example:8080/a/../b/%7Ejoe/?q=1&sid=x#f",
    "http://[2001:db8::1]:80/x?",
    "http://0x7f.1/a\\b",
    "//h.example/\t\n x",
    "?only=query&a[]=1&;=%zz",
    "http://bücher.example/ä?ö",
    "http://xn--bcher-kva.example./",
    "http://1.2.3.4.:65535/",
    "ftp://h/x",
    "javascript:alert(1)",
    "data:text/html,x",
    "http://a.co.uk/" + "a/" * 30,
)
_DATES = (
    "Tue, 15 Nov 1994 12:45:26 GMT",
    "Tuesday, 15-Nov-94 12:45:26 GMT",
    "Tue Nov 15 12:45:26 1994",
    "2024-02-29T23:59:60.123+05:30",
    "2024-02",
    "120",
    "5; url='/x'",
    "noindex, nofollow, max-snippet: 20",
    "Fri, 31 Dec 9999 23:59:59 GMT",
)
_PDF = (
    b"%PDF-1.4\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n"
    b"2 0 obj\n<</Type/Pages/Count 1/Kids[4 0 R]>>\nendobj\n"
    b"3 0 obj\n<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>\nendobj\n"
    b"4 0 obj\n<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 5 0 R"
    b"/Resources<</Font<</F1 3 0 R>>>>>>\nendobj\n"
    b"5 0 obj\n<</Length 39>>stream\nBT /F1 12 Tf 72 700 Td (Hello you) Tj ET\nendstream\nendobj\n"
    b"trailer<</Size 6/Root 1 0 R>>\n%%EOF\n"
)
_FLATE = zlib.compress(b"BT /F1 12 Tf 72 700 Td (Hello you) Tj ET" * 9)
_FLATE_PDF = _PDF.replace(
    b"<</Length 39>>stream\nBT /F1 12 Tf 72 700 Td (Hello you) Tj ET",
    b"<</Length %d/Filter/FlateDecode>>stream\n%b" % (len(_FLATE), _FLATE),
)
_ZIP_PIECES = (b"PK\x01\x02", b"PK\x03\x04", b"PK\x05\x06", b"\x08\x00", b"\xff\xff\xff\xff")
_RECORDS = (
    record("http://h.example/", answer(page("Loops"), "Transfer-Encoding: chunked"))
    + record("http://h.example/b", answer("x", "Content-Encoding: gzip", "Location: /c", status="302 Found"))
    + record("dns:h.example", b"1.2.3.4", kind="resource", content_type="text/dns")
)
_TAGS = (
    b"<div>",
    b"<a href='",
    b"<table>",
    b"</p>",
    b"<!--",
    b"<![CDATA[",
    b"<svg>",
    b"&#x110000;",
    b"\0",
)
_XML = (
    b"<?xml ",
    b"<!DOCTYPE x [<!ENTITY a 'b'>]>",
    b"&a;",
    b"<url>",
    b"<loc>",
    b"</loc>",
    b"\xef\xbb\xbf",
)
_PDF_PIECES = (
    b" 0 R",
    b"<<",
    b">>",
    b"/Kids[2 0 R]",
    b"/Filter[/FlateDecode/FlateDecode]",
    b"/Count ",
    b"stream\n",
)
_ROBOTS_PIECES = (
    b"\nUser-agent: *",
    b"\nDisallow: ",
    b"\nAllow: /",
    b"*",
    b"$",
    b"%2A",
    b"\r",
    b"\nCrawl-delay: ",
    b"/",
)
_URL_PIECES = (
    b"/",
    b"..",
    b"?",
    b"#",
    b"@",
    b":",
    b"%",
    b"[",
    b"\\",
    b"xn--",
    b"http://",
    b"&",
    b"\xf0\x9f\x92\xa9",
)
_DECLARED = tuple(b' encoding="%b"' % label for label in _LABELS)


def corpora() -> dict[str, Corpus]:
    """Return the corpus of each target."""
    return {
        "html": Corpus(_encoded(_HTML), (*_TAGS, *_LABELS, b"<meta charset=", b"<base href='http://[/'>")),
        "xhtml": Corpus(_encoded(_XHTML), (*_TAGS, *_DECLARED)),
        "feeds": Corpus(
            (_RSS.encode(), _ATOM.encode(), _ATOM.encode("utf-16"), _JSON_FEED), (*_XML, *_TAGS, *_DECLARED)
        ),
        "sitemaps": Corpus(
            _sitemaps(), (*_XML, *_DECLARED, b"\x1f\x8b\x08", b"\x1b$B\x1b$", gzip.compress(b"", mtime=0))
        ),
        "robots": Corpus((_ROBOTS.encode(), _ROBOTS.encode("utf-16"), *_robots_of_google()), _ROBOTS_PIECES),
        "headers": Corpus(
            (_HEAD.encode(), _HEAD.replace("301 Moved", "503 No").encode(), _HEAD.encode("utf-16-le")),
            (b"\r\n", b"\n ", b"Location: ", b"Retry-After: ", b":", b"\0", b"http://", b"\xff", b"charset="),
        ),
        "urls": Corpus((*(url.encode() for url in _URLS), *_urls_of_wpt()), _URL_PIECES),
        "dates": Corpus(
            tuple(date.encode() for date in _DATES), (b" GMT", b"T", b"+", b"-", b":", b"\xd9\xa2")
        ),
        "charset": Corpus(
            (*_encoded(_SENTENCE * 3), *_encoded(_HTML)),
            (*_LABELS, b"\x1b$B", b"\x1b$)C", b"~{", b"\xff\xfe", b"\xfe\xff", b"<meta charset=", b"\0"),
        ),
        "pdf": Corpus((_PDF, _FLATE_PDF), _PDF_PIECES),
        "office": Corpus(office_seeds(), (*_XML, *_ZIP_PIECES, b"<w:t>", b"<c t='s'><v>9</v></c>")),
        "epub": Corpus(epub_seeds(), (*_XML, *_ZIP_PIECES, b"<itemref idref='a'/>", b"href='../a.xhtml'")),
        "xml": Corpus(xml_seeds(), (*_XML, *_TAGS, *_DECLARED, b"<title>", b"</title>", b"]]>")),
        "warc": Corpus(
            (_RECORDS, gzip.compress(_RECORDS, mtime=0), *_archives()),
            (b"WARC/1.0\r\n", b"\r\n\r\n", b"Content-Length: ", b"Content-Encoding: br\r\n", b"\x1f\x8b\x08"),
        ),
    }


def _encoded(text: str) -> tuple[bytes, ...]:
    return tuple(text.encode(encoding, "replace") for encoding in _ENCODINGS)


def _sitemaps() -> tuple[bytes, ...]:
    codecs = {
        "utf-8": "utf-8",
        "gb2312": "gb2312",
        "Shift_JIS": "cp932",
        "utf-16": "utf-16",
        "utf-32": "utf-32",
    }
    written = tuple(_URLSET.format(label).encode(codec) for label, codec in codecs.items())
    text = "https://h.example/a\nhttps://h.example/日\n".encode()
    return (*written, _INDEX.encode(), text, *(gzip.compress(one, mtime=0) for one in (*written[:2], text)))


def _robots_of_google() -> tuple[bytes, ...]:
    path = SHARED / "conformance" / "robots-cases.json"
    if not path.exists():
        return ()
    return tuple(sorted({case["robots"].encode() for case in json.loads(path.read_bytes())}))


def _urls_of_wpt() -> tuple[bytes, ...]:
    path = SHARED / "conformance" / "wpt-urltestdata.json"
    if not path.exists():
        return ()
    cases = (case for case in json.loads(path.read_bytes()) if isinstance(case, dict))
    return tuple(case["input"].encode(errors="surrogatepass") for case in cases if "input" in case)


def _archives() -> tuple[bytes, ...]:
    return tuple(path.read_bytes()[:16_000] for path in sorted((SHARED / "warc").glob("*.warc.gz")))
