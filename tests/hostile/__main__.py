"""Serves the whole hostile web until its standard input ends: `python -m crawlctl.tests.hostile FOLDER`.

The first line of its output is a JSON object: the URLs of the good hosts, those of the hostile ones by name,
and the file of the authorities that vouch for the servers with a good certificate. Each host has an address
of its own in 127/8, as hosts of different owners have. FOLDER/access.log gets a line for each request to a
good host: the time of the monotonic clock, host and path.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from crawlctl.tests.hostile.catalogue import Ask
from crawlctl.tests.hostile.good import good_answer
from crawlctl.tests.hostile.servers import CATALOGUE
from crawlctl.tests.pipeline.http.bad_certificates import write_certificates
from crawlctl.tests.pipeline.http.bad_server import listen, read_request, tls_context

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlctl.tests.hostile.catalogue import Hostile

    Serve = Callable[[socket.socket], None]

GOOD_NET, BAD_NET = "127.66.1", "127.66.2"
LOOPBACK = "127.0.0.1"


def parse_request(connection: socket.socket, patience: float) -> Ask:
    """Read a request."""
    lines = read_request(connection).decode("latin-1").split("\r\n")
    path = lines[0].split(" ")[1]
    host = next((line[5:].strip() for line in lines if line.lower().startswith("host:")), "")
    return Ask(connection, path, host, patience)


def note(log: int, ask: Ask) -> None:
    """Write a line for a request, in one go."""
    os.write(log, f"{time.monotonic():.3f} {ask.host} {ask.path}\n".encode())


def serve_good(log: int, pages: int, connection: socket.socket) -> None:
    """Answer as long as the client asks, and note when it does."""
    while True:
        ask = parse_request(connection, 0)
        note(log, ask)
        connection.sendall(good_answer(ask, pages))


def serve_hostile(hostile: Hostile, log: int, patience: float, connection: socket.socket) -> None:
    """Let a hostile server answer until it has used the connection up."""
    if hostile.raw:
        hostile.serve(Ask(connection, "", "", patience))
        return
    while True:
        ask = parse_request(connection, patience)
        if hostile.logged:
            note(log, ask)
        answer = hostile.answer(ask)
        if answer is None:
            return
        connection.sendall(answer)


def behind_tls(folder: Path, hostile: Hostile, serve: Serve) -> Serve:
    """Put a server behind TLS with its kind of certificate."""
    context = tls_context(folder, hostile.certificate)
    if hostile.raw:
        context.set_alpn_protocols(["h2"])

    def secured(connection: socket.socket) -> None:
        with context.wrap_socket(connection, server_side=True) as wrapped:
            serve(wrapped)

    return secured


class Web:
    """The servers that are listening, and what a crawl must know of them."""

    def __init__(self, folder: Path, pages: int, patience: float) -> None:
        self._folder, self._pages, self._patience = folder, pages, patience
        self._authorities: list[str] = []
        self._addresses = iter(range(1, 255))
        self._log = os.open(folder / "access.log", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)

    def start_good(self, hosts: int) -> list[str]:
        serve = partial(serve_good, self._log, self._pages)
        addresses = [f"{GOOD_NET}.{number}" for number in range(1, hosts + 1)]
        return [f"http://{address}:{listen(address, serve)}/" for address in addresses]

    def start_hostile(self, hostile: Hostile) -> list[str]:
        """Start the hosts of a kind and return their URLs."""
        if hostile.host:
            port = listen(LOOPBACK, partial(serve_hostile, hostile, self._log, self._patience))
            return [f"{hostile.scheme}://{hostile.host}:{port}/"]
        return [self._start_at(f"{BAD_NET}.{next(self._addresses)}", hostile) for _ in range(hostile.hosts)]

    def _start_at(self, address: str, hostile: Hostile) -> str:
        serve: Serve = partial(serve_hostile, hostile, self._log, self._patience)
        if hostile.certificate:
            folder = self._folder / address
            folder.mkdir()
            write_certificates(folder, address)
            self._authorities.append((folder / "authority.pem").read_text())
            serve = behind_tls(folder, hostile, serve)
        port = closed_port(address) if hostile.name == "refuses" else listen(address, serve)
        return f"{hostile.scheme}://{address}:{port}/"

    def write_authorities(self) -> str:
        path = self._folder / "authorities.pem"
        path.write_text("".join(self._authorities))
        return str(path)


def closed_port(address: str) -> int:
    """Return a port at which nobody listens, and that is kept from others while this process lives."""
    kept = socket.socket()
    kept.bind((address, 0))
    CLOSED.append(kept)
    return int(kept.getsockname()[1])


CLOSED: list[socket.socket] = []


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--good", type=int, default=10, help="good hosts")
    parser.add_argument("--pages", type=int, default=30, help="pages of each good host")
    parser.add_argument("--patience", type=float, default=60, help="fetch.timeout of the crawl, in seconds")
    parser.add_argument("--only", nargs="*", help="names of hostile servers; all of them if left out")
    chosen = parser.parse_args()
    web = Web(chosen.folder, chosen.pages, chosen.patience)
    names = CATALOGUE if chosen.only is None else chosen.only
    good = web.start_good(chosen.good)
    bad = {name: web.start_hostile(CATALOGUE[name]) for name in names}
    print(json.dumps({"good": good, "bad": bad, "authorities": web.write_authorities()}), flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
