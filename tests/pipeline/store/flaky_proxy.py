"""A real HTTP proxy in front of an S3 server that spoils the requests it is told to spoil.

Faults are words: `drop-before` (the connection ends before the request is passed on), `drop-after` (after it
was carried out, so the answer is lost), `stall` (carried out, and no answer within any patience), `cut-body`
(half of the answer), `refuse-keys` (a deletion that deletes nothing), or an answer such as `503 SlowDown`.
"""

from __future__ import annotations

import http.client
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

ERROR_BODY = "<Error><Code>{code}</Code><Message>{code} of the test.</Message></Error>"
REFUSED_KEY = "<Error><Key>{key}</Key><Code>AccessDenied</Code><Message>Not you.</Message></Error>"
PER_HOP = {"connection", "transfer-encoding", "keep-alive"}


class FlakyProxy:
    """Listens on a port of its own; requests are counted from 1 after each plan()."""

    def __init__(self, upstream: str) -> None:
        self.upstream = urlsplit(upstream).netloc
        self.requests: list[str] = []
        self.finished = threading.Event()
        self._faults: dict[int, str] = {}
        self._always: str | None = None
        self._lock = threading.Lock()
        proxy = self

        class Handler(_Handler):
            owner = proxy

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.endpoint = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def plan(self, faults: dict[int, str] | None = None, always: str | None = None) -> None:
        """Spoil the requests with these numbers from now on, or every one."""
        with self._lock:
            self.requests = []
            self._faults = faults or {}
            self._always = always

    def next_fault(self, request: str) -> str | None:
        with self._lock:
            self.requests.append(request)
            return self._always or self._faults.get(len(self.requests))

    def close(self) -> None:
        self.finished.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    owner: FlakyProxy

    def handle_request(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        fault = self.owner.next_fault(f"{self.command} {self.path}")
        if fault == "drop-before":
            self.close_connection = True
        elif fault == "refuse-keys":
            keys = re.findall(rb"<Key>(.*?)</Key>", body)
            refused = "".join(REFUSED_KEY.format(key=key.decode()) for key in keys)
            self._answer(200, f"<DeleteResult>{refused}</DeleteResult>")
        elif fault and fault[0].isdigit():
            status, code = fault.split()
            self._answer(int(status), ERROR_BODY.format(code=code))
        else:
            self._forward(body, fault)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = handle_request  # noqa: N815 - names of the base class

    def _answer(self, status: int, text: str) -> None:
        body = text.encode() if self.command != "HEAD" else b""
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Type", "application/xml")
        self.end_headers()
        self.wfile.write(body)

    def _forward(self, body: bytes, fault: str | None) -> None:
        connection = http.client.HTTPConnection(self.owner.upstream, timeout=30)
        try:
            headers = {name: value for name, value in self.headers.items() if name.lower() not in PER_HOP}
            headers.pop("Expect", None)  # answered by this server
            connection.request(self.command, self.path, body, headers)
            answer = connection.getresponse()
            content = answer.read()
        finally:
            connection.close()
        if fault in {"drop-after", "stall"}:
            if fault == "stall":
                self.owner.finished.wait(3)
            self.close_connection = True
        else:
            self._pass_back(answer, content, cut=fault == "cut-body")

    def _pass_back(self, answer: http.client.HTTPResponse, content: bytes, *, cut: bool) -> None:
        self.send_response_only(answer.status, answer.reason)
        for name, value in answer.getheaders():
            if name.lower() not in PER_HOP | {"content-length"}:
                self.send_header(name, value)
        length = answer.getheader("Content-Length") if self.command == "HEAD" else str(len(content))
        if length is not None and answer.status != 204:
            self.send_header("Content-Length", length)
        if cut and not content:
            self.close_connection = True  # in the middle of the headers
            self.flush_headers()
            return
        self.end_headers()
        self.wfile.write(content[: len(content) // 2] if cut else content)
        self.close_connection = cut

    def handle_one_request(self) -> None:
        try:
            super().handle_one_request()
        except OSError:  # the client has lost patience
            self.close_connection = True

    def log_message(self, *_arguments: Any) -> None:
        """Keep the output of the tests clean."""
