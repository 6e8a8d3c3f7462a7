from __future__ import annotations

import pytest

from crawlctl.pipeline.config.settings import RoundSettings
from crawlctl.pipeline.config.units import Duration
from crawlctl.pipeline.crawl.reports.page_counts import PageCounts
from crawlctl.pipeline.crawl.reports.round_report import RoundReport, limit_line, round_table
from crawlctl.pipeline.terminal.width import columns

REPORTS = [
    RoundReport(1, 1000, 10, 990, 1.25, pages=PageCounts(new=10)),
    RoundReport(
        2, 123_456, 500, 122_456, 59.96, pages=PageCounts(new=400, changed=60, unchanged=40, failed=3)
    ),
]
HUGE = RoundReport(12_345, 10**12, 10**10, 10**11, 1e6, pages=PageCounts(new=10**9, changed=10**9))


def test_rounds_are_rows_and_several_are_summed_up() -> None:
    assert list(round_table(REPORTS, 80)) == [
        "round  pages  new  changed  failed  new URLs  known URLs  seconds",
        "-----  -----  ---  -------  ------  --------  ----------  -------",
        "    1     10   10        0       0       990       1,000      1.2",
        "    2    500  400       60       3   122,456     123,456     60.0",
        "  all    510  410       60       3   123,446     123,456     61.2",
    ]


def test_one_round_needs_no_sum() -> None:
    assert len(list(round_table(REPORTS[:1], 80))) == 3


@pytest.mark.parametrize("room", [40, 80])
def test_wide_numbers_fit_a_narrow_terminal(room: int) -> None:
    lines = list(round_table([HUGE, HUGE], room))
    assert all(columns(line) <= room for line in lines)
    assert "10,000,000,000" in lines[2] and "1000000.0" in lines[2]


def test_a_round_that_a_limit_has_ended_says_which_and_what_is_due() -> None:
    settings = RoundSettings(max_time=Duration(300), max_pages=10_000)
    ended = RoundReport(2, 9, 9, 9, 301.0, ended_by=("round.max_time",))
    assert (
        limit_line(ended, settings, 231) == "round 2 ended at round.max_time (5min); 231 URLs are still due"
    )
    early = RoundReport(2, 9, 9, 9, 28.0, ended_by=("round.max_time",))
    assert limit_line(early, settings, 1) == (
        "round 2 ended: no host may be asked before round.max_time (5min) is over; 1 URL is still due"
    )
    ended = RoundReport(2, 9, 9, 9, 1.0, ended_by=("round.max_pages", "round.max_time"))
    assert limit_line(ended, settings, 1) == (
        "round 2 ended at round.max_pages (10,000) and round.max_time (5min); 1 URL is still due"
    )
