"""Servers whose documents are made to hold the parser up."""

from __future__ import annotations

import gzip
import zlib
from functools import lru_cache
from typing import TYPE_CHECKING

from crawlctl.tests.hostile.answers import MANY, number_in
from crawlctl.tests.hostile.catalogue import ROOT, hostile, page
from crawlctl.tests.pipeline.http.bad_manners import whole

if TYPE_CHECKING:
    from crawlctl.tests.hostile.catalogue import Ask

STOPPED = "parse timeout|parse crash"
GZIP = b"Content-Encoding: gzip\r\n"


@lru_cache(maxsize=64)
def packed(body: bytes) -> bytes:
    return whole(gzip.compress(body, 6), GZIP)


def captive(name: str, path: str, body: bytes) -> bytes:
    if path == ROOT:
        return page(name, *(f"/{name}{number}" for number in range(MANY)))
    return packed(b"<title>%s %d</title>" % (name.encode(), number_in(path)) + body)


@hostile(STOPPED)
def nested_elements(ask: Ask) -> bytes:
    return captive("nest", ask.path, b"<div>" * 70_000)


@hostile(STOPPED)
def many_attributes(ask: Ask) -> bytes:
    attributes = b" ".join(b"a%d=1" % number for number in range(50_000))
    return captive("attr", ask.path, b"<p " + attributes + b">")


@hostile(r"/table\d+ fetched 200|parse timeout")
def nested_tables(ask: Ask) -> bytes:
    return captive("table", ask.path, b"<table><tr><td>" * 20_000)


@hostile("(fetched|unchanged|duplicate) 200|parse timeout")
def pages_of_links(ask: Ask) -> bytes:
    """Fill each page with 8 MB of links to more such pages."""
    start = number_in(ask.path)
    links = b"".join(
        b'<a href="/links%d-%d">more and more</a>\n' % (start, number) for number in range(180_000)
    )
    return whole(gzip.compress(b"<title>links %d</title>" % start + links, 1), GZIP)


@hostile(f"{STOPPED}|timeout")
def pdf_bomb(ask: Ask) -> bytes:
    if ask.path == ROOT:
        return page("papers", *(f"/paper{number}.pdf" for number in range(5)))
    body = two_layers_of_zeros()
    return (
        b"HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    )


@lru_cache(maxsize=1)
def two_layers_of_zeros() -> bytes:
    """Return a PDF of a page whose content inflates to 600 MB."""
    inner = zlib.compressobj(9)
    zeros = b"".join(inner.compress(b"(a) Tj " * 150_000) for _ in range(570)) + inner.flush()
    stream = zlib.compress(zeros, 9)
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R>>",
        b"<</Filter[/FlateDecode/FlateDecode]/Length %d>>stream\n%s\nendstream" % (len(stream), stream),
    ]
    body = b"%PDF-1.4\n"
    places = []
    for number, content in enumerate(objects, 1):
        places.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    trailer = b"trailer<</Root 1 0 R/Size 5>>\nstartxref\n%d\n%%%%EOF" % len(body)
    return body + b"xref\n0 5\n0000000000 65535 f \n" + table + trailer
