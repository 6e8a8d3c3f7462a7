"""Slow hosts beside a good one, each at an address of its own in 127/8, in this process.

The good host has work for any number of rounds: each of its pages leads to those of the next generation, and
so there is always one that is known and not fetched. How long it was not asked tells what slow hosts cost it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from crawlctl.tests.hostile.catalogue import NOT_FOUND, ROBOTS, ROOT, Ask, page
from crawlctl.tests.hostile.transport import hello_request_flood
from crawlctl.tests.pipeline.http.bad_manners import OK, whole
from crawlctl.tests.pipeline.http.bad_server import listen, read_request

if TYPE_CHECKING:
    import socket

GOOD, SLOW_NET = "127.67.1.1", "127.67.2"
GENERATION = 3  # pages of the good host that one round finds for the next
CRAWL_DELAY = 10  # seconds
THINKING = 8.0  # seconds from a request to its answer
DRIP_SECONDS = 300  # longer than any transfer may take
TICK = 0.25  # seconds between two drops

Answer = Callable[["socket.socket", str], bytes | None]


class Slow(NamedTuple):
    """Hosts of one kind: how each answers a path, how many there are, and how many pages each has."""

    answer: Answer
    hosts: int = 1
    pages: int = 10
    scheme: str = "http"


def no_robots(answer: Answer) -> Answer:
    """Let a server have no robots.txt, and say so at once."""

    def served(connection: socket.socket, path: str) -> bytes | None:
        return NOT_FOUND if path == ROBOTS else answer(connection, path)

    return served


def drip(speed: int, connection: socket.socket, path: str) -> None:
    """Send a body of so many bytes a second, for longer than anybody waits."""
    connection.sendall(OK + b"Connection: close\r\n\r\n<title>drip</title>")
    drop = b"x" * max(1, int(speed * TICK))
    for _ in range(int(DRIP_SECONDS / TICK)):
        connection.sendall(drop)
        time.sleep(TICK)


def patient(connection: socket.socket, path: str) -> bytes:
    """Ask for a pause between two requests."""
    if path == ROBOTS:
        return whole(f"User-agent: *\nCrawl-delay: {CRAWL_DELAY}\n".encode())
    return page(f"patient{path}")


def thinking(connection: socket.socket, path: str) -> bytes:
    """Answer after a while."""
    time.sleep(THINKING)
    return page(f"thinking{path}")


def flood(connection: socket.socket, path: str) -> None:
    """Never called with a path: a flood begins before the request is read."""


KINDS = {
    "drip": Slow(no_robots(partial(drip, 8)), hosts=24, pages=3),  # soon cut off for its speed
    "drip_robots": Slow(partial(drip, 8), hosts=24, pages=3),  # and so is its robots.txt
    "drip_faster": Slow(no_robots(partial(drip, 400)), hosts=24, pages=3),  # fast enough until fetch.timeout
    "flood": Slow(flood, pages=5, scheme="https"),
    "crawl_delay": Slow(patient, pages=60),
    "thinking": Slow(no_robots(thinking), pages=60),
}


class GoodHost:
    """A host that answers at once and notes when it was asked for a page, by the monotonic clock."""

    def __init__(self) -> None:
        self.asked: list[float] = []
        self.url = f"http://{GOOD}:{listen(GOOD, partial(serve, self.answer))}/"

    def answer(self, _connection: socket.socket, path: str) -> bytes:
        """Return a page with the links to all of the next generation."""
        if path == ROBOTS:
            return NOT_FOUND
        self.asked.append(time.monotonic())
        generation = 0 if path == ROOT else int(path.split("/")[1])
        return page(f"good {path}", *(f"/{generation + 1}/{number}" for number in range(GENERATION)))

    def longest_wait(self, until: float) -> float:
        """Return the longest time in seconds in which it was not asked, from its first page on."""
        asked = [moment for moment in self.asked if moment < until]
        return max(after - before for before, after in zip(asked, [*asked[1:], until], strict=True))


def serve(answer: Answer, connection: socket.socket) -> None:
    """Answer one request after the other, until an answer has used the connection up."""
    while True:
        path = read_request(connection).split(b" ", 2)[1].decode("latin-1")
        content = answer(connection, path)
        if content is None:
            return
        connection.sendall(content)


def serve_flood(connection: socket.socket) -> None:
    """Keep the TLS library of the client busy."""
    hello_request_flood(Ask(connection, "", "", 0.0))


def start_slow(name: str) -> list[str]:
    """Start the hosts of a kind and return the URLs of their pages."""
    kind, urls = KINDS[name], []
    for number in range(1, kind.hosts + 1):
        address = f"{SLOW_NET}.{number}"
        port = listen(address, serve_flood if kind.answer is flood else partial(serve, kind.answer))
        urls += [f"{kind.scheme}://{address}:{port}/{page_number}" for page_number in range(kind.pages)]
    return urls
