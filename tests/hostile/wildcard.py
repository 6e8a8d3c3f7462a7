"""A name server that knows every name: one machine whose pages link to hosts that nobody has seen before."""

from __future__ import annotations

import threading
import time
from collections import Counter
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

SCOPE = "*.localhost"  # libcurl leads every name below localhost to 127.0.0.1


class Wildcard:
    """The machine: every host has one page, with links to so many new hosts."""

    def __init__(self, port: int, links: int) -> None:
        self.port = port
        self.asked: list[tuple[float, str, str]] = []  # time, host, path
        self._links = links
        self._numbers = count()

    def url(self, name: str) -> str:
        return f"http://{name}.localhost:{self.port}/"

    def page(self, host: str) -> bytes:
        links = "".join(f'<a href="{self.url(f"n{next(self._numbers)}")}">x</a>' for _ in range(self._links))
        return f"<title>{host}</title><p>this is {host}, like no other {host * 9}</p>{links}".encode()

    def busiest_second(self) -> int:
        """Return the most requests that began within one second, wherever it begins."""
        times = sorted(moment for moment, _, _ in self.asked)
        return max((sum(start <= one < start + 1 for one in times) for start in times), default=0)

    def requests_by_host(self) -> Counter[str]:
        return Counter(host for _, host, _ in self.asked)


@contextmanager
def wildcard_server(links: int = 50) -> Iterator[Wildcard]:
    """Serve while the block runs."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    machine = Wildcard(server.server_address[1], links)
    server.machine = machine  # type: ignore[attr-defined]  # where the handler finds it
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield machine
    finally:
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        machine: Wildcard = self.server.machine  # type: ignore[attr-defined]
        host = self.headers.get("Host", "")
        machine.asked.append((time.time(), host, self.path))
        is_page = self.path == "/"
        body = machine.page(host) if is_page else b"not here"
        self.send_response(200 if is_page else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass
