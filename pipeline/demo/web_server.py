"""The HTTP/1.1 servers of the demo web: one port per site, one thread per connection."""

from __future__ import annotations

import os
import sys
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from socketserver import TCPServer, ThreadingMixIn
from typing import TYPE_CHECKING, Any

from crawlctl.pipeline.demo.resources import Resource

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.pipeline.demo.pages import Site

LOOPBACK = "127.0.0.1"
ANY_PORT = 0
NOT_FOUND = Resource(
    b"<!DOCTYPE html><title>Not found</title><p>No such page.\n", status=HTTPStatus.NOT_FOUND
)
IDLE_SECONDS = 60


class AccessLog:
    """A file with one line per answer: status and URL."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)

    def write(self, status: int, url: str) -> None:
        """Append a line in one system call, so that it is in the file before the client has the answer."""
        os.write(self._file, f"{status} {url}\n".encode())


class SiteServer(ThreadingMixIn, TCPServer):
    """The server of one site. (http.server's own class would ask DNS for the name of this machine.)"""

    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port: int = ANY_PORT, log: AccessLog | None = None) -> None:
        super().__init__((LOOPBACK, port), _Handler)
        self.base = f"http://{LOOPBACK}:{self.server_address[1]}/"
        self.site: Site = {}
        self.log = log

    def start(self, site: Site) -> None:
        """Start to answer, in a thread; clients that connected earlier get their answers now."""
        self.site = site
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print nothing about clients that were killed during a request."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "crawlctl-demo", ""
    timeout = IDLE_SECONDS
    wbufsize = -1  # header and body leave in one packet if they fit
    disable_nagle_algorithm = True
    server: SiteServer

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def _answer(self, with_body: bool) -> None:
        resource = self.server.site.get(self.path, NOT_FOUND)
        asked = self.headers
        unchanged = resource.is_unchanged(asked.get("If-None-Match"), asked.get("If-Modified-Since"))
        self.send_response(HTTPStatus.NOT_MODIFIED if unchanged else resource.status)
        for name, value in resource.headers().items():
            self.send_header(name, value)
        if not unchanged:
            self.send_header("Content-Length", str(len(resource.body)))
        self.end_headers()
        if with_body and not unchanged:
            self.wfile.write(resource.body)

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        if self.server.log is not None:
            self.server.log.write(int(code), self.server.base + self.path[1:])

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name in http.server
        pass
