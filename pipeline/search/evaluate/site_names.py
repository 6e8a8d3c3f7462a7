"""Site names: the large sites whose host begins with a word, as www.postgresql.org does for `postgres`.

A name is a part of the host between dots or hyphens, except behind the last dot. Only sites with many of the
fetched pages count: in a crawl of many small sites nearly every word begins the name of some host.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from functools import cached_property
from itertools import takewhile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.search.evaluate.index_reader import IndexReader

# A word has at least this many letters and this share of the name: `postgres`, but not `post` or `face`.
_LEAST_LETTERS = 4
_LEAST_SHARE = 2 / 3
_PAGES_SHARE = 200  # a large site has at least 1/200 of the pages


class SiteNames:
    """The names of the large sites of an open index."""

    def __init__(self, reader: IndexReader) -> None:
        self._reader = reader

    def begun_by(self, word: str) -> tuple[str, ...]:
        """Return the names that begin with a word and are longer, but not much longer."""
        if len(word) < _LEAST_LETTERS:
            return ()
        found = takewhile(lambda name: name.startswith(word), self._names[bisect_left(self._names, word) :])
        return tuple(name for name in found if _LEAST_SHARE * len(name) <= len(word) < len(name))

    @cached_property
    def _names(self) -> list[str]:
        large = (host.decode() for host in self._large_hosts())
        return sorted({name for host in large for name in re.split("[.-]", host.rpartition(".")[0])})

    def _large_hosts(self) -> Iterator[bytes]:
        """Yield the hosts with many of the pages; there may be a million hosts, so not each is looked at."""
        fetched = list(self._reader.fetched_ranges())
        self._reader.parallel.map(self._reader.hosts, fetched)
        least = sum(self._reader.segments[segment].documents for segment in fetched) / _PAGES_SHARE
        of_partitions: defaultdict[int, list[int]] = defaultdict(list)  # a host is in one partition
        for segment in fetched:
            of_partitions[self._reader.segments[segment].partition].append(segment)
        for some in of_partitions.values():
            # A large host has at least an equal share of its pages in one of the segments.
            long = {host for segment in some for host in self._long_ranges(segment, least / len(some))}
            yield from (host for host in long if sum(self._pages(one, host) for one in some) >= least)

    def _long_ranges(self, segment: int, least: float) -> Iterator[bytes]:
        """Yield the hosts with so many pages in a segment: each has one of the ordinals that are probed."""
        hosts, documents = self._reader.hosts(segment), self._reader.segments[segment].documents
        for ordinal in range(0, documents, max(1, int(least))):
            index = bisect_right(hosts.firsts, ordinal) - 1
            start, end = hosts.bounds(index, documents)
            if end - start >= least:
                yield hosts.names[index]

    def _pages(self, segment: int, host: bytes) -> int:
        """Return the number of pages of a host in a segment; deleted pages count until a merge."""
        hosts = self._reader.hosts(segment)
        index = bisect_left(hosts.names, host)
        if index == len(hosts.names) or hosts.names[index] != host:
            return 0
        start, end = hosts.bounds(index, self._reader.segments[segment].documents)
        return end - start
