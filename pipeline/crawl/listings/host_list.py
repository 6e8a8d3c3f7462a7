"""Lists the hosts of a crawl: their pages, robots.txt, crawl delay and failures.

The host table has all hosts that were asked; in a large crawl only this table is read. Pages by status are in
the WebDB. Its parts and the host tables are sorted by host, so one pass over both, partition by partition,
counts the pages host by host and also meets the hosts that were never asked.
"""

from __future__ import annotations

from collections import Counter
from heapq import merge
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import msgspec

from crawlctl.pipeline.crawl.listings.first_items import FirstItems
from crawlctl.pipeline.crawl.listings.page_errors import is_error, trouble_of_host
from crawlctl.pipeline.politeness.crawl_delay import delay_between
from crawlctl.pipeline.politeness.host_state import HostState, left_alone_until
from crawlctl.pipeline.state.kinds import HOSTS
from crawlctl.pipeline.urls.hosts import host_in_key
from crawlctl.pipeline.webdb.host_table import find_host
from crawlctl.pipeline.webdb.packed import visit_fields
from crawlctl.pipeline.webdb.records import LIVE
from crawlctl.pipeline.webdb.row_files import read_hosts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from crawlctl.pipeline.config.settings import PolitenessSettings
    from crawlctl.pipeline.crawl.listings.webdb_scan import WebDbScan
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.webdb.records import Status


class HostPages(msgspec.Struct, frozen=True):
    """The pages of a host in figures; `errors` are those that `crawlctl errors` groups."""

    known: int
    live: int
    due: int
    errors: int
    statuses: dict[str, int]


_NO_PAGES = HostPages(0, 0, 0, 0, {})
_NO_STATE = HostState()


class ListedHost(msgspec.Struct, frozen=True):
    """A host of the list; times are UTC seconds, 0 means never."""

    host: str
    answered: int  # how many pages were answered, in all rounds
    pages: HostPages | None  # None: the pages were not counted
    robots: str  # the state of robots.txt: rules, no rules, unreadable or not read
    crawl_delay: float  # seconds between two requests, by the current state of the host
    failures: int  # how many requests failed in a row
    trouble: str  # why not all of its due pages could be requested, or its last failure
    left: int  # URLs that were due and not requested when the last round ended
    not_before: float  # it is not asked before this time
    ip: str


class HostList:
    """The hosts of a crawl as they are at `now`, in UTC seconds."""

    def __init__(self, store: Store, snapshot: Snapshot, settings: PolitenessSettings, now: float) -> None:
        self._store = store
        self._snapshot = snapshot
        self._settings = settings
        self._now = now

    def first(self, count: int, order: str, scan: WebDbScan | None) -> tuple[list[ListedHost], int]:
        """Return the first hosts in an order of SORTS, and the number of all.

        `scan` counts their pages. Without `scan` only hosts that were asked are listed.
        """
        first = FirstItems[ListedHost](count, SORTS[order])
        for partition in range(self._snapshot.partitions):
            for host in self._of_partition(partition, scan):
                first.add(host)
        return first.items(), first.met

    def one(self, host: str, scan: WebDbScan) -> ListedHost | None:
        """Return a host with its pages, counted by a scan of the host; None if the crawl has no such host."""
        counts = self._counts(value for rows in scan.rows() for _, value in rows)
        state = find_host(self._store, self._snapshot, host)
        return None if state is None and not counts.known else self._listed(host, state, counts)

    def _of_partition(self, partition: int, scan: WebDbScan | None) -> Iterator[ListedHost]:
        states = (
            (host, state)
            for entry in self._snapshot.files_of(HOSTS, partition)
            for host, state in read_hosts(self._store, entry)
        )
        if scan is None:
            yield from (self._listed(host, state, None) for host, state in states)
            return
        both: Iterator[tuple[str, Any]] = merge(self._counted(partition, scan), states, key=itemgetter(0))
        for host, found in groupby(both, key=itemgetter(0)):
            known = {type(one): one for _, one in found}
            yield self._listed(host, known.get(HostState), known.get(HostPages, _NO_PAGES))

    def _counted(self, partition: int, scan: WebDbScan) -> Iterator[tuple[str, HostPages]]:
        rows = (row for many in scan.rows_of(partition) for row in many)
        for host, own in groupby(rows, key=lambda row: host_in_key(row[0])):
            yield host.decode("ascii"), self._counts(value for _, value in own)

    def _counts(self, values: Iterable[bytes]) -> HostPages:
        due = errors = 0
        statuses: Counter[Status] = Counter()
        for value in values:
            visits = visit_fields(value)
            due += visits.next_due <= self._now
            errors += is_error(visits)
            statuses[visits.status] += 1
        live = sum(statuses[status] for status in LIVE)
        named = {status.name.lower(): number for status, number in statuses.items()}
        return HostPages(statuses.total(), live, due, errors, named)

    def _listed(self, host: str, known: HostState | None, pages: HostPages | None) -> ListedHost:
        state = known or _NO_STATE
        return ListedHost(
            host,
            state.pages,
            pages,
            robots_in_a_word(state),
            delay_between(self._settings, state.crawl_delay, state.last_seconds),
            state.failures,
            trouble_of_host(state) or state.reason,
            state.left,
            left_alone_until(state, self._settings.robots_retry),
            state.ip,
        )


# The orders of the list, by their names on the command line. Hosts that are equal in this order are sorted by
# name.
SORTS: dict[str, Callable[[ListedHost], tuple[Any, ...]]] = {
    "pages": lambda one: (-(one.pages.known if one.pages else one.answered), one.host),
    "failures": lambda one: (
        -(one.pages.errors if one.pages else 0),
        -one.failures,
        not one.trouble,
        one.host,
    ),
    "name": lambda one: (one.host,),
}


def robots_in_a_word(state: HostState) -> str:
    """Return the state of the robots.txt of a host, by the scheme (http, https) of which more is known."""
    found = [known.robots for known in state.robots.values()]
    if not found:
        return "not read"
    if any(robots.rules for robots in found):
        return "rules"
    return "unreadable" if any(robots.try_later for robots in found) else "no rules"
