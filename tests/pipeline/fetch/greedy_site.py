"""A site made to fill the memory of who crawls it; serves on loopback, as a process of its own.

Pages come without end and each is as large as a crawler takes: a text of words nobody has used before, links
of the greatest length with anchors of wide characters, or both. The hosts are ports of one server each.
"""

from __future__ import annotations

import sys
import threading
from hashlib import blake2b
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

WORDS = 100_000  # of a page, all different
LINKS = 3_500  # of a page; with their length they fill eight megabytes
URL_CHARS = 2_000
ANCHOR = "мегабайт за мегабайтом " * 4


def words(path: str) -> str:
    seed = blake2b(path.encode(), digest_size=4).hexdigest()
    return " ".join(f"{seed}{number:x}" for number in range(WORDS))


def links(path: str) -> str:
    seed = blake2b(path.encode(), digest_size=8).hexdigest()
    filler = seed * (URL_CHARS // 16)
    return "".join(
        f'<a href="/{number}/{filler}/{number % 3}">{ANCHOR}{number}</a>' for number in range(LINKS)
    )


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.path == "/robots.txt":
            self.answer(b"", 404)
            return
        kind = self.path[-1]
        text = words(self.path) if kind in "01" else ""
        more = links(self.path) if kind in "02/" else ""
        self.answer(f"<title>{self.path[:30]}</title><p>{text}</p>{more}".encode()[:8_300_000])

    def answer(self, body: bytes, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


if __name__ == "__main__":
    servers = [ThreadingHTTPServer(("127.0.0.1", 0), Handler) for _ in range(int(sys.argv[1]))]
    for server in servers:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
    print(*(server.server_address[1] for server in servers), flush=True)
    sys.stdin.read()
