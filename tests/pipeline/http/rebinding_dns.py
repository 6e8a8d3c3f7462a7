"""A name server that changes its mind, and an engine that asks it; for `unshare -rmn`.

In namespaces of its own, port 53 and /etc/resolv.conf are ours.  Prints, as JSON, how each fetch of one name
ended, how often the name was looked up, and how many connections reached the address that is forbidden.
"""

from __future__ import annotations

import fcntl
import json
import socket
import struct
import subprocess
import sys
import threading
from pathlib import Path

from crawlctl.pipeline.config.settings import FetchSettings
from crawlctl.pipeline.config.units import Duration
from crawlctl.pipeline.http.engine import Engine
from crawlctl.pipeline.http.exchange import Request

NAME = "rebound.example"
FRIEND, SECRET = "127.0.0.2", "127.0.0.1"
# What the name means at its first look-up, at the second, and so on.
MEANINGS = ([FRIEND], [SECRET], [FRIEND, SECRET], [SECRET, FRIEND], [SECRET])
HTTP_PORT = 8000
PAGE = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi"
SIOCSIFFLAGS, IFF_UP = 0x8914, 1
A_RECORD = 1


def take_over(folder: Path) -> None:
    """Start the loopback device of the namespace and make this machine its name server."""
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", IFF_UP))
    configuration = folder / "resolv.conf"
    configuration.write_text(f"nameserver {SECRET}\n", encoding="ascii")
    subprocess.run(["mount", "--bind", str(configuration), "/etc/resolv.conf"], check=True)


def serve_dns(server: socket.socket, lookups: list[list[str]]) -> None:
    while True:
        query, client = server.recvfrom(512)
        question = query[12:]
        end = question.index(0) + 5
        addresses: list[str] = []
        if question[end - 4 : end - 2] == struct.pack("!H", A_RECORD):
            addresses = MEANINGS[len(lookups)]
            lookups.append(addresses)
        head = query[:2] + struct.pack("!HHHHH", 0x8180, 1, len(addresses), 0, 0)
        records = b"".join(
            b"\xc0\x0c" + struct.pack("!HHIH", A_RECORD, 1, 0, 4) + socket.inet_aton(address)
            for address in addresses
        )
        server.sendto(head + question[:end] + records, client)


def serve_http(listener: socket.socket, visitors: list[str]) -> None:
    while True:
        connection, _ = listener.accept()
        visitors.append(connection.getsockname()[0])
        with connection:
            connection.recv(65536)
            connection.sendall(PAGE)


def main() -> None:
    take_over(Path(sys.argv[1]))
    lookups: list[list[str]] = []
    visitors: list[str] = []
    dns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    dns.bind((SECRET, 53))
    threading.Thread(target=serve_dns, args=(dns, lookups), daemon=True).start()
    for address in (FRIEND, SECRET):
        listener = socket.create_server((address, HTTP_PORT))
        threading.Thread(target=serve_http, args=(listener, visitors), daemon=True).start()
    settings = FetchSettings(
        contact="https://example.org/bot", allowed_networks=(FRIEND,), dns_cache=Duration(0)
    )
    outcomes = []
    with Engine(settings) as engine:
        for _ in MEANINGS:
            engine.submit(Request(f"http://{NAME}:{HTTP_PORT}/"))
            while engine.in_flight:
                outcomes += [a.error.kind.value if a.error else a.ip for a in engine.poll()]
    print(json.dumps({"outcomes": outcomes, "lookups": len(lookups), "secret": visitors.count(SECRET)}))


if __name__ == "__main__":
    main()
