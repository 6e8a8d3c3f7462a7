"""A real HTTP proxy in front of an S3 server, or of HDFS, that spoils the requests it is told to spoil.

Faults are words: `drop-before` (the connection ends before the request is passed on), `drop-after` (after it
was carried out, so the answer is lost), `stall` (carried out, and no answer within any patience), `cut-body`
(half of the answer), `cut-request` (half of the request is carried out), `refuse-keys` (a deletion that
deletes nothing), or an answer such as `503 SlowDown`.
"""

from __future__ import annotations

import http.client
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

S3_ERROR = "<Error><Code>{code}</Code><Message>{code} of the test.</Message></Error>"
HDFS_ERROR = (
    '{{"RemoteException":{{"exception":"{code}","javaClassName":"{code}","message":"{code} of the test."}}}}'
)
REFUSED_KEY = "<Error><Key>{key}</Key><Code>AccessDenied</Code><Message>Not you.</Message></Error>"
PER_HOP = {"connection", "transfer-encoding", "keep-alive"}


class FlakyProxy:
    """Listens on a port of its own; requests are counted from 1 after each plan()."""

    error_body = S3_ERROR

    def __init__(self, upstream: str) -> None:
        self.upstream = urlsplit(upstream).netloc
        self.requests: list[str] = []
        self.headers: list[dict[str, str]] = []  # of the requests, by name in small letters
        self.delay = 0.0  # seconds by which every request is held up
        self.spans: list[tuple[float, float]] = []  # when each began and ended
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
            self.headers = []
            self.spans = []
            self._faults = faults or {}
            self._always = always

    def next_fault(self, request: str, headers: dict[str, str]) -> str | None:
        with self._lock:
            self.requests.append(request)
            self.headers.append(headers)
            return self._always or self._faults.get(len(self.requests))

    def upstream_of(self, path: str) -> str:
        """Return the server a request is for."""
        return self.upstream

    def rewrite(self, content: bytes) -> bytes:
        """Return an answer with the addresses in it that lead through the proxy."""
        return content

    def go_away(self) -> None:
        """Refuse connections, and end those that are open, as a server that is being restarted does."""
        self.plan(always="drop-before")
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def come_back(self) -> None:
        """Listen again on the same port."""
        self._server = ThreadingHTTPServer(self._server.server_address[:2], self._server.RequestHandlerClass)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self.plan()
        self._thread.start()

    def close(self) -> None:
        self.finished.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class FlakyHdfs(FlakyProxy):
    """Stands before the namenode, and before the datanodes it names."""

    error_body = HDFS_ERROR

    def upstream_of(self, path: str) -> str:
        """Return the datanode that the namenode had named, else the namenode."""
        return next((node for mark, node in self._datanodes.items() if mark in path), self.upstream)

    def rewrite(self, content: bytes) -> bytes:
        """Let the requests to datanodes go through the proxy."""
        match = re.search(rb'"Location":"http://([^/"]+)', content)
        if match is None:
            return content
        self._datanodes["namenoderpcaddress="] = match[1].decode()
        return content.replace(match[0], f'"Location":"{self.endpoint}'.encode())

    def __init__(self, upstream: str) -> None:
        self._datanodes: dict[str, str] = {}
        super().__init__(upstream)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    owner: FlakyProxy

    def handle_request(self) -> None:
        began = time.monotonic()
        body = self._body()
        time.sleep(self.owner.delay)
        self._treat(body)
        self.owner.spans.append((began, time.monotonic()))

    def _treat(self, body: bytes) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        fault = self.owner.next_fault(f"{self.command} {self.path}", headers)
        if fault == "drop-before":
            self.close_connection = True
        elif fault == "refuse-keys":
            keys = re.findall(rb"<Key>(.*?)</Key>", body)
            refused = "".join(REFUSED_KEY.format(key=key.decode()) for key in keys)
            self._answer(200, f"<DeleteResult>{refused}</DeleteResult>")
        elif fault and fault[0].isdigit():
            status, code = fault.split()
            self._answer(int(status), self.owner.error_body.format(code=code))
        else:
            self._forward(body, fault)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = handle_request  # noqa: N815 - names of the base class

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        pieces = []
        while size := int(self.rfile.readline(), 16):
            pieces.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(pieces)

    def _answer(self, status: int, text: str) -> None:
        body = text.encode() if self.command != "HEAD" else b""
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Type", "application/xml")
        self.end_headers()
        self.wfile.write(body)

    def _forward(self, body: bytes, fault: str | None) -> None:
        connection = http.client.HTTPConnection(self.owner.upstream_of(self.path), timeout=30)
        try:
            headers = {name: value for name, value in self.headers.items() if name.lower() not in PER_HOP}
            headers.pop("Expect", None)  # answered by this server
            if fault == "cut-request":
                self._send_half(connection, body, headers)
                return
            connection.request(self.command, self.path, body, headers)
            answer = connection.getresponse()
            content = self.owner.rewrite(answer.read())
        finally:
            connection.close()
        if fault in {"drop-after", "stall"}:
            if fault == "stall":
                self.owner.finished.wait(3)
            self.close_connection = True
        else:
            self._pass_back(answer, content, cut=fault == "cut-body")

    def _send_half(
        self, connection: http.client.HTTPConnection, body: bytes, headers: dict[str, str]
    ) -> None:
        headers = {name: value for name, value in headers.items() if name.lower() != "content-length"}
        connection.putrequest(self.command, self.path, skip_host=True)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            connection.putheader(name, value)
        connection.endheaders()
        connection.send(body[: len(body) // 2])
        self.owner.finished.wait(0.2)  # let it arrive before the connection ends
        self.close_connection = True

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
