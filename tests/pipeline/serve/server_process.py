"""A running `crawlctl serve`, for tests that need real connections."""

from __future__ import annotations

import re
import subprocess
import sys
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.store.local.store import LocalStore

SERVE = [sys.executable, "-c", "import crawlctl.cli; crawlctl.cli.main()", "serve", "--port", "0"]


class Server:
    """A running `crawlctl serve`."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        assert process.stdout is not None
        self.line = process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/", self.line)
        assert found is not None, self.line
        self.port = int(found[1])

    def get(self, path: str) -> tuple[int, str]:
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=30)) as connection:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()


@contextmanager
def serving(store: LocalStore, *options: str, name: str = "") -> Iterator[Server]:
    command = [*SERVE, "--store", f"{name}={store.uri}" if name else store.uri, *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield Server(process)
        finally:
            process.kill()
