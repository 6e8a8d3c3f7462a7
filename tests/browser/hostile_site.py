"""A site whose every page has one hostile text in one of its fields: each field with each payload.

A payload that runs, or is loaded, asks this site for a path that begins with RUN, or calls `alert`.
"""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from hashlib import blake2b
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Iterator

WORD = "quagga"  # every page has it
RUN = "/ran/"
_DO = "fetch('RUN');alert(1)"  # RUN becomes an address of the site

# What may be HTML, an attribute, a script, a style, a template, a URL, XML or an order to a terminal.
PAYLOADS = (
    f"<script>{_DO}</script>",
    f"</title></textarea></style></script><script>{_DO}</script>",
    f'<img src=x onerror="{_DO}">',
    "<img src=RUN><iframe src=RUN></iframe><link rel=stylesheet href=RUN><object data=RUN></object>",
    f"<svg onload={_DO.replace(' ', '')}><a xlink:href='javascript:{_DO}'>",
    f'"><script>{_DO}</script><i x="',
    f"'><script>{_DO}</script><i x='",
    f'" autofocus onfocus="{_DO}" x="',
    f"' onmouseover='{_DO}' style='position:fixed;inset:0",
    f"javascript:{_DO}",
    f"JaVa\tScRiPt:{_DO}//",
    f"data:text/html,<script>{_DO}</script>",
    "<meta http-equiv=refresh content='0;url=RUN'><base href=RUN>",
    "<form action=RUN><button autofocus>go</button></form><style>@import 'RUN';*{background:url(RUN)}",
    "{{ 7*7 }}{% for x in ().__class__.__mro__ %}{{ x }}{% endfor %}${7*7}#{7*7}",
    f"&lt;script&gt;{_DO}&lt;/script&gt;&#60;script&#62;{_DO}&#60;/script&#62;",
    f"+ADw-script+AD4-{_DO}+ADw-/script+AD4-",
    f"]]><script xmlns='http://www.w3.org/1999/xhtml'>{_DO}</script>--><!--",
    f"\u202e\u2066\u2028</script><script>{_DO}</script>\u200b",
    f"<mark>\x02<b>\x03</mark><x onclick={_DO}>\x1b]0;owned\x07\x1b[2J",
    "\\u003cscript\\u003e\\\"};alert(1);//'+alert(1)+'",
    f'<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror={_DO}&gt;">',
)
# Where a page may have a text that is stored, shown or linked to; `raw` is a page that really does harm.
FIELDS = (
    *("title", "heading", "anchor", "text", "description", "site_name", "image", "author", "published"),
    *("language", "canonical", "path", "query", "content_type", "last_modified", "json_ld", "plain"),
    *("link", "raw"),
)


class HostilePage(NamedTuple):
    """One page: where it is, and what the server answers."""

    path: str
    content_type: str
    headers: dict[str, str]
    body: bytes


def pages(origin: str) -> dict[str, HostilePage]:
    """Return the pages by path; `origin` is the site."""
    made = [
        _page(field, number, payload.replace("RUN", f"{origin}{RUN}{field}-{number}"), origin)
        for field in FIELDS
        for number, payload in enumerate(PAYLOADS)
    ]
    return {page.path: page for page in made}


def _page(field: str, number: int, payload: str, origin: str) -> HostilePage:
    path = f"/{field}/{number}"
    path += f"/{quote(payload, safe='')}" if field == "path" else ""
    path += f"?q={quote(payload, safe='')}" if field == "query" else ""
    # Words of its own keep a page from being like others.
    words = " ".join(blake2b(f"{path}{word}".encode()).hexdigest()[:8] for word in range(50))
    about = f"{WORD} {field}{number} {words}"
    if field == "plain":
        return HostilePage(path, "text/plain; charset=utf-8", {}, f"{payload}\n{about}".encode())
    headers = {"Last-Modified": _line(payload)} if field == "last_modified" else {}
    content_type = (
        f"text/html; charset={_line(payload)}" if field == "content_type" else "text/html; charset=utf-8"
    )
    return HostilePage(path, content_type, headers, _html(field, payload, about, origin).encode())


def _html(field: str, payload: str, about: str, origin: str) -> str:
    """Return a page in which a payload is the text of a field; a browser would show it and not run it."""
    texts = dict.fromkeys(FIELDS, "") | {field: escape(payload)}
    person = json.dumps({"@type": "Article", "author": {"name": payload}, "dateModified": payload})
    data = person.replace("<", "\\u003c") if field == "json_ld" else ""
    link = texts["link"] or "none"
    canonical = f'<link rel=canonical href="{origin}/{texts["canonical"]}">' if field == "canonical" else ""
    return (
        f'<!doctype html><html lang="{texts["language"] or "en"}"><head>'
        f"<title>{texts['title'] or about[:20]}</title>{canonical}"
        f'<meta name=description content="{texts["description"]}">'
        f'<meta property=og:site_name content="{texts["site_name"]}">'
        f'<meta property=og:image content="{texts["image"]}"><meta name=author content="{texts["author"]}">'
        f'<meta property=article:published_time content="{texts["published"]}">'
        f"<script type=application/ld+json>{data or '{}'}</script></head><body><main>"
        f'<h2 id="{texts["anchor"] or "a"}">{texts["heading"] or about[:30]}</h2><p>{about}</p>'
        f"<p>{texts['text']} {payload if field == 'raw' else ''} {about}</p>"
        f'<a href="{link}">{link} {about[:20]}</a></main></body></html>'
    )


def _line(payload: str) -> str:
    """Return a payload as a header can have it: one line of Latin-1."""
    return "".join(one for one in payload if one.isprintable()).encode("latin-1", "ignore").decode("latin-1")


class HostileSite:
    """The running site: its address, and what a payload has asked it for."""

    def __init__(self, port: int) -> None:
        self.origin = f"http://127.0.0.1:{port}"
        self.ran: list[str] = []
        self.pages = pages(self.origin)


@contextmanager
def hostile_site() -> Iterator[HostileSite]:
    """Run the site."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            if self.path.startswith(RUN):
                site.ran.append(self.path)
            page = _start(site) if self.path == "/" else site.pages.get(self.path)
            self.send_response(200 if page else 404)
            for name, value in (page.headers if page else {}).items():
                self.send_header(name, value)
            self.send_header("Content-Type", page.content_type if page else "text/plain")
            self.send_header("Content-Length", str(len(page.body) if page else 0))
            self.end_headers()
            self.wfile.write(page.body if page else b"")

        def log_message(self, *args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    site = HostileSite(server.server_port)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()


def _start(site: HostileSite) -> HostilePage:
    links = "".join(f'<a href="{escape(path)}">{escape(path)}</a> ' for path in site.pages)
    return HostilePage("/", "text/html", {}, f"<!doctype html><title>All</title>{links}".encode())
