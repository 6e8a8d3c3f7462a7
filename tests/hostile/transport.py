"""Servers that are hostile below HTTP, or in how slowly and in which pieces they answer."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from crawlctl.tests.hostile.catalogue import CATALOGUE, ROOT, Hostile, hostile, page
from crawlctl.tests.pipeline.http.bad_manners import CHUNKED, CLOSE, MANNERS, OK, whole

if TYPE_CHECKING:
    from crawlctl.tests.hostile.catalogue import Ask

SLOW = "timeout|timed out|too_slow|stalled"
HELLO_REQUEST = bytes.fromhex("160303000400000000")
FLOOD_SECONDS = 60  # longer than a round
FLOOD_PAUSE = 0.005  # which makes 12 MB/s: more than OpenSSL gets through
SMALL_CHUNKS = 2_000_000
SMALL_FRAMES = 1_000_000
DATA, HEADERS, SETTINGS = 0, 1, 4  # frames of HTTP/2 (RFC 9113)
DRIP_BYTES = 7 << 20

# Misdeeds that other tests have: their name, and what is to be recorded of the host.
OLD_MANNERS = {
    "slow_headers": SLOW,
    "slow_drip": SLOW,
    "never_answers": SLOW,
    "endless_body": "fetched 200",  # cut off at fetch.max_body
    "gzip_bomb": "fetched 200",  # likewise
    "reset_in_body": "reset",
    "long_length": "reset",
    "endless_headers": "headers_too_large",
    "endless_hints": "headers_too_large",
    "closes_at_once": "reset",
    "garbage_chunks": "bad_response",
    "redirect_nowhere": "without a target|without a Location",
}


def _with_manner(name: str, reason: str) -> Hostile:
    def serve(ask: Ask) -> None:
        MANNERS[name](ask.connection, "")

    return Hostile(name, serve, reason)


CATALOGUE.update({name: _with_manner(name, reason) for name, reason in OLD_MANNERS.items()})


@hostile("kept libcurl busy|timeout|timed out|tls", scheme="https", raw=True)
def hello_request_flood(ask: Ask) -> None:
    """Keep OpenSSL busy in one call: it skips every HelloRequest and looks for the next record."""
    ask.connection.recv(4096)
    flood = HELLO_REQUEST * 7000
    until = time.monotonic() + FLOOD_SECONDS
    while time.monotonic() < until:
        ask.connection.sendall(flood)
        time.sleep(FLOOD_PAUSE)


@hostile("certificate|timed out", scheme="https", certificate="self_signed")
def self_signed(ask: Ask) -> bytes:
    return page("secret")


@hostile("certificate|timed out", scheme="https", certificate="expired")
def expired(ask: Ask) -> bytes:
    return page("old")


@hostile("certificate|timed out", scheme="https", certificate="other_host")
def certificate_of_another(ask: Ask) -> bytes:
    return page("other")


@hostile(f"{SLOW}|no answer", raw=True)
def accepts_and_is_silent(ask: Ask) -> None:
    time.sleep(4 * ask.patience)


@hostile(SLOW, hosts=10)
def dripping_body(ask: Ask) -> None:
    """Take much of the memory for bodies at once, then drip just fast enough not to be cut off."""
    ask.connection.sendall(OK + CLOSE + b"<title>drip</title>" + b"x" * DRIP_BYTES)
    for _ in range(int(40 * ask.patience)):
        ask.connection.sendall(b"x" * 100)
        time.sleep(0.1)


@hostile("fragments of 1 bytes")
def one_byte_chunks(ask: Ask) -> None:
    ask.connection.sendall(OK + CHUNKED + b"1\r\n<\r\n6\r\ntitle>\r\n")
    piece = b"1\r\nx\r\n" * 10_000
    for _ in range(SMALL_CHUNKS // 10_000):
        ask.connection.sendall(piece)
    ask.connection.sendall(b"0\r\n\r\n")


@hostile("fragments of 1 bytes|" + SLOW, scheme="https", certificate="good", raw=True)
def http2_one_byte_frames(ask: Ask) -> None:
    """Send a body in HTTP/2 DATA frames of one byte each; the connection is behind TLS with ALPN h2."""
    with ask.connection.makefile("rb") as stream:
        stream.read(len(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))
        ask.connection.sendall(frame(SETTINGS, 0, 0))
        kind = number = 0
        while kind != HEADERS:
            head = stream.read(9)
            kind, number = head[3], int.from_bytes(head[5:9], "big")
            stream.read(int.from_bytes(head[:3], "big"))
        # :status 200 by its number in the static table of HPACK, content-type (31) with its value.
        ask.connection.sendall(frame(HEADERS, 4, number, b"\x88\x0f\x10\x09text/html"))
        piece = frame(DATA, 0, number, b"x") * 1000
        for _ in range(SMALL_FRAMES // 1000):
            ask.connection.sendall(piece)
        ask.connection.sendall(frame(DATA, 1, number))


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


@hostile("fetched 200|" + SLOW)
def answers_just_in_time(ask: Ask) -> bytes:
    """Think almost as long as the client waits, for each of many pages."""
    time.sleep(0.8 * ask.patience)
    return page("late" + ask.path[1:], *(f"/late{number}" for number in range(20)))


@hostile("refused|Could not connect", raw=True)
def refuses(ask: Ask) -> None:
    """Never called: this host's port is closed."""


@hostile("Could not resolve", host="no-such-name.invalid")
def has_no_address(ask: Ask) -> None:
    """Never called: the name does not exist."""


@hostile("refused|tls|SSL|timed out|no answer", pages=("/plain0", "/plain1", "/plain2"))
def http_only(ask: Ask) -> bytes | None:
    """Speak http alone, and link to https: those links must not starve the http pages."""
    if ask.path == ROOT:
        links = [f"https://{ask.host}/login{number}" for number in range(3)]
        return page("plain", *links, *(f"/plain{number}" for number in range(3)))
    return page(ask.path[1:])


@hostile(r"/hollow\d .*reset")
def empty_replies(ask: Ask) -> bytes | None:
    if ask.path == ROOT:
        return page("hollow", *(f"/hollow{number}" for number in range(5)))
    return None


@hostile("fetched 200")
def nul_and_second_answer(ask: Ask) -> bytes:
    return whole(b"\0" * 100 + b"<title>nul</title>") + whole(b"for somebody else")
