"""Counts what a WebDB part holds while its rows pass by, without decoding them."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.webdb.packed import statuses
from crawlctl.pipeline.webdb.records import Status

if TYPE_CHECKING:
    from collections.abc import Sequence

HOSTS = "hosts"


class Census:
    """The number of entries by status and of hosts, in rows that come in key order."""

    def __init__(self, name: str = "webdb") -> None:
        self._name = name
        self._statuses: Counter[int] = Counter()
        self._hosts = 0
        self._host = b""

    def add(self, keys: Sequence[bytes], values: Sequence[bytes]) -> None:
        """Count some rows more."""
        self._statuses.update(statuses(values, self._name))
        start = 0
        while start < len(keys):
            host = keys[start].partition(b" ")[0]
            self._hosts += host != self._host
            self._host = host
            # The space behind a host is followed by "!" in byte order: past it the next host begins.
            start = bisect_left(keys, host + b"!", start + 1)

    def counters(self) -> dict[str, int]:
        """Return the counts by the name of what they count, statuses that do not occur left out."""
        try:
            statuses = {
                Status(number).name.lower(): count for number, count in sorted(self._statuses.items())
            }
        except ValueError as err:
            raise CorruptFile(self._name, 0, f"not a WebDB part ({err})") from err
        return {**statuses, HOSTS: self._hosts}
