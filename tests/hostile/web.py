"""The hostile web as its users see it: a context in which its process runs."""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


class HostileWeb(msgspec.Struct, frozen=True):
    """URLs of the roots: of good hosts, and of hostile ones by the name of the server."""

    good: tuple[str, ...]
    bad: dict[str, tuple[str, ...]]
    authorities: str

    @property
    def seeds(self) -> list[str]:
        """The roots of all hosts."""
        return [*self.good, *(url for urls in self.bad.values() for url in urls)]


@contextmanager
def hostile_web(
    folder: Path, *, good: int, pages: int, patience: float, only: Sequence[str] | None = None
) -> Iterator[HostileWeb]:
    """Serve good and hostile hosts while the block runs, in a process that ends with this one."""
    chosen = [] if only is None else ["--only", *only]
    numbers = ["--good", str(good), "--pages", str(pages), "--patience", str(patience)]
    server = subprocess.Popen(
        [sys.executable, "-m", "crawlctl.tests.hostile", str(folder), *numbers, *chosen],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with server:
        try:
            assert server.stdout is not None
            yield msgspec.json.decode(server.stdout.readline(), type=HostileWeb)
        finally:
            server.kill()
