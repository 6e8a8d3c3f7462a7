"""HostLimit: lets only a few documents of each host into an answer, and counts the documents left out.

Without it, a large site would fill the first pages of most answers. Once the allowed number of documents of a
host is found, all other documents of the host are taken out of the ranking. So the rest of the answer is
found without looking at each of them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.search.evaluate.index_reader import IndexReader
    from crawlctl.pipeline.search.evaluate.matches import Matches


class HostLimit:
    """Counts, for one answer, how many documents of each host were taken."""

    def __init__(self, reader: IndexReader, most: int) -> None:
        self._reader = reader
        self._most = most
        self._taken = Counter[bytes]()
        self._shown = Counter[bytes]()

    def take(self, document: int) -> bool:
        """Return whether a document may be shown; it then counts as shown."""
        host = self._host_of(document)
        if self._taken[host] >= self._most:
            return False
        self._taken[host] += 1
        return True

    def rest_of(self, matches: Matches) -> Matches:
        """Return the matches on hosts that have not reached the limit."""
        full = {host for host, taken in self._taken.items() if taken >= self._most}
        return matches.without(sorted(self._ranges(full))) if full else matches

    def more(self, matches: Matches, shown: list[int]) -> dict[int, int]:
        """Return, for the last shown document of each host, how many more documents of the host match."""
        found: dict[int, int] = {}
        documents = matches.documents()
        last = {self._host_of(document): document for document in shown}
        self._shown.update(map(self._host_of, shown))
        for host, document in last.items():
            if self._shown[host] >= self._most:
                counts = (
                    bisect_left(documents, end) - bisect_left(documents, at)
                    for at, end in self._ranges({host})
                )
                found[document] = max(0, sum(counts) - self._shown[host])
        return found

    def _host_of(self, document: int) -> bytes:
        segment, ordinal = self._reader.locate(document)
        hosts = self._reader.hosts(segment)
        return hosts.names[bisect_right(hosts.firsts, ordinal) - 1]

    def _ranges(self, wanted: set[bytes]) -> Iterator[tuple[int, int]]:
        """Yield the documents of some hosts, without those of their subdomains."""
        for segment, base in enumerate(self._reader.bases):
            hosts = self._reader.hosts(segment)
            for host in wanted:
                index = bisect_left(hosts.names, host)
                if index < len(hosts.names) and hosts.names[index] == host:
                    first, after = hosts.bounds(index, self._reader.segments[segment].documents)
                    yield base + first, base + after
