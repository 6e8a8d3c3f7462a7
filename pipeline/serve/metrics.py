"""Metrics: how many requests all worker processes of a server have answered, and how fast, for Prometheus.

Each worker keeps its numbers in a small file that it maps into its memory; the worker that is asked adds up
the files of all workers. The file of a worker that died stays, so no counter ever falls. (prometheus_client
can add up processes too, but its folder must be named by an environment variable before it is imported.)
"""

from __future__ import annotations

import mmap
import os
from array import array
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from crawlctl.pipeline.serve.served_index import Contents

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_KINDS = ("2xx", "3xx", "4xx", "5xx", "503")
_BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)  # seconds
# the index of the sum, behind the buckets; the last bucket has no bound
_SUM = len(_KINDS) + len(_BOUNDS) + 1
_NUMBERS = _SUM + 1
_GAUGES = {
    "pages": "Pages that can be searched.",
    "sites": "Hosts with such pages.",
    "known_urls": "URLs that the crawl knows, fetched or not.",
    "snapshot": "The number of the snapshot that is searched.",
    "snapshot_created_seconds": "When it was committed, in seconds since 1970.",
}


class Metrics:
    """The numbers of this process: in a folder that all workers share or, without a folder, in memory."""

    def __init__(self, folder: str = "") -> None:
        self._folder = Path(folder) if folder else None
        self._own = memoryview(bytearray(8 * _NUMBERS)).cast("d")
        if self._folder is not None:
            self._own = _mapped(self._folder / f"worker-{os.getpid()}")

    def request(self, status: int, seconds: float) -> None:
        """Count an answer and the time it took."""
        kind = "503" if status == 503 else f"{status // 100}xx"
        self._own[_KINDS.index(kind) if kind in _KINDS else 0] += 1
        bucket = next((index for index, bound in enumerate(_BOUNDS) if seconds <= bound), len(_BOUNDS))
        self._own[len(_KINDS) + bucket] += 1
        self._own[_SUM] += seconds

    def text(self, crawls: Mapping[str, Contents]) -> str:
        """Return the numbers of all workers, and of the crawls by name, in the text format of Prometheus."""
        lines = (*_request_lines(self._summed()), *_crawl_lines(crawls))
        return "".join(f"{line}\n" for line in lines)

    def _summed(self) -> list[float]:
        if self._folder is None:
            return list(self._own)
        files = [array("d", path.read_bytes()) for path in self._folder.glob("worker-*")]
        return [sum(column) for column in zip(*files, strict=True)]


def _mapped(path: Path) -> memoryview[float]:
    """Return the numbers of a file, mapped into memory; other processes read them from the file."""
    path.write_bytes(bytes(8 * _NUMBERS))
    with path.open("r+b") as file:
        return memoryview(mmap.mmap(file.fileno(), 0)).cast("d")


def _request_lines(numbers: list[float]) -> Iterator[str]:
    yield "# HELP crawlctl_http_requests_total Answers by status; 503 is a request that was refused."
    yield "# TYPE crawlctl_http_requests_total counter"
    for kind, count in zip(_KINDS, numbers, strict=False):
        yield f'crawlctl_http_requests_total{{status="{kind}"}} {count:.0f}'
    yield "# HELP crawlctl_http_request_seconds Seconds from a request to the head of its answer."
    yield "# TYPE crawlctl_http_request_seconds histogram"
    count = 0.0
    for bound, bucket in zip((*_BOUNDS, "+Inf"), numbers[len(_KINDS) :], strict=False):
        count += bucket
        yield f'crawlctl_http_request_seconds_bucket{{le="{bound}"}} {count:.0f}'
    yield f"crawlctl_http_request_seconds_sum {numbers[_SUM]:.6f}"
    yield f"crawlctl_http_request_seconds_count {count:.0f}"


def _crawl_lines(crawls: Mapping[str, Contents]) -> Iterator[str]:
    """Yield the lines about each crawl; a crawl without a name is the only crawl, and needs no label."""
    measured = {(f'{{crawl="{name}"}}' if name else ""): _gauges(one) for name, one in crawls.items()}
    for name, meaning in _GAUGES.items():
        yield f"# HELP crawlctl_{name} {meaning}"
        yield f"# TYPE crawlctl_{name} gauge"
        for label, values in measured.items():
            yield f"crawlctl_{name}{label} {values[name]}"


def _gauges(contents: Contents) -> dict[str, int]:
    return {
        "pages": contents.pages,
        "sites": len(contents.sites),
        "known_urls": contents.known_urls,
        "snapshot": contents.snapshot,
        "snapshot_created_seconds": int(contents.updated),
    }
