"""The ways in which bad_server.py misbehaves: each function gets a connection whose request has been read.

Add one by writing a function with @manner, whose name is the path it is served at, or a line of FIXED.
"""

from __future__ import annotations

import base64
import gzip
import socket
import struct
import time
import zlib
from collections.abc import Callable

# Nobody reads so far; a client that did would be found out by the count of bytes sent.
ENOUGH = 400_000
LINKS = 300_000
OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
CLOSE = b"Connection: close\r\n\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"
PAGE = b"<html><title>page</title><p>hello</html>"
# 256 MB of zeros, by brotli.
BROTLI_BOMB = base64.b64decode(
    "z///fwAkAOKxQHLv//n//w+ABEAcFoDu/T////8BkACIwwLQvf/n//8/ABIAcVgAuvf//P//B0ACIA4LQPf+n////wBIAMRh"
    "Aeje//P//x8ACYA4LADd+3/+//8DIAEQhwWge//P//9/ACQA4rAAdO//+f//D4AEQBwWgO79P////wGQAIjDAtC9/+f//z8A"
    "EgBxWAC69//8//8HQAIgDgtA9/6f////AEgAxGEB6N7/8///HwAJgDgsAN37f/7//wMgARCHBaB7/z8="
)

# After these the client may ask again on the same connection.
KEPT_ALIVE = frozenset(
    {"good", "shows_cookie", "calendar", "second_answer", "big", "slow_start", "slow_down"}
)

Manner = Callable[[socket.socket, str], None]
MANNERS: dict[str, Manner] = {}


def manner(function: Manner) -> Manner:
    MANNERS[function.__name__] = function
    return function


def whole(body: bytes, headers: bytes = b"", status: bytes = b"200 OK") -> bytes:
    length = b"Content-Length: %d\r\n\r\n" % len(body)
    return b"HTTP/1.1 " + status + b"\r\nContent-Type: text/html\r\n" + headers + length + body


def repeat(connection: socket.socket, piece: bytes, pause: float = 0.0) -> None:
    for _ in range(ENOUGH):
        connection.sendall(piece)
        if pause:
            time.sleep(pause)


def reset(connection: socket.socket) -> None:
    """Let the connection end with RST and not with FIN."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


@manner
def slow_drip(connection: socket.socket, query: str) -> None:
    connection.sendall(OK + CLOSE)
    repeat(connection, b"x", 0.05)


@manner
def slow_headers(connection: socket.socket, query: str) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    repeat(connection, b"x", 0.05)


@manner
def never_answers(connection: socket.socket, query: str) -> None:
    time.sleep(60)


@manner
def endless_body(connection: socket.socket, query: str) -> None:
    connection.sendall(OK + CLOSE)
    repeat(connection, b"endless " * 1000)


@manner
def endless_chunks(connection: socket.socket, query: str) -> None:
    connection.sendall(OK + CHUNKED)
    repeat(connection, b"1000\r\n" + b"y" * 4096 + b"\r\n")


@manner
def endless_headers(connection: socket.socket, query: str) -> None:
    connection.sendall(OK)
    repeat(connection, b"X-More: " + b"h" * 100 + b"\r\n")


@manner
def endless_header_line(connection: socket.socket, query: str) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nX-Long: ")
    repeat(connection, b"h" * 1000)


@manner
def endless_status_line(connection: socket.socket, query: str) -> None:
    connection.sendall(b"HTTP/1.1 200 ")
    repeat(connection, b"OK " * 300)


@manner
def endless_interim(connection: socket.socket, query: str) -> None:
    repeat(connection, b"HTTP/1.1 100 Continue\r\n\r\n" * 10)


@manner
def endless_hints(connection: socket.socket, query: str) -> None:
    repeat(connection, b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n")


@manner
def endless_trailers(connection: socket.socket, query: str) -> None:
    connection.sendall(OK + CHUNKED + b"5\r\nhello\r\n0\r\n")
    repeat(connection, b"X-Trailer: more\r\n" * 10)


@manner
def redirect(connection: socket.socket, query: str) -> None:
    connection.sendall(whole(b"", b"Location: " + query.encode() + b"\r\n", b"301 Moved Permanently"))


@manner
def gzip_bomb(connection: socket.socket, query: str) -> None:
    bomb = zlib.compressobj(9, wbits=31)
    zeros = bytes(1 << 20)
    connection.sendall(OK + b"Content-Encoding: gzip\r\n" + CLOSE)
    for _ in range(1024):
        connection.sendall(bomb.compress(zeros))
    connection.sendall(bomb.flush())


@manner
def nested_gzip(connection: socket.socket, query: str) -> None:
    body = PAGE
    for _ in range(20):
        body = gzip.compress(body)
    connection.sendall(whole(body, b"Content-Encoding: " + b", ".join([b"gzip"] * 20) + b"\r\n"))


@manner
def reset_in_body(connection: socket.socket, query: str) -> None:
    connection.sendall(OK + b"Content-Length: 1000\r\n\r\n" + PAGE)
    time.sleep(0.3)  # RST would throw away what has not been read yet
    reset(connection)


@manner
def reset_in_headers(connection: socket.socket, query: str) -> None:
    connection.sendall(OK)
    time.sleep(0.3)
    reset(connection)


@manner
def closes_at_once(connection: socket.socket, query: str) -> None:
    connection.close()


@manner
def unwanted_type(connection: socket.socket, query: str) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: Video/MP4\r\n" + CLOSE)
    repeat(connection, bytes(10_000))


@manner
def calendar(connection: socket.socket, query: str) -> None:
    day = int(query or 0)
    connection.sendall(whole(b'<a href="/calendar?%d">tomorrow</a>' % (day + 1)))


@manner
def chunk_extensions(connection: socket.socket, query: str) -> None:
    connection.sendall(OK + CHUNKED)
    repeat(connection, b"1;" + b"e" * 5000 + b"\r\nx\r\n", 0.01)


@manner
def slow_down(connection: socket.socket, query: str) -> None:
    connection.sendall(whole(b"", b"Retry-After: " + (query or "120").encode() + b"\r\n", b"429 Too Many"))


@manner
def signed_pdf(connection: socket.socket, query: str) -> None:
    """Send a body that begins like a PDF; the header says text/html."""
    connection.sendall(whole(b"%PDF-1.7".ljust(int(query), b"x")))


@manner
def typed_pdf(connection: socket.socket, query: str) -> None:
    """Send a body that only its header calls a PDF."""
    length = int(query)
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\nContent-Length: %d\r\n\r\n" % length
    connection.sendall(head + b"x" * length)


@manner
def big(connection: socket.socket, query: str) -> None:
    connection.sendall(whole(bytes(int(query))))


@manner
def in_halves(connection: socket.socket, query: str) -> None:
    half = bytes(int(query) // 2)
    connection.sendall(whole(half + half)[: -len(half)])
    time.sleep(0.3)
    connection.sendall(half)


@manner
def stalls_in_body(connection: socket.socket, query: str) -> None:
    connection.sendall(whole(bytes(2 * int(query)))[: -int(query)])
    time.sleep(60)


@manner
def burst_and_drip(connection: socket.socket, query: str) -> None:
    """Send a lot at once and then just enough not to be too slow, for ever."""
    connection.sendall(OK + CLOSE + bytes(int(query)))
    repeat(connection, bytes(40), 0.05)


@manner
def crumbs(connection: socket.socket, query: str) -> None:
    """Send a body in chunks of some bytes each."""
    size = int(query)
    connection.sendall(OK + CHUNKED)
    for _ in range(8 << 10):
        connection.sendall((b"%x\r\n" % size + bytes(size) + b"\r\n") * ((1 << 10) // size))
    connection.sendall(b"0\r\n\r\n")


@manner
def slow_start(connection: socket.socket, query: str) -> None:
    time.sleep(float(query))
    connection.sendall(whole(PAGE))


# What is wrong with these lies in the bytes alone.
FIXED = {
    "good": whole(PAGE, b'ETag: "v1"\r\nLast-Modified: Mon, 16 Nov 2026 03:00:00 GMT\r\n'),
    "redirect_loop": whole(b"", b"Location: /redirect_loop\r\n", b"302 Found"),
    "redirect_nowhere": whole(b"", b"", b"302 Found"),
    "brotli_bomb": whole(BROTLI_BOMB, b"Content-Encoding: br\r\n"),
    "gzipped": whole(gzip.compress(PAGE), b"Content-Encoding: gzip\r\n"),
    "cut_gzip": whole(gzip.compress(PAGE * 100)[:-20], b"Content-Encoding: gzip\r\n"),
    "false_gzip": whole(PAGE, b"Content-Encoding: gzip\r\n"),
    "unknown_encoding": whole(PAGE, b"Content-Encoding: rot13\r\n"),
    "short_length": OK + b"Content-Length: 10\r\n\r\n" + PAGE,
    "long_length": OK + b"Content-Length: 1000\r\n\r\n" + PAGE,
    "two_lengths": OK + b"Content-Length: 5\r\nContent-Length: 40\r\n\r\n" + PAGE,
    "absurd_length": OK + b"Content-Length: 99999999999999999999999\r\n\r\n" + PAGE,
    "negative_length": OK + b"Content-Length: -5\r\n\r\n" + PAGE,
    "nul_in_header": whole(PAGE, b"X-Nul: a\0b\r\n"),
    "nul_in_body": whole(b"\0" * 100 + PAGE),
    "huge_cookie": whole(PAGE, b"Set-Cookie: id=" + b"c" * 60_000 + b"\r\n"),
    "shows_cookie": whole(PAGE, b"Set-Cookie: id=42; path=/\r\n"),
    "lying_charset": (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=x-lies\r\n"
        b"Content-Length: 4\r\n\r\n\xff\xfe\xc3\x28"
    ),
    "lying_type": whole(b"\x89PNG\r\n\x1a\n" + bytes(64)),
    "many_links": whole(b"".join(b'<a href="/good?%d">x</a>\n' % number for number in range(LINKS))),
    "garbage_chunks": OK + CHUNKED + b"5\r\nhello\r\nnonsense\r\nmore\r\n",
    "absurd_chunk": OK + CHUNKED + b"FFFFFFFFFFFFFFFFFFFF\r\nhello",
    "http_0_9": PAGE,
    "http2_nonsense": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(range(256)),
    "status_999": whole(PAGE, b"", b"999 Request denied"),
    "text_status": whole(PAGE, b"", b"OK fine"),
    "body_with_204": whole(PAGE, b"", b"204 No Content"),
    "body_with_304": whole(PAGE, b"", b"304 Not Modified"),
    "second_answer": whole(PAGE) + whole(b"for somebody else"),
    "folded_header": whole(PAGE, b"X-Folded: one\r\n two\r\n\tthree\r\n"),
}


def saying(answer: bytes) -> Manner:
    return lambda connection, _query: connection.sendall(answer)


MANNERS.update({name: saying(answer) for name, answer in FIXED.items()})
