"""Sites on loopback, each a host of its own by its port, that remember what they were asked."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

HTML = "text/html; charset=utf-8"
# Words enough to be told from other pages; near duplicates differ in one of them.
FILLER = " ".join(f"word{number}" for number in range(200))


LOOPBACK = "127.0.0.1"


@dataclass
class Resource:
    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0


class Site:
    """A host: resources by path, with a wildcard for what is not among them."""

    def __init__(self, port: int, address: str = LOOPBACK) -> None:
        self.host = f"{address}:{port}"
        self.resources: dict[str, Resource] = {}
        self.asked: list[str] = []
        self.times: list[float] = []  # when, by a clock that cannot be set
        self.conditions: list[str] = []
        self.seconds = 0.0

    def url(self, path: str = "/") -> str:
        return f"http://{self.host}{path}"

    def page(
        self, path: str, *links: str, title: str = "", text: str = "", head: str = "", **headers: str
    ) -> None:
        anchors = "".join(f'<a href="{link}">to {link}</a> ' for link in links)
        words = text or f"the page {path} of {self.host} {path * 20}"
        body = f"<head><title>{title or path}</title>{head}</head><body><p>{words}</p>{anchors}</body>"
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        self.resources[path] = Resource(body.encode(), headers={"Content-Type": HTML, **names})

    def text(self, path: str, body: str, status: int = 200, kind: str = "text/plain") -> None:
        self.resources[path] = Resource(body.encode(), status, {"Content-Type": kind})

    def redirect(self, path: str, target: str, status: int = 301) -> None:
        self.resources[path] = Resource(status=status, headers={"Location": target})

    def pages_asked(self) -> list[str]:
        return [path for path in self.asked if path != "/robots.txt"]


@contextmanager
def serving(count: int, address: str = LOOPBACK) -> Iterator[list[Site]]:
    """Serve so many sites while the block runs."""
    servers = [ThreadingHTTPServer((address, 0), _Handler) for _ in range(count)]
    sites = []
    for server in servers:
        server.daemon_threads = True
        site = Site(server.server_address[1], address)
        server.site = site  # type: ignore[attr-defined]  # where the handler finds it
        sites.append(site)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield sites
    finally:
        for server in servers:
            server.shutdown()
            server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        site: Site = self.server.site  # type: ignore[attr-defined]
        site.asked.append(self.path)
        site.times.append(time.monotonic())
        resource = site.resources.get(self.path) or Resource(b"not here", 404)
        time.sleep(resource.seconds or site.seconds)
        condition = self.headers.get("If-None-Match")
        if condition:
            site.conditions.append(self.path)
        if condition and condition == resource.headers.get("ETag"):
            resource = Resource(status=304, headers={"ETag": condition})
        self.send_response(resource.status)
        for name, value in resource.headers.items():
            self.send_header(name, value)
        if resource.status != 304:
            self.send_header("Content-Length", str(len(resource.body)))
        self.end_headers()
        self.wfile.write(resource.body)

    do_CONNECT = do_GET  # a proxy that lets nobody through  # noqa: N815

    def log_message(self, *args: object) -> None:
        pass
