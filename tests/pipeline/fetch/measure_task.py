"""Runs the fetch task of the order on standard input and prints how much memory it took at most, in bytes."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

import msgspec

from crawlctl.pipeline.fetch.order import FetchOrder
from crawlctl.pipeline.fetch.task import fetch_partition
from crawlctl.pipeline.orders import decode_order
from crawlctl.pipeline.store.open import open_store


class Peaks(msgspec.Struct, frozen=True):
    task: int
    helper: int


def peak_of_this() -> int:
    """Return the peak of this program; what the kernel sums up begins with that of its parent."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) << 10
    return in_bytes(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def in_bytes(maxrss: int) -> int:
    return maxrss if sys.platform == "darwin" else maxrss << 10


if __name__ == "__main__":
    order = decode_order(sys.stdin.read(), FetchOrder)
    fetch_partition(order, open_store(order.store))
    helper = in_bytes(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
    print(msgspec.json.encode(Peaks(peak_of_this(), helper)).decode())
