from __future__ import annotations

from crawlctl.pipeline.crawl.reports.round_report import RoundReport, round_table


def test_rounds_are_rows_and_several_are_summed_up() -> None:
    reports = [RoundReport(1, 1000, 10, 990, 1.25), RoundReport(2, 123_456, 500, 122_456, 59.96)]
    assert round_table(reports).splitlines() == [
        "round  WebDB URLs  fetched  fresh URLs  seconds",
        "-----  ----------  -------  ----------  -------",
        "    1       1,000       10         990      1.2",
        "    2     123,456      500     122,456     60.0",
        "  all     123,456      510     123,446     61.2",
    ]


def test_one_round_needs_no_sum() -> None:
    assert len(round_table([RoundReport(7, 1, 1, 0, 0.1)]).splitlines()) == 3
