"""Starts the demo web: while the `with` block runs, its sites answer on loopback ports."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crawlctl.pipeline.errors import CrawlctlError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

START_SECONDS = 120
# With -c Python imports from the current folder first, which may hold any file; so take it off the path.
PROGRAM = """
import sys
sys.path = [folder for folder in sys.path if folder]
from crawlctl.pipeline.demo.web_process import main
main()
"""
# pydoc shows sets in the order of their hashes, so fix the hash seed.
FIXED = {"PYTHONHASHSEED": "0", "PYTHONUTF8": "1"}


@dataclass(frozen=True)
class DemoSite:
    """A host of the demo web; `pages` is the number of pages in its sitemap."""

    url: str
    pages: int

    @property
    def host(self) -> str:
        """The address with the port; each port is a host of its own."""
        return self.url.removeprefix("http://").rstrip("/")


@dataclass(frozen=True)
class DemoWeb:
    """The sites that are being served: first the site of the front page, then the sites of the modules."""

    sites: tuple[DemoSite, ...]

    @property
    def seeds(self) -> tuple[str, ...]:
        """The root URLs of all sites."""
        return tuple(site.url for site in self.sites)

    @property
    def pages(self) -> int:
        """How many pages a crawler can find."""
        return sum(site.pages for site in self.sites)


@contextmanager
def demo_web(
    port: int = 0, access_log: Path | None = None, packages: Collection[str] = ()
) -> Iterator[DemoWeb]:
    """Serve the demo web while the block runs, on consecutive ports from `port` on, or for 0 on free ports.

    The same interpreter gives the same pages, apart from the ports in links. The access log gets one line per
    answer, with its status and URL. The server ends with this process, however it ends. With `packages` only
    these modules and packages are served, which takes less time; each site needs one of them.
    """
    log = str(access_log.resolve()) if access_log else None
    order = {"port": port, "access_log": log, "packages": sorted(packages)}
    child = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, **FIXED},
        start_new_session=True,  # Ctrl-C is for us; requests in flight shall still be answered
    )
    with child:
        try:
            yield DemoWeb(tuple(DemoSite(*site) for site in _start(child, order)))
        finally:
            child.kill()


def _start(child: subprocess.Popen[bytes], order: dict[str, Any]) -> list[tuple[str, int]]:
    """Send the order and wait for the answer; return URL and number of pages of each site."""
    if child.stdin is None or child.stdout is None:
        raise AssertionError("Popen makes both pipes")
    child.stdin.write(json.dumps(order).encode() + b"\n")
    child.stdin.flush()
    with selectors.DefaultSelector() as selector:
        selector.register(child.stdout, selectors.EVENT_READ)
        ready = selector.select(START_SECONDS)
    line = child.stdout.readline() if ready else b""
    answer: dict[str, Any] = json.loads(line) if line else {"error": "its process gave no answer"}
    if "error" in answer:
        remedy = "choose other ports with --port, or leave it out" if order["port"] else "run it again"
        raise CrawlctlError(f"the demo web did not start: {answer['error']}; {remedy}")
    return [(url, pages) for url, pages in answer["sites"]]
