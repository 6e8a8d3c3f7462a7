"""The URLs that a task has found in this round and may fetch in the same round, by host.

Nutch calls this following outlinks. Only URLs that the crawl did not know are taken, in the task's own
partition, and only of hosts whose saved state the task has read, or that are new to the crawl. All other URLs
wait for the next round, and so do deep URLs (`deepest_to_follow`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from heapq import nlargest
from sys import maxsize
from typing import TYPE_CHECKING

from crawlctl.pipeline.fetch.select.selection import Due
from crawlctl.pipeline.urls.hosts import host_in_key
from crawlctl.pipeline.webdb.entries import first_entry
from crawlctl.pipeline.webdb.records import encode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from crawlctl.pipeline.fetch.pages.discovered import DiscoveredUrls
    from crawlctl.pipeline.webdb.records import Fresh

URL_BYTES = 700  # of Python objects per URL: its key, its facts and its places in two dictionaries
# How many URLs of a host are chosen at once: at least _FEW, and 1/_SHARE of many, because choosing reads all.
_FEW = 8
_SHARE = 16
# From this scope.max_depth on, the limit is there for traps; a smaller one says which pages a user wants.
_LIMIT_OF_TRAPS = 10


def deepest_to_follow(max_depth: int) -> int:
    """Return the greatest depth of URLs that are followed.

    A page that a slow host would soon link to may be found on a longer way first, and gets a depth that is
    too large. So do the pages behind it, until a later visit corrects them, and pages that then seem deeper
    than scope.max_depth are found late. Only the depth of what seeds link to is certain.
    """
    return max_depth // 2 if max_depth >= _LIMIT_OF_TRAPS else 1


@dataclass(frozen=True)
class FollowLimits:
    """What may be followed: URLs up to `depth`, as many as fit into `memory`, and `per_host` per host."""

    depth: int
    memory: int
    per_host: int | None = None


class Outlinks:
    """The URLs to follow, with what is found out about them; `may_follow` judges a host by its name."""

    def __init__(
        self, fresh: DiscoveredUrls, may_follow: Callable[[str], bool], limits: FollowLimits
    ) -> None:
        self.hosts: dict[bytes, set[bytes]] = {}  # host → keys
        self._fresh = fresh
        self._may_follow = may_follow
        self._depth = limits.depth
        self._room = limits.memory // URL_BYTES
        self._per_host = maxsize if limits.per_host is None else limits.per_host
        self._pages: Counter[bytes] = Counter()  # pages of a host that are in this round already
        self._verdicts: dict[bytes, bool] = {}
        self._has_others: set[bytes] = set()  # hosts with new URLs that are not followed

    def count(self, pages: Mapping[bytes, int]) -> None:
        """Add to the pages that hosts have in this round; they count for `per_host`."""
        self._pages.update(pages)

    def add(self, keys: Sequence[bytes], depth: int) -> None:
        """Take new URLs that were found at this depth, if they may be followed."""
        for key in keys:
            host = host_in_key(key)
            if depth > self._depth or self._room <= 0 or not self._is_open(host):
                self._has_others.add(host)
            else:
                self._take(host, key, None)

    def adopt(self, found: Iterable[tuple[bytes, Fresh]]) -> None:
        """Take the URLs that an earlier attempt has found and not fetched."""
        for key, fresh in found:
            host = host_in_key(key)
            if fresh.depth <= self._depth and self._room > 0 and self._is_open(host):
                self._take(host, key, fresh)

    def best(self, host: bytes, now: int) -> list[Due]:
        """Remove and return the URLs of a host to fetch next, the most important one first."""
        keys = self.hosts.get(host, set())
        count = min(max(_FEW, len(keys) // _SHARE), self._per_host - self._pages[host])
        chosen = nlargest(count, map(self._ranked, keys)) if count > 0 else []
        return [due for *_, key in chosen if (due := self._taken(host, key, now)) is not None]

    def give_back(self, due: Iterable[Due]) -> None:
        """Take back URLs whose turn did not come."""
        for one in due:
            host = host_in_key(one.key)
            self.hosts.setdefault(host, set()).add(one.key)
            self._pages[host] -= 1

    def only_has_others(self, host: bytes) -> bool:
        """Return whether a host has new URLs that are not followed, and none that may still be."""
        if self._pages[host] >= self._per_host:  # the host has had its share of the round
            return host in self._has_others or bool(self.hosts.get(host))
        return host in self._has_others and not self.hosts.get(host)

    def _is_open(self, host: bytes) -> bool:
        verdict = self._verdicts.get(host)
        if verdict is None:
            verdict = self._verdicts[host] = self._may_follow(host.decode("ascii"))
        return verdict

    def _take(self, host: bytes, key: bytes, before: Fresh | None) -> None:
        self._room -= 1
        self.hosts.setdefault(host, set()).add(key)
        self._fresh.watch(key, before)

    def _ranked(self, key: bytes) -> tuple[float, int, int, bytes]:
        facts = self._fresh.facts(key)
        return (facts.score, -facts.depth, -facts.seen, key) if facts else (0.0, 0, 0, key)

    def _taken(self, host: bytes, key: bytes, now: int) -> Due | None:
        self.hosts[host].discard(key)
        facts = self._fresh.facts(key)
        if facts is None:
            return None
        self._pages[host] += 1
        entry = first_entry(facts, max(now, facts.seen))
        return Due(entry.score, -entry.depth, -entry.next_due, key, encode(entry))
