"""A web server that breaks every rule; `python bad_server.py FOLDER [HOST]` serves until its input ends.

The first line it prints is a JSON object: the ports of the plain server and of those behind TLS, and the file
of the authority that vouches for the good ones.  /~served?NAME tells how often a misdeed was asked for and
how many bytes were sent for it, /~echo gives the request back, /~peer says where it came from, and the other
paths are the misdeeds of bad_manners.py.
"""

from __future__ import annotations

import json
import re
import socket
import ssl
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from crawlctl.tests.pipeline.http.bad_certificates import write_certificates
from crawlctl.tests.pipeline.http.bad_manners import KEPT_ALIVE, MANNERS, whole

if TYPE_CHECKING:
    from collections.abc import Callable

BACKLOG = 500
ORIGIN = re.compile("^https?://[^/]*")
REQUESTS: Counter[str] = Counter()
SENT: Counter[str] = Counter()
REPORTS: dict[str, Callable[[socket.socket, bytes, str], bytes]] = {
    "~served": lambda _connection, _request, name: json.dumps([REQUESTS[name], SENT[name]]).encode(),
    "~echo": lambda _connection, request, _query: request,
    "~peer": lambda connection, _request, _query: str(connection.getpeername()[0]).encode(),
}


class CountingSocket(socket.socket):
    """A connection that knows what it has sent, and for which misdeed."""

    misdeed = ""

    def sendall(self, data: bytes, flags: int = 0) -> None:  # type: ignore[override]  # typeshed: any buffer
        super().sendall(data, flags)
        SENT[self.misdeed] += len(data)


def listen(host: str, serve: Callable[[socket.socket], None]) -> int:
    """Serve each connection in a thread of its own and return the port."""
    listener = socket.create_server((host, 0), backlog=BACKLOG)

    def accept() -> None:
        while True:
            connection = CountingSocket(fileno=listener.accept()[0].detach())
            threading.Thread(target=serve_quietly, args=(serve, connection), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return int(listener.getsockname()[1])


def serve_quietly(serve: Callable[[socket.socket], None], connection: socket.socket) -> None:
    """Serve a client that is expected to lose its patience."""
    try:
        serve(connection)
    except (OSError, ValueError):
        pass
    finally:
        connection.close()


def read_request(connection: socket.socket) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65536)
        if not piece:
            raise ConnectionError("the client went away")
        data += piece
    return data


def answer_requests(connection: socket.socket) -> None:
    """Answer one request after the other, until a misdeed ends the connection."""
    is_kept = True
    while is_kept:
        request = read_request(connection)
        # A proxy is asked for the whole URL.
        target = ORIGIN.sub("", request.split(b" ", 2)[1].decode("latin-1"))
        path, _, query = target.removeprefix("/").partition("?")
        if path in REPORTS:
            connection.sendall(whole(REPORTS[path](connection, request, query)))
        elif path in MANNERS:
            REQUESTS[path] += 1
            if isinstance(connection, CountingSocket):
                connection.misdeed = path
            MANNERS[path](connection, query)
            is_kept = path in KEPT_ALIVE
        else:
            connection.sendall(whole(b"", status=b"404 Not Found"))


def tls_context(folder: Path, name: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / f"{name}.pem")
    return context


def behind_tls(context: ssl.SSLContext) -> Callable[[socket.socket], None]:
    def serve(connection: socket.socket) -> None:
        with context.wrap_socket(connection, server_side=True) as secured:
            answer_requests(secured)

    return serve


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    """Return a frame of HTTP/2."""
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


# The body in frames of DATA, the last of which ends the stream.
TWO = frame(0, 1, 1, b"<p>two</p>")
CRUMBS = frame(0, 0, 1, b"x") * 200_000 + frame(0, 1, 1)


def in_http2(context: ssl.SSLContext, body: bytes) -> Callable[[socket.socket], None]:
    """Answer one request in the least HTTP/2 there is (RFC 9113)."""
    context.set_alpn_protocols(["h2"])

    def serve(connection: socket.socket) -> None:
        with context.wrap_socket(connection, server_side=True) as secured, secured.makefile("rb") as stream:
            stream.read(24)  # the preface
            secured.sendall(frame(4, 0, 0))  # SETTINGS
            kind = None
            while kind != 1:  # HEADERS
                header = stream.read(9)
                kind = header[3]
                stream.read(int.from_bytes(header[:3], "big"))
            # :status 200 by its number in the static table of HPACK, content-type (31) with its value.
            headers = b"\x88\x0f\x10\x09text/html"
            secured.sendall(frame(1, 4, 1, headers) + body)
            stream.read()  # to close with something unread would reset the connection

    return serve


def stall(connection: socket.socket) -> None:
    time.sleep(60)


def main() -> None:
    folder = Path(sys.argv[1])
    host = sys.argv[2] if len(sys.argv) > 2 else "127.0.0.1"
    write_certificates(folder, host)
    servers = {
        "plain": answer_requests,
        "stalled": stall,
        "http2": in_http2(tls_context(folder, "good"), TWO),
        "http2_crumbs": in_http2(tls_context(folder, "good"), CRUMBS),
        **{
            name: behind_tls(tls_context(folder, name))
            for name in ("good", "self_signed", "expired", "other_host")
        },
    }
    ports = {name: listen(host, serve) for name, serve in servers.items()}
    print(json.dumps({"ports": ports, "authority": str(folder / "authority.pem")}), flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
