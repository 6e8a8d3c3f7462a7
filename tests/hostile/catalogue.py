"""The list of hostile servers: a server is a function with @hostile, in one of the files of this folder.

A server gets what it was asked and returns the bytes of its answer, or None when it has used the connection
up. What is recorded of its host after a crawl must match its `reason`, so that whoever runs a crawl learns
from `crawlctl explain` and `crawlctl dump` what was wrong there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from crawlctl.tests.pipeline.http.bad_manners import whole

if TYPE_CHECKING:
    import socket

NOT_FOUND = whole(b"", status=b"404 Not Found")
ROBOTS = "/robots.txt"
ROOT = "/"


class Ask(NamedTuple):
    """A request as a hostile server sees it: `host` is the Host header, `patience` the client's time-out."""

    connection: socket.socket
    path: str
    host: str
    patience: float


Server = Callable[[Ask], bytes | None]


@dataclass(frozen=True)
class Hostile:
    """A hostile server: which scheme its URLs have, and what must be recorded of it.

    One that speaks itself (`raw`) gets the connection before a request was read. `reason` is a regular
    expression that must be found in what tests/soak/recorded.py tells of the host; `pages` are those that
    must be fetched although the host is hostile. Where one host does no harm, `hosts` of the kind are served.
    """

    name: str
    serve: Server
    reason: str
    scheme: str = "http"
    has_robots: bool = False
    raw: bool = False
    certificate: str = ""
    host: str = ""  # a name in place of the address
    hosts: int = 1
    pages: tuple[str, ...] = ()
    logged: bool = False  # as requests to good hosts are

    def answer(self, ask: Ask) -> bytes | None:
        """Answer a request; a server that does not care for robots.txt has none."""
        return NOT_FOUND if ask.path == ROBOTS and not self.has_robots else self.serve(ask)


CATALOGUE: dict[str, Hostile] = {}


def hostile(reason: str, **traits: Any) -> Callable[[Server], Server]:
    """Put a server into the catalogue under the name of its function."""

    def note(serve: Server) -> Server:
        CATALOGUE[serve.__name__] = Hostile(serve.__name__, serve, reason, **traits)
        return serve

    return note


def page(title: str, *links: str, text: str = "", head: str = "") -> bytes:
    """Return the answer with a page that links to others."""
    anchors = "".join(f'<a href="{link}">to {link}</a> ' for link in links)
    words = text or f"the page {title} " + " ".join(f"{title}{number}" for number in range(40))
    return whole(
        f"<html><head><title>{title}</title>{head}</head><body><p>{words}</p>{anchors}</body></html>".encode()
    )
