"""Counts the URLs and live pages of folders and parameter sets, for the budgets of sites.

An extract has these counts. So a task need not read all rows of a large host to find out which budgets are
used up (scope/url_budgets.py). The rows come in key order. So for a folder of two segments it is enough to
look at its first row, and at each row that has a query.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crawlctl.pipeline.scope.url_budgets import groups_of
from crawlctl.pipeline.urls.hosts import host_in_key, url_of_key

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

SEGMENTS = 2  # path segments of the longest folders that are counted


class FolderColumns(NamedTuple):
    """Folders and parameter sets: their names, each with a line feed, and their URLs and live pages."""

    names: bytes
    urls: NDArray[np.int32]
    live: NDArray[np.int32]


class FolderCounts:
    """For each host and name: how many URLs and live pages some rows add."""

    def __init__(self) -> None:
        self._hosts: dict[bytes, dict[str, list[int]]] = {}
        self._packed: dict[bytes, FolderColumns] = {}  # of hosts that get no more rows

    def add(self, keys: Sequence[bytes], is_live: NDArray[np.bool_], sign: int = 1) -> None:
        """Add rows, or with the sign -1 take them away."""
        live = is_live.tolist()
        start = 0
        while start < len(keys):
            key = keys[start]
            groups = list(groups_of(url_of_key(key), SEGMENTS))
            folders = [group for group in groups if "?" not in group]
            stop = start + 1
            if len(folders) == SEGMENTS:
                path = key.index(b"/", key.index(b"://") + 3)
                stop = bisect_left(keys, key[: path + len(folders[-1]) - 1] + b"0", stop)  # behind the "/"
            host = host_in_key(key)
            for folder in folders:
                self._count(host, folder, sign * (stop - start), sign * sum(live[start:stop]))
            for row in range(start, stop):
                if b"?" in keys[row]:
                    for name in groups_of(url_of_key(keys[row]), SEGMENTS):
                        if "?" in name:
                            self._count(host, name, sign, sign * live[row])
            start = stop

    def sum_up(self, many: Sequence[Mapping[bytes, Mapping[str, tuple[int, int]]]]) -> None:
        """Replace the counts by the sums of the counts of several layers."""
        self._hosts, self._packed = {}, {}
        for hosts in many:
            for host, counts in hosts.items():
                for name, (urls, live) in counts.items():
                    self._count(host, name, urls, live)

    def pack(self, last: bytes) -> None:
        """Keep arrays instead of objects for all hosts but the last, which may get more rows."""
        for host in [host for host in self._hosts if host != last]:
            self._packed[host] = self.columns_of(host)
            del self._hosts[host]

    def columns_of(self, host: bytes) -> FolderColumns:
        """Return the names of a host that have counts, and these counts, as columns."""
        if host in self._packed:
            return self._packed[host]
        found = self.of_host(host)
        return FolderColumns(
            "".join(f"{name}\n" for name, _, _ in found).encode("ascii"),
            np.array([urls for _, urls, _ in found], np.int32),
            np.array([live for _, _, live in found], np.int32),
        )

    def of_host(self, host: bytes) -> list[tuple[str, int, int]]:
        """Return the names of a host that have counts, with their URLs and live pages."""
        counts = self._hosts.get(host, {})
        return [(name, urls, live) for name, (urls, live) in sorted(counts.items()) if urls or live]

    def _count(self, host: bytes, name: str, urls: int, live: int) -> None:
        count = self._hosts.setdefault(host, {}).setdefault(name, [0, 0])
        count[0] += urls
        count[1] += live
