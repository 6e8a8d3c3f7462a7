"""Watches a run from outside: the memory of its tasks, and when it finished which step."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from crawlctl.tests.processes import look_at

if TYPE_CHECKING:
    from types import TracebackType

SAMPLE_SECONDS = 0.25
PROC = Path("/proc")


class MemoryWatch:
    """Samples the memory of a program's children while the block runs, each with all its descendants.

    Memory is what the kernel calls proportional (PSS): what forked processes share is counted once.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self.peaks: dict[int, int] = {}

    @property
    def peak(self) -> int:
        """The most bytes that one task and what it started have had at a time."""
        return max(self.peaks.values(), default=0)

    def __enter__(self) -> MemoryWatch:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(SAMPLE_SECONDS):
            below = children_by_parent()
            for task in below[self._pid]:
                used = sum(map(memory_of, tree(task, below)))
                self.peaks[task] = max(used, self.peaks.get(task, 0))


def children_by_parent() -> defaultdict[int, list[int]]:
    """Return the children of every process."""
    below: defaultdict[int, list[int]] = defaultdict(list)
    for folder in PROC.iterdir():
        if folder.name.isdigit() and (found := look_at(int(folder.name))):
            below[found[1]].append(int(folder.name))
    return below


def tree(pid: int, below: dict[int, list[int]]) -> list[int]:
    """Return a process and all that descend from it."""
    return [pid, *(one for child in below.get(pid, ()) for one in tree(child, below))]


def memory_of(pid: int) -> int:
    """Return the memory of a process in bytes, 0 when it is gone."""
    try:
        lines = (PROC / str(pid) / "smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:")), 0)


def fetch_seconds(store: Path) -> dict[int, float]:
    """Return how long each round fetched: from the snapshot before it to the record that fetching is done.

    The rounds must have committed one snapshot each, the first of them number 3: the first two hold nothing
    and the seeds.
    """
    done = {int(path.parent.name): path.stat().st_mtime for path in store.glob("rounds/*/fetch.json")}
    begun = {int(path.stem) - 1: path.stat().st_mtime for path in store.glob("snapshots/*.json")}
    return {number: done[number] - begun[number] for number in sorted(done)}


def wait_until(moment: float) -> None:
    """Sleep until a time of the monotonic clock."""
    time.sleep(max(0.0, moment - time.monotonic()))
