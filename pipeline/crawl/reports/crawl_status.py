"""The state of a crawl in figures: pages, hosts with trouble, due URLs, and the process that is using it.

It is read from the counters of the snapshot, the host tables, the journal of the open round and a listing of
the store. No WebDB part is read.
"""

from __future__ import annotations

import time
from collections import Counter
from heapq import nlargest
from itertools import islice
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from crawlctl.pipeline.config.settings import RankSettings
from crawlctl.pipeline.crawl.live.live_lines import holder_line
from crawlctl.pipeline.crawl.rank_due import RankChanges, judge, rank_changes
from crawlctl.pipeline.crawl.reports.left_over import SHOWN, HostTrouble, trouble_of
from crawlctl.pipeline.crawl.reports.run_report import OpenRound, open_round
from crawlctl.pipeline.index.statistics import summary_of
from crawlctl.pipeline.politeness.host_queue import ROUND_ENDED
from crawlctl.pipeline.state.journal import saved_files
from crawlctl.pipeline.state.kinds import WEBDB
from crawlctl.pipeline.state.live.live_status import LiveStatus, look
from crawlctl.pipeline.state.run_goal import read_goal
from crawlctl.pipeline.webdb.census import HOSTS, status_counts
from crawlctl.pipeline.webdb.due import DueCounts, due_counts, next_due
from crawlctl.pipeline.webdb.host_table import failing_hosts, read_summaries

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.politeness.host_state import HostSummary
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store

_MOST_ROWS = 1_000_000  # the most rows of host tables that are read


class CrawlStatus(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a crawl; the names are those of `crawlctl status --json`."""

    store: str
    snapshot: int
    committed: float
    round: int
    partitions: int
    files: int
    bytes: int  # the bytes of the current snapshot
    disk_bytes: int  # the bytes of all files in the store
    hosts: int
    failing_hosts: dict[str, int]  # how many hosts failed at their last request, by the kind of the failure
    urls: int
    statuses: dict[str, int]
    due: DueCounts
    next_due: int | None
    trouble: list[HostTrouble]  # hosts that could not be asked, or failed at the last request
    index: dict[str, int]
    holder: str | None
    # the last status that the holder of the lease, or a holder that has died, has published
    live: LiveStatus | None
    has_died: bool  # whether the last command ended without giving back the lease
    is_suspended: bool  # whether the lease of the holder has run out, though its process has not ended
    open_round: OpenRound | None
    ranks: RankChanges  # the last ranking, and what has changed since
    rank_due: bool  # whether the next run that fetches something ranks
    why_rank: str  # the reason, for people
    rounds_left: int  # how many rounds an interrupted or running `crawlctl run --iterations` still has to do


def crawl_status(
    store: Store, snapshot: Snapshot, robots_retry: float, rank: RankSettings | None = None
) -> CrawlStatus:
    """Return the state of a crawl; a host without a readable robots.txt is asked again after `robots_retry`.

    `rank` are the settings by which the next run decides whether it ranks.
    """
    now, statuses = time.time(), _urls_by_status(snapshot)
    opened = open_round(snapshot.round + 1, saved_files(store, snapshot.round + 1))
    due, view = due_counts(store, snapshot, int(now)), look(store, now)
    changes = rank_changes(store, snapshot)
    verdict = judge(rank or RankSettings(), changes, now)
    return CrawlStatus(
        store=store.uri,
        snapshot=snapshot.number,
        committed=snapshot.created,
        round=snapshot.round,
        partitions=snapshot.partitions,
        files=len(snapshot.files),
        bytes=sum(entry.bytes for entry in snapshot.files),
        disk_bytes=sum(file.bytes for file in store.list()),
        hosts=host_count(snapshot),
        failing_hosts=dict(failing_hosts(snapshot.files).most_common()),
        urls=statuses.total(),
        statuses=dict(statuses),
        due=opened.without_handled(due) if opened else due,
        next_due=next_due(snapshot, int(now)),
        trouble=_trouble(store, snapshot, robots_retry),
        index=summary_of(snapshot.files),
        holder=holder_line(view.holder) if view.holder and view.is_running else None,
        live=view.status,
        has_died=view.has_died,
        is_suspended=view.is_suspended,
        open_round=opened,
        ranks=changes,
        rank_due=verdict.is_due,
        why_rank=verdict.why,
        rounds_left=_rounds_left(store, snapshot.round + 1),
    )


def host_count(snapshot: Snapshot) -> int:
    """Return the number of hosts that have a URL in the WebDB."""
    return sum(entry.counters.get(HOSTS, 0) for entry in snapshot.files_of(WEBDB))


def _urls_by_status(snapshot: Snapshot) -> Counter[str]:
    statuses: Counter[str] = Counter()
    for entry in snapshot.files_of(WEBDB):
        statuses.update(status_counts(entry.counters))
    return statuses


def _rounds_left(store: Store, next_round: int) -> int:
    goal = read_goal(store, next_round)
    return goal.left(next_round) if goal else 0


def _trouble(store: Store, snapshot: Snapshot, robots_retry: float) -> list[HostTrouble]:
    """Return the hosts with the most URLs that could not be requested; memory is bounded."""
    rows = islice(read_summaries(store, snapshot.files), _MOST_ROWS)
    found = _in_trouble(rows, robots_retry)
    return nlargest(SHOWN, found, key=lambda left: (left.urls, left.not_before))


def _in_trouble(rows: Iterator[tuple[str, HostSummary]], robots_retry: float) -> Iterator[HostTrouble]:
    for host, row in rows:
        if row.left and row.left_reason != ROUND_ENDED:
            yield trouble_of(host, row, robots_retry)
        elif row.reason:
            yield trouble_of(host, replace(row, left=0, left_reason=""), robots_retry)
