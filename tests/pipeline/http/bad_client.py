"""Starts bad_server.py for the tests that talk to it."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator


class Server(NamedTuple):
    """Where the server listens, and whose certificates it has."""

    host: str
    ports: dict[str, int]
    authority: str

    def url(self, path: str, port: str = "plain") -> str:
        scheme = "http" if port == "plain" else "https"
        return f"{scheme}://{self.host}:{self.ports[port]}/{path}"


@contextmanager
def bad_server(folder: Path, host: str = "127.0.0.1") -> Iterator[Server]:
    """Run a server with its certificates in an empty folder."""
    command = [sys.executable, str(Path(__file__).with_name("bad_server.py")), str(folder), host]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        yield Server(host, **json.loads(process.stdout.readline()))
