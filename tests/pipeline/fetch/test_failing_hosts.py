"""A failing page, or a scheme that nobody serves, does not end the crawl of a site that is well otherwise."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.webdb.records import Kind
from crawlctl.tests.pipeline.fetch.crawl import Crawl, settings
from crawlctl.tests.pipeline.fetch.site import serving

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.tests.pipeline.fetch.site import Site

# The second back-off is longer than the patience, as it is by default.
SHORT = settings(politeness={"backoff": "1s", "patience": "1s", "robots_tries": 3})
PAGES = [f"/p{number}" for number in range(8)]


@pytest.mark.slow
def test_pages_that_answer_500_do_not_end_the_round_of_the_only_site(site: Site, tmp_path: Path) -> None:
    crawl = Crawl(tmp_path / "c", SHORT)
    for path in PAGES:
        site.page(path)
    site.text("/p7", "oh", 500)
    site.text("/p6", "oh", 500)
    crawl.inject(*map(site.url, PAGES))
    kinds = crawl.fetch().kinds(site.host)
    assert {path for path, kind in kinds.items() if kind is Kind.FETCHED} == set(PAGES[:6])
    assert kinds["/p6"] is kinds["/p7"] is Kind.FAILED


def test_a_scheme_that_nobody_serves_does_not_hold_up_the_other_one(site: Site, tmp_path: Path) -> None:
    crawl = Crawl(tmp_path / "c", SHORT)
    for path in PAGES:
        site.page(path)
    login = f"https://{site.host}/login"
    crawl.inject(login, *map(site.url, PAGES))
    outcomes = crawl.fetch(deadline=time.time() + 20).outcomes()
    assert {url for url, outcome in outcomes.items() if outcome.kind is Kind.FETCHED} == set(
        map(site.url, PAGES)
    )
    assert login not in outcomes  # it stays due


def test_a_task_whose_page_budget_is_used_up_does_not_wait_for_hosts_that_fail(
    site: Site, tmp_path: Path
) -> None:
    crawl = Crawl(tmp_path / "c", settings(politeness={"backoff": "20s", "robots_tries": 3}))
    site.page("/")
    login = f"https://{site.host}/login"
    crawl.inject(login, site.url())
    started = time.monotonic()
    outcomes = crawl.fetch(max_pages=2).outcomes()
    assert time.monotonic() - started < 15
    assert outcomes.keys() == {site.url()}  # the other one stays due


def test_a_host_that_fails_holds_no_round_that_has_found_work_for_the_next(tmp_path: Path) -> None:
    # Its next tries would come within seconds, and after the third its page would have failed.
    crawl = Crawl(tmp_path / "c", settings(politeness={"backoff": "1s", "robots_tries": 3}))
    with serving(2) as (site, dead):
        site.page("/", "/new")
        login = f"https://{dead.host}/login"
        crawl.inject(login, site.url())
        assert crawl.fetch(tail_wait=60.0).outcomes().keys() == {site.url()}  # the other one stays due
        assert login in crawl.fetch(tail_wait=None).outcomes()  # the last round of a run waits for it


def test_a_scheme_that_nobody_serves_is_given_up_over_rounds(site: Site, tmp_path: Path) -> None:
    crawl = Crawl(tmp_path / "c", settings(politeness={"backoff": "1h", "robots_tries": 2}))
    site.page("/")
    login = f"https://{site.host}/login"
    crawl.inject(login, site.url())
    first = crawl.round()
    assert set(first.outcomes()) == {site.url()}
    state = first.hosts()[site.host]
    assert state.schemes["https"].robots_tries == 1 and state.failures == 0
    assert state.not_before < time.time()


def test_a_host_at_an_address_that_is_not_allowed_is_excluded_with_the_reason(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path / "c", settings(fetch={"allowed_networks": []}))
    crawl.inject("http://127.0.0.1:2/a", "http://127.0.0.1:2/b")
    fetched = crawl.fetch()
    outcomes = fetched.outcomes()
    assert [outcome.kind for outcome in outcomes.values()] == [Kind.EXCLUDED] * 2
    assert all(outcome.reason.startswith("forbidden_address: ") for outcome in outcomes.values())
    state = fetched.hosts()["127.0.0.1:2"]
    assert state.left == 2 and "fetch.allowed_networks" in state.left_reason


def test_a_robots_txt_that_leads_to_an_address_that_is_not_allowed_closes_its_host_for_now(
    site: Site, crawl: Crawl
) -> None:
    site.redirect("/robots.txt", "http://10.0.0.1/robots.txt", 302)
    site.page("/")
    crawl.inject(site.url())
    outcome = crawl.fetch().outcomes()[site.url()]
    assert outcome.kind is Kind.FAILED and "10.0.0.1" in outcome.reason
