"""Chooses the document to parse next: from the host whose documents took the least CPU time so far.

One helper, or a few, parse for all hosts. If they took documents in the order of arrival, a host with slow
pages could use up nearly all of their time. With this queue the next page of that host waits until no other
host has a page waiting. A helper cannot leave a document that it has begun. So a slow host has at most one
document with the helpers, and none while a host waits that has used less time.
"""

from __future__ import annotations

from collections import deque
from heapq import heappop, heappush
from itertools import count
from math import inf
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Mapping

Item = TypeVar("Item")

SLOW = 0.25  # CPU seconds per document; most documents take a hundredth of that
_WEIGHT = 0.2  # the weight of the last document in the moving average of a host


class FairQueue(Generic[Item]):
    """The documents that wait to be parsed, by host, for the life of a guard.

    A host may have `ahead` documents in the pipes to the helpers; a slow or unknown host only one.
    """

    def __init__(self, ahead: int) -> None:
        self._ahead = ahead
        self._waiting: dict[str, deque[Item]] = {}
        self._line: list[tuple[float, int, str]] = []  # a heap of hosts with documents, by CPU time used
        self._arrivals = count()
        self._used: dict[str, float] = {}
        self._mean: dict[str, float] = {}
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def add(self, host: str, item: Item) -> None:
        """Queue a document behind the other documents of its host."""
        self._length += 1
        if host in self._waiting:
            self._waiting[host].append(item)
        else:
            self._waiting[host] = deque((item,))
            self._line_up(host)

    def take(self, in_pipe: Mapping[str, int]) -> Item | None:
        """Return the next document, None if all must wait; `in_pipe` counts documents in pipes, per host."""
        passed_over: list[str] = []
        item, least = None, inf
        while self._line and item is None:
            key, _, host = heappop(self._line)
            if host not in self._waiting:
                continue  # its documents were dropped
            if key < self._used.get(host, 0.0):
                self._line_up(host)
            elif self._may_send(host, in_pipe.get(host, 0), overtakes=key > least):
                item = self._pop(host)
            else:
                passed_over.append(host)
                least = min(least, key)
        for host in passed_over:
            self._line_up(host)
        return item

    def charge(self, host: str, seconds: float) -> None:
        """Add the CPU seconds that a document took to the sum of its host."""
        self._used[host] = self._used.get(host, 0.0) + seconds
        mean = self._mean.get(host, seconds)
        self._mean[host] = mean + _WEIGHT * (seconds - mean)

    def drop(self, host: str) -> list[Item]:
        """Take all documents of a host out of the queue and return them."""
        dropped = list(self._waiting.pop(host, ()))
        self._length -= len(dropped)
        return dropped

    def _may_send(self, host: str, in_pipe: int, *, overtakes: bool) -> bool:
        is_slow = self._mean.get(host, SLOW) >= SLOW
        return not (in_pipe or overtakes) if is_slow else in_pipe < self._ahead

    def _pop(self, host: str) -> Item:
        self._length -= 1
        queue = self._waiting[host]
        item = queue.popleft()
        if queue:
            self._line_up(host)
        else:
            del self._waiting[host]
        return item

    def _line_up(self, host: str) -> None:
        heappush(self._line, (self._used.get(host, 0.0), next(self._arrivals), host))
