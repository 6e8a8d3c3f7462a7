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
from crawlctl.pipeline.serve.fault_log import FAULTS
from crawlctl.pipeline.serve.searching.earlier_snapshot import EarlierSnapshot
from crawlctl.pipeline.state.kinds import WEBDB
from crawlctl.pipeline.state.snapshots import load_current

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlctl.pipeline.search.open.searcher import Searcher
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store

_Result = TypeVar("_Result")

# Seconds between two checks for a newer snapshot: on S3 each check is a request.
LOOK_EVERY = 2.0


class Contents(msgspec.Struct, frozen=True, kw_only=True):
    """The open index in figures, until a newer snapshot is opened; `updated` is in UTC seconds."""

    snapshot: int
    updated: float
    pages: int  # pages that were fetched and can be searched
    sites: tuple[tuple[str, int], ...]  # host and its number of pages, the largest first
    known_urls: int  # all URLs that the crawl knows, fetched or not


class ServedIndex:
    """The index that all searches of this process use until the process ends; only one thread may use it.

    One thread is enough: a search needs the CPU, and Python computes in one thread at a time. To run several
    searches at the same time, start more processes (`--workers`).
    """

    def __init__(self, store: Store, clock: Callable[[], float] = time.monotonic) -> None:
        import numpy  # noqa: F401  # searches then use the evaluator for many queries

        self._clock = clock
        self._store = store
        self._following = FollowingSearcher(store)
        self._is_behind = False  # the newest snapshot could not be opened at the last check
        self._looked = clock()
        self._earlier = EarlierSnapshot(store, clock)
        self._contents: Contents | None = None

    @property
    def snapshot(self) -> Snapshot:
        """The snapshot that answered the last search."""
        return self._following.snapshot

    def ask(self, search: Callable[[Searcher], _Result]) -> _Result:
        """Return the result of a search, in a snapshot that was current a moment ago.

        If a newer snapshot cannot be opened, the snapshot that is open answers.
        """
        now = self._clock()
        if now - self._looked < LOOK_EVERY:
            return self._following.ask(search, stay=True)
        self._earlier.close_if_idle()
        self._look()
        return self._following.ask(search, stay=True)

    def ask_snapshot(self, number: int, writer: str, search: Callable[[Searcher], _Result]) -> _Result:
        """Return the result of a search in a given snapshot, which may be an earlier one."""
        if number > self.snapshot.number:  # another worker has opened it before us
            self._look()
        if self.snapshot.writer.startswith(writer):
            with suppress(_Changed):
                return self._following.ask(lambda searcher: search(_same(searcher, writer)), stay=True)
        return self._earlier.ask(number, writer, search)

    def _look(self) -> None:
        """Open the newest snapshot, if that is possible."""
        self._looked = self._clock()
        try:
            self._following.ask(_nothing)
            self._is_behind = False
        except CrawlctlError as err:  # the next check, after LOOK_EVERY seconds, tries again
            self._is_behind = True
            FAULTS.tell(err)

    def contents(self) -> Contents:
        """Return the figures of the open index, which are counted once per snapshot."""
        return self.ask(self._counted)

    def readable_contents(self) -> Contents:
        """Return the figures of the open index; raise an error if the store cannot be read at the moment.

        Where only the newest snapshot cannot be opened, the open one goes on answering: that is no error.
        """
        contents = self.contents()
        if self._is_behind:
            load_current(self._store)
        return contents

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
    """Files of the open snapshot were deleted, and so a newer snapshot was opened during a search."""


def _same(searcher: Searcher, writer: str) -> Searcher:
    """Return the searcher if it is of the snapshot with this name."""
    if not searcher.snapshot.writer.startswith(writer):
        raise _Changed
    return searcher


def _nothing(_: Searcher) -> None:
    """A search that does nothing: to run it opens the newest snapshot."""


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
