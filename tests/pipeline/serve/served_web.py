"""A crawl of a few pages, some of them hostile, made from an archive once for all tests of the server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.cli import run
from crawlctl.pipeline.formats.warc.warc_writer import Capture, WarcWriter
from crawlctl.pipeline.store.local.store import LocalStore

if TYPE_CHECKING:
    from pathlib import Path

VISITED = 1_700_000_000  # 2023-11-14
PAYLOAD = "\"'><script>alert(1)</script><img src=x onerror=alert(2)>{{ 7777*7777 }}"
ESCAPED = "&lt;script&gt;alert(1)&lt;/script&gt;"
HOSTILE = "http://evil.example/%3Cscript%3Ealert(3)%3C/script%3E?x='onmouseover=alert(4)"
LOOP = "https://docs.example/guide/loop.html"
NO_COPY = "https://docs.example/private.html"
NO_COPY_HEADER = "https://docs.example/header.html"
PLAIN = "https://docs.example/notes.txt"
UNSPOKEN = "zebra"  # a word that every numbered page has
NUMBERED = 25


def _html(title: str, body: str, head: str = "") -> bytes:
    return f"<!doctype html><html lang=en><title>{title}</title>{head}<body>{body}".encode()


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


# URL → body, type and further lines of the head.
PAGES: dict[str, tuple[bytes, str, str]] = {
    LOOP: (
        _html(
            "The event loop",
            "<main><h1 id=top>The event loop</h1><p>An introduction that says little of anything at all.</p>"
            "<h2 id='running loops'>Running loops</h2><p>To run an asynchronous generator, call the loop.</p>"
            "<script>document.title = 'scripted'</script></main>",
            "<meta property='article:published_time' content='2020-03-04T00:00:00Z'>",
        ),
        "text/html; charset=utf-8",
        "Last-Modified: Sat, 05 Jun 2021 00:00:00 GMT\r\n",
    ),
    HOSTILE: (
        _html(
            _escaped(PAYLOAD),
            f"<h1 id='{'x' * 3}'>{_escaped(PAYLOAD)}</h1><p>hostile {_escaped(PAYLOAD)} text</p>"
            "<script>alert(5)</script><img src='http://evil.example/pixel.gif'>",
            f'<meta name=description content="{_escaped(PAYLOAD)}">'.replace("\"'>", "&quot;'>"),
        ),
        "text/html; charset=utf-8\x1b[31m",
        "X-Odd: <script>alert(6)</script>\r\n",
    ),
    NO_COPY: (
        _html("Kept", "<p>aardvark one</p>", "<META content='NoArchive' name=Robots>"),
        "text/html",
        "",
    ),
    NO_COPY_HEADER: (_html("Kept too", "<p>aardvark two</p>"), "text/html", "X-Robots-Tag: noarchive\r\n"),
    PLAIN: (b"Plain notes about a wombat <script>alert(7)</script>.", "text/plain", ""),
    **{
        f"https://many.example/{number}": (
            _html(f"Page {number}", f"<p>{UNSPOKEN} number{number} {'word ' * number}</p>"),
            "text/html",
            "",
        )
        for number in range(NUMBERED)
    },
}


def write_web(folder: Path, pages: dict[str, tuple[bytes, str, str]] = PAGES, *settings: str) -> LocalStore:
    """Write an archive with the pages into a folder, and make a crawl of it."""
    archive, store = folder / f"pages-{len(pages)}.warc", folder / "crawl"
    with archive.open("wb") as sink:
        writer = WarcWriter(sink, archive.name, {})
        for url, (body, content_type, lines) in pages.items():
            head = f"HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\n{lines}\r\n".encode()
            writer.capture(Capture(url, VISITED, b"GET / HTTP/1.1\r\n\r\n", head, body))
    words = ["import-warc", str(archive), "--store", str(store), "--set", "partitions=2"]
    words += [word for setting in settings for word in ("--set", setting)]
    assert run([*words, "--runner", "inline"]) == 0
    return LocalStore(store)
