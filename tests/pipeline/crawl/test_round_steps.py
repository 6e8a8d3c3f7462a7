from __future__ import annotations

from crawlctl.pipeline.crawl.round_steps import load_for_tasks, troubles
from crawlctl.pipeline.runners.job_result import Counters
from crawlctl.pipeline.urls.domains import domain_of, load_suffixes, registrable_domain


def test_processes_that_were_replaced_and_partitions_that_ended_early_are_told() -> None:
    replaced, early = troubles(Counters({"fetch": {"restarts": 2, "given_up": 1}}))
    assert replaced.startswith("2 fetching processes were replaced")
    assert early.startswith("1 partition ended early") and "`crawlctl run`" in early


def test_where_nothing_went_wrong_nothing_is_told() -> None:
    assert not list(troubles(Counters({"fetch": {"pages": 3}})))


def test_the_driver_reads_the_public_suffix_list_once_for_all_forked_tasks() -> None:
    load_suffixes.cache_clear()
    load_for_tasks()
    read = load_suffixes.cache_info().misses
    assert domain_of("forked.example.co.uk") == registrable_domain("forked.example.co.uk")
    assert load_suffixes.cache_info().misses == read == 1
