"""A crawl of a small web, made once, and copies of it that a test may damage."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.state.snapshots import load_current
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.tests.soak.small_web import crawl_all, small_config, small_web

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot

# Pages are visited again after a second; one that is gone is believed to be at the second visit.
OFTEN = {"pace": {"initial": "1s", "minimum": "1s"}, "confirm_after": "1s"}


class SmallCrawl(NamedTuple):
    """A crawl that nobody has damaged, and the seeds it began with."""

    folder: Path
    seeds: tuple[str, ...]

    @property
    def snapshot(self) -> Snapshot:
        """Its current snapshot."""
        return load_current(LocalStore(self.folder))

    def files(self, pattern: str = "") -> list[FileEntry]:
        """Return its files that are not empty and whose names hold a text."""
        return [entry for entry in self.snapshot.files if entry.bytes and pattern in entry.name]


@contextmanager
def small_crawl(folder: Path) -> Iterator[SmallCrawl]:
    """Crawl a web of three hosts; one page is gone in the end, so that a document is marked as deleted."""
    store = LocalStore(folder / "crawl")
    config = small_config(folder, recrawl=OFTEN)
    with small_web() as sites:
        seeds = tuple(site.url() for site in sites)
        crawl_all(store, config, list(seeds), iterations=4)
        sites[0].resources.pop("/twin")
        for _ in range(2):
            time.sleep(1.1)
            crawl_all(store, config, [], iterations=1)
        yield SmallCrawl(store.root, seeds)


def linked_copy(source: Path, target: Path) -> Path:
    """Make a folder with the files of another; they are the same files until one is replaced."""
    for path in source.rglob("*"):
        copy = target / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        if path.is_file():
            os.link(path, copy)
    return target


def replace_file(folder: Path, name: str, data: bytes | None) -> None:
    """Put other bytes in the place of a file, or nothing; the file it was linked to stays as it is."""
    path = folder / name
    path.unlink()
    if data is not None:
        path.write_bytes(data)


def flipped(data: bytes) -> bytes:
    """Return the bytes with one bit changed in their middle."""
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 4]) + data[middle + 1 :]
