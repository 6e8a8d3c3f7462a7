"""Groups the pages that failed by reason, and finds the hosts that could not be asked.

A page is an error if it is gone, forbidden, excluded or failed, or if its last visit failed: such a page
keeps its status and its document until retry_limit visits have failed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.crawl.listings.first_items import FirstItems
from crawlctl.pipeline.politeness.host_queue import ROUND_ENDED
from crawlctl.pipeline.politeness.host_state import left_alone_until
from crawlctl.pipeline.state.kinds import HOSTS
from crawlctl.pipeline.urls.hosts import partition_of, url_of_key
from crawlctl.pipeline.webdb.packed import visit_fields
from crawlctl.pipeline.webdb.records import Status, decode_entry
from crawlctl.pipeline.webdb.row_files import read_hosts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.crawl.listings.webdb_scan import WebDbScan
    from crawlctl.pipeline.politeness.host_state import HostState
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.webdb.packed import VisitFields
    from crawlctl.pipeline.webdb.records import WebEntry

ERRORS = frozenset({Status.GONE, Status.FORBIDDEN, Status.EXCLUDED, Status.FAILED})
FAILING = "failing"
MAX_GROUPS = 1000  # the most groups held in memory; servers send any texts
OTHER_REASONS = "other reasons"
MAX_HOSTS = 1000  # the most hosts that are listed

_NO_REASON = "no reason was given"
_PARTICULARS = re.compile(r": .*|; .*| \(.*", re.DOTALL)


class ErrorGroup(msgspec.Struct):
    """Pages with the same kind of error; `reason` is the text that all reasons begin with."""

    status: str
    reason: str
    pages: int
    example: str


class SilentHost(msgspec.Struct, frozen=True):
    """A host that could not be asked, or not for all its pages; `not_before` is in UTC seconds."""

    host: str
    failures: int  # how many requests failed in a row
    left: int  # URLs that were due and not requested when the last round ended
    reason: str
    not_before: float


def is_error(visits: VisitFields) -> bool:
    """Return whether a page counts as an error."""
    return visits.status in ERRORS or is_failing(visits)


def is_failing(visits: VisitFields) -> bool:
    """Return whether the last visit of a page failed, although the page has kept its status."""
    return visits.tries > 0 and visits.status not in ERRORS


def error_groups(scan: WebDbScan) -> list[ErrorGroup]:
    """Return the errors of the pages that a scan reads, the most frequent first."""
    groups: dict[tuple[str, str], ErrorGroup] = {}
    for rows in scan.rows():
        for key, value in rows:
            if is_error(visit_fields(value, scan.name)):
                _add(groups, url_of_key(key), decode_entry(value, scan.name))
    return sorted(groups.values(), key=lambda group: (-group.pages, group.status, group.reason))


def _add(groups: dict[tuple[str, str], ErrorGroup], url: str, entry: WebEntry) -> None:
    status = entry.status.name.lower() if entry.status in ERRORS else FAILING
    reason = entry.reason or (f"status {entry.code}" if entry.code else _NO_REASON)
    cause = _PARTICULARS.sub("", reason)
    if (status, cause) not in groups and len(groups) >= MAX_GROUPS:
        reason = cause = OTHER_REASONS
    group = groups.get((status, cause))
    if group is None:
        groups[status, cause] = ErrorGroup(status, reason, 1, url)
        return
    group.pages += 1
    if group.reason != reason:
        group.reason = cause


def silent_hosts(
    store: Store, snapshot: Snapshot, host: str | None, robots_retry: float
) -> tuple[list[SilentHost], int]:
    """Return hosts that could not be asked, hosts with most failures first, and how many there are."""
    first = FirstItems[SilentHost](MAX_HOSTS, lambda one: (-one.failures, -one.left, one.host))
    for one in _silent(store, snapshot, host, robots_retry):
        first.add(one)
    return first.items(), first.met


def _silent(
    store: Store, snapshot: Snapshot, wanted: str | None, robots_retry: float
) -> Iterator[SilentHost]:
    partition = None if wanted is None else partition_of(wanted, snapshot.partitions)
    for entry in snapshot.files_of(HOSTS, partition):
        for host, state in read_hosts(store, entry):
            if (wanted in (None, host)) and (reason := trouble_of_host(state)):
                until = left_alone_until(state, robots_retry)
                yield SilentHost(host, state.failures, state.left, reason, until)


def trouble_of_host(state: HostState) -> str:
    """Return why a host could not be asked, or could not be asked for all that was due; "" if it was."""
    notes = [known.robots.note for known in state.robots.values() if known.robots.try_later]
    if notes:
        return notes[0]
    if state.failures:
        return state.reason or _NO_REASON
    return state.left_reason if state.left and state.left_reason != ROUND_ENDED else ""
