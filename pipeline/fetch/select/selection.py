"""Selects the due URLs of a partition that a round fetches.

A higher score comes first (the rank of a page as a multiple of the average, see rank/publish), then a smaller
depth, then a longer wait. There is a limit per host and a limit per round. URLs that do not fit stay due, and
have waited longer next time.

With the extract of the part the due URLs come in this order, and only those that are taken are read
(webdb/extract/due_rows.py).

Without it the part is read once from end to end. Most entries are not due, so they must cost nearly nothing:
one comparison of bytes tells whether an entry is due. Once the selection is full, a second comparison tells
whether its score is too low (webdb/packed.py). Only the leading fields of the remaining entries are decoded.
"""

from __future__ import annotations

from heapq import heappop, heappush
from sys import maxsize
from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.urls.hosts import host_in_key, key_prefix
from crawlctl.pipeline.webdb.extract.due_rows import best_due_rows
from crawlctl.pipeline.webdb.packed import due_mark, due_rows, leading_fields, score_mark

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from crawlctl.pipeline.formats.sequencefile.block_body import Block
    from crawlctl.pipeline.webdb.extract.part_extract import PartExtract

_DUE_OVERHEAD = 250  # bytes of Python objects around a URL


class Due(NamedTuple):
    """A URL to fetch, with its WebDB key and packed entry; greater tuples are fetched earlier."""

    score: float
    minus_depth: int
    minus_due: int
    key: bytes
    value: bytes


class Selection:
    """Takes the blocks of a part in order and keeps the best due URLs.

    There are three limits: `limit` URLs, `memory` bytes in all (URLs may be long), and `per_host` URLs per
    host. The keys in `done` are finished in this round already, and `shares` counts them per host.
    """

    def __init__(
        self,
        now: int,
        limit: int,
        *,
        memory: int | None = None,
        per_host: int | None = None,
        done: Collection[bytes] = (),
        shares: Mapping[bytes, int] | None = None,
    ) -> None:
        self._now = now
        self._mark = due_mark(now)
        self._limit = limit
        self._memory = memory
        self._per_host = per_host
        self._done = done
        self._shares = shares or {}
        self._best = _Best(limit, memory)
        self._host = b" "  # the prefix of the host's keys, with its space; this first value fits no key
        self._of_host = self._best if per_host is None else _Best(0)

    def add(self, block: Block, name: str = "webdb") -> None:
        """Select from the entries of the next block."""
        done = self._done
        for key, value in due_rows(block.keys, block.values, self._mark, self._best.floor):
            if key in done:
                continue
            if not key.startswith(self._host):
                self._begin_host(key)
            fields = leading_fields(value, name, block.offset)
            self._of_host.offer(fields.score, -fields.depth, -fields.next_due, key, value)

    @property
    def limit(self) -> int:
        """The most URLs that are selected."""
        return self._limit

    def find(self, extract: PartExtract) -> None:
        """Select from all entries of a part, by its extract."""
        full_hosts: set[bytes] | None = None if self._per_host is None else set()
        left: dict[bytes, int] = {}
        for due in best_due_rows(extract, self._now, full_hosts):
            key = due[3]
            if key in self._done:
                continue
            if full_hosts is not None and self._per_host is not None:
                host = host_in_key(key)
                left[host] = left.get(host, self._per_host - self._shares.get(host, 0)) - 1
                if left[host] <= 0:
                    full_hosts.add(host)
                if left[host] < 0:
                    continue
            if not self._best.append(Due(*due)):
                return

    def finish(self) -> list[Due]:
        """Return the selected URLs, the most important one first."""
        self._end_host()
        return sorted(self._best.kept, reverse=True)

    def _begin_host(self, key: bytes) -> None:
        self._end_host()
        self._host = key_prefix(key)
        if self._per_host is not None:
            share = self._per_host - self._shares.get(self._host[:-1], 0)
            self._of_host = _Best(min(share, self._limit), self._memory)

    def _end_host(self) -> None:
        if self._of_host is not self._best:
            for candidate in self._of_host.kept:
                self._best.offer(*candidate)
            self._of_host = _Best(0)


class _Best:
    """The best `limit` candidates that fit into `memory` bytes."""

    def __init__(self, limit: int, memory: int | None = None) -> None:
        self.kept: list[Due] = []  # a heap with the worst candidate first
        self._limit = max(0, limit)
        self._room = memory if memory is not None else maxsize
        self._worst: Due | None = None  # the worst of `kept`, once it is full

    def append(self, due: Due) -> bool:
        """Take a candidate that is not better than those before; return whether there is room for more."""
        if self._limit <= 0:
            return False
        self._room -= len(due.key) + len(due.value) + _DUE_OVERHEAD
        if self._room < 0 and self.kept:
            return False
        self.kept.append(due)
        return len(self.kept) < self._limit and self._room >= 0

    @property
    def floor(self) -> bytes:
        """The packed score below which no further candidate is kept."""
        return score_mark(self._worst.score) if self._worst else b""

    def offer(self, score: float, minus_depth: int, minus_due: int, key: bytes, value: bytes) -> None:
        if self._worst and (score, minus_depth, minus_due) < self._worst[:3]:
            return
        heappush(self.kept, Due(score, minus_depth, minus_due, key, value))
        self._room -= len(key) + len(value) + _DUE_OVERHEAD
        is_full = len(self.kept) >= self._limit or self._room < 0
        while len(self.kept) > self._limit or (self._room < 0 and len(self.kept) > 1):
            dropped = heappop(self.kept)
            self._room += len(dropped.key) + len(dropped.value) + _DUE_OVERHEAD
        if is_full and self.kept:
            self._worst = self.kept[0]
