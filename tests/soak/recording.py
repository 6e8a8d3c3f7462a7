"""A run of which each step on the disk was recorded."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.tests.comparison import Crawled, crawled
from crawlctl.tests.soak.power_cut import Step, read_log

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.tests.pipeline.fetch.site import Site

PROGRAM = (sys.executable, "-m", "crawlctl.tests.soak.recorded_run")


class Recording(NamedTuple):
    """A run that nobody disturbed: where it crawled, each step on its disk, and what it came to."""

    seeds: list[str]
    store: LocalStore
    steps: list[Step]
    whole: Crawled


def record(sites: list[Site], folder: Path) -> Recording:
    """Crawl the sites in a process of its own, and return what it did."""
    seeds = [site.url() for site in sites]
    subprocess.run([*PROGRAM, str(folder / "crawl"), str(folder), *seeds], check=True)
    store = LocalStore(folder / "crawl")
    return Recording(seeds, store, read_log(folder / "log"), crawled(store))
