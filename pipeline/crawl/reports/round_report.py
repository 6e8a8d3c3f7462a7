"""RoundReport: the figures of a round, the limits that ended it, and the table of all rounds of a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from crawlctl.pipeline.config.units import Duration, Size
from crawlctl.pipeline.crawl.reports.page_counts import PageCounts
from crawlctl.pipeline.terminal.counted import counted
from crawlctl.pipeline.terminal.tables import Column, table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crawlctl.pipeline.config.settings import RoundSettings

_MAX_TIME = "round.max_time"
_TAIL = "round.tail"


@dataclass(frozen=True)
class RoundReport:
    """The figures of a committed round: the size of the WebDB after it, and what this run did in it."""

    round: int
    urls: int
    fetched: int  # pages that can be searched now; pages with status 404 do not count
    fresh: int  # new URLs that the round found
    seconds: float
    idle: bool = False  # it changed nothing, and the next round will not either until a host may be asked
    is_offline: bool = False  # it tried hosts and could connect to none
    left: int = 0  # how many URLs were due and not fetched
    pages: PageCounts = field(default_factory=PageCounts)
    bytes: int = 0
    earlier: int = 0  # how many pages an earlier run had saved in this round
    ended_by: tuple[str, ...] = ()  # the settings whose limit ended the round


def round_table(reports: Sequence[RoundReport], room: int) -> Iterator[str]:
    """Return the lines of the table of some rounds, with a line of totals if there are several."""
    names = [str(report.round) for report in reports]
    rows = list(reports)
    if len(rows) > 1:
        names.append("all")
        rows.append(_sum(reports))
    parts = (
        Column("round", names),
        Column("pages", [f"{row.fetched:,}" for row in rows]),
        Column("new", [f"{row.pages.new:,}" for row in rows], rank=3),
        Column("changed", [f"{row.pages.changed:,}" for row in rows], rank=4),
        Column("failed", [f"{row.pages.failed + row.pages.not_asked:,}" for row in rows], rank=5),
        Column("new URLs", [f"{row.fresh:,}" for row in rows], rank=2),
        Column("known URLs", [f"{row.urls:,}" for row in rows], rank=6),
        Column("seconds", [f"{row.seconds:.1f}" for row in rows], rank=1),
    )
    return table(parts, room)


def limit_line(report: RoundReport, settings: RoundSettings, due: int) -> str:
    """Return which limits ended a round, and how many URLs are due after it; the settings name the limits.

    A tail is often longer than its setting (round_pace.py), so its line has no number.
    """
    limits = " and ".join(
        name if name == _TAIL else f"{name} ({_value(settings, name)})" for name in report.ended_by
    )
    still = f"{counted(due, 'URL is', 'URLs are')} still due"
    if report.ended_by == (_MAX_TIME,) and settings.max_time and report.seconds < settings.max_time:
        return f"round {report.round} ended: no host may be asked before {limits} is over; {still}"
    if report.ended_by == (_TAIL,):
        return f"round {report.round} ended: it only waited for slow or failing hosts ({_TAIL}); {still}"
    return f"round {report.round} ended at {limits}; {still}"


def _value(settings: RoundSettings, name: str) -> str:
    value = getattr(settings, name.removeprefix("round."))
    return value.spelled() if isinstance(value, (Duration, Size)) else f"{value:,}"


def _sum(reports: Sequence[RoundReport]) -> RoundReport:
    return RoundReport(
        0,
        reports[-1].urls,
        sum(report.fetched for report in reports),
        sum(report.fresh for report in reports),
        sum(report.seconds for report in reports),
        pages=sum((report.pages for report in reports), PageCounts()),
    )
