from __future__ import annotations

from crawlctl.pipeline.crawl.round_steps import troubles
from crawlctl.pipeline.runners.job_result import Counters


def test_processes_that_were_replaced_and_partitions_that_ended_early_are_told() -> None:
    replaced, early = troubles(Counters({"fetch": {"restarts": 2, "given_up": 1}}))
    assert replaced.startswith("2 fetching processes were replaced")
    assert early.startswith("1 partition ended early") and "`crawlctl run`" in early


def test_where_nothing_went_wrong_nothing_is_told() -> None:
    assert not list(troubles(Counters({"fetch": {"pages": 3}})))
