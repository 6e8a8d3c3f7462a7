"""Site names: the large sites whose host begins with a word, as www.postgresql.org does for `postgres`.

A name is a part of the host between dots or hyphens, except behind the last dot. Only sites with many of the
fetched pages count: in a crawl of many small sites nearly every word begins the name of some host.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
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
        pages = Counter[bytes]()
        for host, count in self._pages_of_hosts():
            pages[host] += count
        large = (host.decode() for host, count in pages.items() if count * _PAGES_SHARE >= pages.total())
        return sorted({name for host in large for name in re.split("[.-]", host.rpartition(".")[0])})

    def _pages_of_hosts(self) -> Iterator[tuple[bytes, int]]:
        """Yield each host of each segment with its number of fetched pages there."""
        fetched = list(self._reader.fetched_ranges())
        hosts = self._reader.parallel.map(self._reader.hosts, fetched)
        for segment, some in zip(fetched, hosts, strict=True):
            ends = (*some.firsts[1:], self._reader.segments[segment].documents)
            yield from ((name, end - first) for name, first, end in zip(*some, ends, strict=True))
