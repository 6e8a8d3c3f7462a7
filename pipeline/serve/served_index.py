"""ServedIndex: the open index of a server process, which follows the crawl from snapshot to snapshot."""

from __future__ import annotations

import time
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

import msgspec

from crawlctl.pipeline.errors import CrawlctlError
from crawlctl.pipeline.index.statistics import summary_of
from crawlctl.pipeline.search.open.follower import FollowingSearcher
from crawlctl.pipeline.serve.searching.earlier_snapshot import EarlierSnapshot
from crawlctl.pipeline.state.kinds import WEBDB

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlctl.pipeline.search.open.searcher import Searcher
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store

_Result = TypeVar("_Result")

# Seconds between two looks for a newer snapshot: on S3 each look is a request.
LOOK_EVERY = 2.0


class Contents(msgspec.Struct, frozen=True, kw_only=True):
    """The open index in figures, until a newer snapshot is opened; `updated` is in UTC seconds."""

    snapshot: int
    updated: float
    pages: int  # that were fetched and can be searched
    sites: tuple[tuple[str, int], ...]  # host and its number of pages, the largest first
    known_urls: int  # of the crawl, fetched or not


class ServedIndex:
    """The index as all searches of this process ask it; only one thread may use it.

    One thread is enough: a search is work for the CPU, and Python computes in one thread at a time. More
    searches at the same time take more processes (`--workers`).
    """

    def __init__(self, store: Store, clock: Callable[[], float] = time.monotonic) -> None:
        import numpy  # noqa: F401  # searches then use the evaluator for many queries

        self._clock = clock
        self._following = FollowingSearcher(store)
        self._looked = clock()
        self._earlier = EarlierSnapshot(store, clock)
        self._contents: Contents | None = None

    @property
    def snapshot(self) -> Snapshot:
        """The snapshot that the last search was asked."""
        return self._following.snapshot

    def ask(self, search: Callable[[Searcher], _Result]) -> _Result:
        """Return the result of a search, in a snapshot that was current a moment ago.

        If a newer snapshot cannot be opened, the open one goes on to answer.
        """
        now = self._clock()
        if now - self._looked < LOOK_EVERY:
            return self._following.ask(search, stay=True)
        self._earlier.close_if_idle()
        self._look()
        return self._following.ask(search, stay=True)

    def ask_snapshot(self, number: int, writer: str, search: Callable[[Searcher], _Result]) -> _Result:
        """Return the result of a search in one snapshot, which need not be the newest."""
        if number > self.snapshot.number:  # another worker has opened it before us
            self._look()
        if self.snapshot.writer.startswith(writer):
            with suppress(_Changed):
                return self._following.ask(lambda searcher: search(_same(searcher, writer)), stay=True)
        return self._earlier.ask(number, writer, search)

    def _look(self) -> None:
        """Open the newest snapshot, if that is possible."""
        self._looked = self._clock()
        with suppress(CrawlctlError):  # it is tried again after the next LOOK_EVERY
            self._following.ask(_nothing)

    def contents(self) -> Contents:
        """Return what can be searched, counted once per snapshot."""
        return self.ask(self._counted)

    def _counted(self, searcher: Searcher) -> Contents:
        snapshot = searcher.snapshot
        if self._contents is None or self._contents.snapshot != snapshot.number:
            self._contents = Contents(
                snapshot=snapshot.number,
                updated=snapshot.created,
                pages=summary_of(snapshot.files)["documents"],
                sites=_sites(searcher),
                known_urls=sum(entry.records for entry in snapshot.files_of(WEBDB)),
            )
        return self._contents


class _Changed(Exception):
    """Files of the open snapshot were deleted, so that a newer one was opened within a search."""


def _same(searcher: Searcher, writer: str) -> Searcher:
    """Return the searcher if it is of the snapshot with this name."""
    if not searcher.snapshot.writer.startswith(writer):
        raise _Changed
    return searcher


def _nothing(_: Searcher) -> None:
    """Search for nothing: the question opens the newest snapshot."""


def _sites(searcher: Searcher) -> tuple[tuple[str, int], ...]:
    """Return the hosts with pages in the index; pages that are not fetched yet do not count."""
    reader = searcher.reader
    counts: Counter[str] = Counter()
    for number, segment in enumerate(reader.segments):
        if segment.frontier:
            continue
        hosts, dead = reader.columns(number).hosts(), reader.tombstones.get(number)
        for index, name in enumerate(hosts.names):
            first, after = hosts.bounds(index, segment.documents)
            deleted = sum(ordinal in dead for ordinal in range(first, after)) if dead else 0
            counts[name.decode("ascii", "replace")] += after - first - deleted
    alive = ((host, pages) for host, pages in counts.items() if pages)
    return tuple(sorted(alive, key=lambda site: (-site[1], site[0])))
