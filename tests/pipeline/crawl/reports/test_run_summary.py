from __future__ import annotations

from collections import Counter

import msgspec
import pytest

from crawlctl.pipeline.crawl.reports.page_counts import PageCounts
from crawlctl.pipeline.crawl.reports.round_report import RoundReport
from crawlctl.pipeline.crawl.reports.run_report import OpenRound, RunEnd, RunReport
from crawlctl.pipeline.crawl.reports.run_summary import due_sentence, next_command, summary_lines
from crawlctl.pipeline.politeness.host_state import HostSummary
from crawlctl.pipeline.state.run_goal import Goal
from crawlctl.pipeline.terminal.width import columns
from crawlctl.pipeline.webdb.due import DueCounts

DONE = RunEnd(4, 1000, DueCounts(0, 3, 9), 1_800_000_000, None, None)


def huge_report() -> RunReport:
    """A run with wide numbers, and hosts with long and wide names."""
    report = RunReport()
    counts = PageCounts(*[10**10] * 9)
    report.rounds = [RoundReport(n, 10**12, 10**10, 10**11, 1e6, pages=counts) for n in (998, 999)]
    report.counters = Counter({"new": 10**11, "bytes": 10**15, "gone": 10**9, "failed": 10**9, "found": 1})
    report.counters |= Counter({f"failed with status {code}": 10**7 for code in range(500, 512)})
    names = [f"{'xn--fiqs8s' * 6}.example", "例え" * 30, "a" * 240 + ".example:8443"]
    report.hosts = Counter({f"{name}{n}": 10**9 + n for name in names for n in range(5)})
    for name in names:
        row = HostSummary(msgspec.Raw(b""), 2e9, left=10**9, left_reason="the host failed 5 times in a row")
        report.left.see(name, row)
    report.left.urls = 10**12
    report.earlier = 10**9
    return report


@pytest.mark.parametrize("room", [40, 80])
def test_every_line_fits_whatever_numbers_and_names_are(room: int) -> None:
    end = RunEnd(
        999, 10**12, DueCounts(10**9, 10**9, 10**10), None, OpenRound(999, 10**9, 10**9), Goal(1000, 3)
    )
    lines = list(summary_lines(huge_report(), end, room, "crawlctl run", now=0.0))
    assert [line for line in lines if columns(line) > room] == []
    assert "5 more hosts" in "\n".join(lines)


@pytest.mark.parametrize(
    ("due", "first", "sentence"),
    [
        (DueCounts(0, 0, 0), None, "nothing is due now"),
        (DueCounts(1, 0, 0), None, "1 URL is due now"),
        (DueCounts(231, 12, 400), 9, "231 URLs are due now, 12 more within a day, 400 more within a week"),
        (DueCounts(0, 12, 12), 0, "nothing is due now (12 within a day)"),
        (
            DueCounts(0, 0, 3),
            60,
            "nothing is due now; the next URL falls due at 1970-01-01 00:01:00 UTC (3 within a week)",
        ),
    ],
)
def test_what_is_due_is_a_sentence(due: DueCounts, first: int | None, sentence: str) -> None:
    assert due_sentence(due, first) == sentence


@pytest.mark.parametrize(("saved", "are"), [(1, "1 page, which is"), (2, "2 pages, which are")])
def test_what_an_earlier_run_has_saved_is_counted(saved: int, are: str) -> None:
    report = RunReport()
    report.earlier = saved
    told = "\n".join(summary_lines(report, DONE, 80, "crawlctl run", now=0.0))
    assert f"an earlier run had already saved {are} not counted above" in told


def test_the_next_command_goes_on_or_searches() -> None:
    due_now = RunEnd(4, 1000, DueCounts(5, 0, 0), None, None, None)
    assert next_command(DONE, [], [], is_stopped=False) == "crawlctl query WORDS"
    assert next_command(due_now, ["--iterations", "3"], [], is_stopped=False) == "crawlctl run"
    assert next_command(due_now, ["--until-empty"], ["--store", "s3://b/c"], is_stopped=False) == (
        "crawlctl run --until-empty --store s3://b/c"
    )
    stopped = RunEnd(3, 1000, DueCounts(5, 0, 0), None, OpenRound(3, 7, 7), Goal(3, 3))
    assert next_command(stopped, ["--iterations", "3"], [], is_stopped=True) == (
        "crawlctl run --iterations 3 (1 of its 3 rounds is left)"
    )
