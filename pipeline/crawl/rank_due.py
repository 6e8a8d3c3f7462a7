"""Decides whether to rank: by how much has changed since the last ranking, from manifests only.

Ranking reads all links of a crawl, however little has changed. So it waits until a share of the pages or of
the known URLs has changed (rank.share), or some time has passed (rank.after). Changed pages are counted by
the rows of the history since the last ranking. The known URLs are compared with the nodes of the last graph.
The WebDB is not read. Until the next ranking, pages keep their ranks, and new pages get the prior of a page
that ranks low (index/merge/liveness.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

from crawlctl.pipeline.crawl.history.history_files import readable_history
from crawlctl.pipeline.index.statistics import summary_of
from crawlctl.pipeline.rank.graph.graph_files import NODES
from crawlctl.pipeline.state.kinds import GRAPH, RANKS, WEBDB
from crawlctl.pipeline.state.layout import round_of
from crawlctl.pipeline.terminal.counted import counted
from crawlctl.pipeline.terminal.utc import utc

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawlctl.pipeline.config.settings import RankSettings
    from crawlctl.pipeline.crawl.history.history_row import HistoryRow
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store

RankMode = Literal["auto", "now", "off"]

# crawls of up to this number of URLs are ranked after every run, which takes less than a second
SMALL_CRAWL = 1000
_RANKED = "ranks"  # `made_by` in the row of a ranking ends with this word


class RankChanges(msgspec.Struct, frozen=True, kw_only=True):
    """What has changed since the last ranking; the names are those of `crawlctl status --json`."""

    rounds: int  # rounds since the last ranking
    ranked_round: int  # the round after which the pages were ranked; 0 if they never were
    ranked_at: float | None  # UTC seconds; None if that is not known
    pages: int | None  # pages that are new, changed or gone since then; None if not known
    documents: int  # documents that can be searched now
    urls: int  # URLs that are known now
    ranked_urls: int  # URLs that were known at the last ranking

    @property
    def page_share(self) -> float:
        """The share of the pages that have changed."""
        return 1.0 if self.pages is None else self.pages / max(1, self.documents)

    @property
    def url_share(self) -> float:
        """The number of URLs found since the last ranking, as a share of the URLs that were ranked."""
        return max(0, self.urls - self.ranked_urls) / max(1, self.ranked_urls)


class RankVerdict(NamedTuple):
    """Whether pages are ranked now, and the reason for people."""

    is_due: bool
    why: str


def unranked_rounds(snapshot: Snapshot) -> int:
    """Return how many rounds there were since the last ranking, by the names of its files."""
    return snapshot.round - _ranked_round(snapshot)


def _ranked_round(snapshot: Snapshot) -> int:
    return max((round_of(entry.name) for entry in snapshot.files_of(RANKS)), default=0)


def rank_changes(store: Store, snapshot: Snapshot) -> RankChanges:
    """Return what has changed since the last ranking of a snapshot."""
    ranked = _ranked_round(snapshot)
    rows = readable_history(store, snapshot.files)
    return RankChanges(
        rounds=snapshot.round - ranked,
        ranked_round=ranked,
        ranked_at=_ranked_at(rows, ranked),
        pages=_changed_pages(rows, ranked, snapshot.round),
        documents=summary_of(snapshot.files)["documents"],
        urls=sum(entry.records for entry in snapshot.files_of(WEBDB)),
        ranked_urls=sum(entry.counters.get(NODES, 0) for entry in snapshot.files_of(GRAPH)),
    )


def _ranked_at(rows: Sequence[HistoryRow], ranked: int) -> float | None:
    """Return when the ranks were committed; for ranks that a copy or a repair has made, when their round."""
    if not ranked:
        return None
    of_round = [row for row in rows if row.round == ranked]
    made = [row for row in of_round if row.made_by.endswith(_RANKED)] or of_round
    return made[-1].committed if made else None


def _changed_pages(rows: Sequence[HistoryRow], ranked: int, last: int) -> int | None:
    """Return the changed pages of later rounds; None if the history lacks a round (of an older release).

    A round that was rolled back and run again counts twice: then pages are ranked earlier than needed.
    """
    since = [row for row in rows if row.is_round and ranked < row.round <= last]
    if len({row.round for row in since}) < last - ranked:
        return None
    return sum(row.pages.new + row.pages.changed + row.pages.gone for row in since)


def judge(
    settings: RankSettings, changes: RankChanges, now: float, *, last: bool = True, mode: RankMode = "auto"
) -> RankVerdict:
    """Return whether a run ranks now; `last` is true if the run has done all its rounds."""
    if refusal := _refusal(settings, changes, mode):
        return RankVerdict(False, refusal)
    if settings.every and changes.rounds >= settings.every:
        return RankVerdict(True, f"{counted(changes.rounds, 'round')} since the last ranking (rank.every)")
    if not last:
        return RankVerdict(False, "")
    reason = "`--rank now`" if mode == "now" else _reason(settings, changes, now)
    return RankVerdict(True, reason) if reason else RankVerdict(False, _waits(settings, changes))


def _refusal(settings: RankSettings, changes: RankChanges, mode: RankMode) -> str:
    """Return why pages are not ranked, however much has changed; "" if they may be ranked."""
    if mode == "off":
        return "not ranked: `--rank off`"
    if settings.every is None and mode != "now":
        return "not ranked: rank.every is null, so only `crawlctl rank` ranks"
    return "the ranks are up to date: there was no round since" if changes.rounds <= 0 else ""


def _reason(settings: RankSettings, changes: RankChanges, now: float) -> str:
    """Return the first reason to rank that applies; "" if there is none."""
    since = f"{_pages(changes)} since the last ranking (rank.share)"
    more_urls = f"{changes.url_share:.0%} more URLs since the last ranking (rank.share)"
    is_known = changes.pages is not None and changes.ranked_at is not None
    ranked_at = changes.ranked_at or 0.0
    reasons = {
        "the pages have no ranks yet": not changes.ranked_round,
        f"crawls of at most {SMALL_CRAWL:,} URLs are ranked after every run": changes.urls <= SMALL_CRAWL,
        "the history does not say what has changed since the last ranking": not is_known,
        since: changes.page_share >= settings.share,
        more_urls: changes.url_share >= settings.share,
        f"the last ranking was at {utc(ranked_at)} (rank.after)": now - ranked_at >= settings.after,
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


def _waits(settings: RankSettings, changes: RankChanges) -> str:
    """Return why pages are not ranked yet, and when they will be."""
    ranked_at = changes.ranked_at or 0.0
    return (
        f"not ranked: {_pages(changes)} since {utc(ranked_at)}; a run ranks once {settings.share:.0%} have "
        f"changed or after {utc(ranked_at + settings.after)}, `crawlctl run --rank now` at once"
    )


def _pages(changes: RankChanges) -> str:
    share = f"{100 * changes.page_share:.2g} %"
    return f"{counted(changes.pages or 0, 'page')} ({share}) changed"
