"""RoundReport: the figures of a round, and the table of all rounds of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

HEADINGS = ("round", "WebDB URLs", "fetched", "fresh URLs", "seconds")
GAP = "  "


@dataclass(frozen=True)
class RoundReport:
    """The figures of a committed round: the size of the WebDB after it, and what the round added."""

    round: int
    urls: int
    fetched: int
    fresh: int
    seconds: float
    idle: bool = False  # it changed nothing, so another round would change nothing either
    left: int = 0  # URLs that were due and not fetched


def round_table(reports: Sequence[RoundReport]) -> str:
    """Return the table of some rounds, with a line of totals if there are several."""
    rows = [_row(str(report.round), report) for report in reports]
    if len(reports) > 1:
        rows.append(_row("all", _sum(reports)))
    widths = [max(map(len, column)) for column in zip(HEADINGS, *rows, strict=True)]
    lines = [HEADINGS, tuple("-" * width for width in widths), *rows]
    return "\n".join(
        GAP.join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in lines
    )


def _row(name: str, report: RoundReport) -> tuple[str, ...]:
    counts = (f"{count:,}" for count in (report.urls, report.fetched, report.fresh))
    return (name, *counts, f"{report.seconds:.1f}")


def _sum(reports: Sequence[RoundReport]) -> RoundReport:
    return RoundReport(
        0,
        reports[-1].urls,
        sum(report.fetched for report in reports),
        sum(report.fresh for report in reports),
        sum(report.seconds for report in reports),
    )
