from __future__ import annotations

import time
from typing import TYPE_CHECKING

from msgspec.structs import replace

from crawlctl.pipeline.config.settings import BudgetSettings, ScopeSettings
from crawlctl.pipeline.fetch.select.selection import Selection
from crawlctl.pipeline.fetch.select.site_budgets import SiteBudgets, smallest_budget
from crawlctl.pipeline.fetch.select.survey import Survey
from crawlctl.pipeline.scope.scope import Scope
from crawlctl.pipeline.state.snapshots import load_current
from crawlctl.pipeline.urls.hosts import webdb_key
from crawlctl.pipeline.webdb.part import PartRows
from crawlctl.pipeline.webdb.records import Status, WebEntry

if TYPE_CHECKING:
    from crawlctl.tests.pipeline.fetch.crawl import Crawl

ENTRY = WebEntry(Status.UNFETCHED, next_due=0, score=1.0, depth=1, first_seen=0)


def rows_of(crawl: Crawl, partition: int = 0) -> PartRows:
    return PartRows(crawl.store, load_current(crawl.store), partition)


def survey(rows: PartRows, large: int) -> Survey:
    made = Survey(rows, large)
    made.read(rows, Selection(int(time.time()), 10))
    return made


def test_an_empty_partition_has_no_rows(crawl: Crawl) -> None:
    rows = rows_of(crawl)
    assert list(rows.blocks()) == [] and list(rows.of_host("a")) == [] and rows.get(b"a http://a/") is None
    assert survey(rows, 1).large_hosts == set()


def test_the_rows_of_a_host_are_those_of_no_other(crawl: Crawl) -> None:
    urls = [f"http://{host}/{number}" for host in ("a", "ab", "a-b", "b") for number in range(3)]
    crawl.make_due(*((url, ENTRY) for url in urls))
    rows = rows_of(crawl)
    assert [key for key, _ in rows.of_host("a")] == [webdb_key(f"http://a/{number}") for number in range(3)]
    assert rows.get(webdb_key("http://ab/1")) is not None


def test_a_survey_knows_all_urls_and_finds_the_large_hosts(crawl: Crawl) -> None:
    sizes = {"a": 2, "b": 5, "c": 4, "d": 5}
    urls = [f"http://{host}/{number}" for host, size in sizes.items() for number in range(size)]
    crawl.make_due(*((url, ENTRY) for url in urls))
    made = survey(rows_of(crawl), 5)
    assert made.large_hosts == {"b", "d"}
    assert all(made.known.contains([webdb_key(url) for url in urls]))


def test_the_urls_of_a_large_host_count_from_earlier_rounds(crawl: Crawl) -> None:
    settings = BudgetSettings(urls_per_prefix=4, urls_earned_per_page=1)
    crawl.make_due(*((f"http://a/x/{number}", ENTRY) for number in range(4)))
    rows = rows_of(crawl)
    assert smallest_budget(settings) == 4
    fresh_start = SiteBudgets(settings, rows, ())
    assert fresh_start.admit("http://a/x/new") is None
    counted = SiteBudgets(settings, rows, {"a"})
    exclusion = counted.admit("http://a/x/new")
    assert exclusion is not None and exclusion.setting == "budgets.urls_per_prefix"
    counted.useful("http://a/x/1")
    assert counted.admit("http://a/x/new") is None


def test_live_pages_have_earned_their_folder_more(crawl: Crawl) -> None:
    settings = BudgetSettings(urls_per_prefix=4, urls_earned_per_page=1)
    live = replace(ENTRY, status=Status.FETCHED)
    crawl.make_due(*((f"http://a/x/{number}", live if number else ENTRY) for number in range(4)))
    counted = SiteBudgets(settings, rows_of(crawl), {"a"})
    admitted = [counted.admit(f"http://a/x/new{number}") is None for number in range(5)]
    assert admitted == [True, True, True, False, False]


def test_a_survey_counts_the_hosts_and_live_pages_of_domains(crawl: Crawl) -> None:
    live = replace(ENTRY, status=Status.FETCHED)
    hosts = ("a.example.org", "b.example.org", "c.example.org:8080", "example.com")
    crawl.make_due(
        *((f"http://{host}/{number}", live if number else ENTRY) for host in hosts for number in range(3))
    )
    found = survey(rows_of(crawl), 5).hosts
    assert {name: (count.hosts, count.useful) for name, count in found.domains.items()} == {
        "example.org": (3, 6),
        "example.com": (1, 2),
    }
    assert all(host in found for host in hosts) and "d.example.org" not in found


def test_new_hosts_of_a_domain_are_admitted_as_far_as_it_has_earned_them(crawl: Crawl) -> None:
    live = replace(ENTRY, status=Status.FETCHED)
    crawl.make_due(*((f"http://{host}.example.org/", live) for host in "abc"))
    settings = BudgetSettings(hosts_per_domain=3, pages_per_new_host=2)
    rows = rows_of(crawl)
    sites = SiteBudgets(settings, rows, (), survey(rows, 5).hosts)
    assert sites.admit("http://a.example.org/new") is None
    assert sites.admit("http://d.example.org/") is None
    exclusion = sites.admit("http://e.example.org/")
    assert exclusion is not None and exclusion.setting == "budgets.hosts_per_domain"
    sites.useful("http://a.example.org/new")
    assert sites.admit("http://e.example.org/") is None


def test_hosts_that_are_seeds_need_no_budget_in_whatever_partition_they_are(crawl: Crawl) -> None:
    scope = Scope(ScopeSettings(), [f"{host}.example.org" for host in "abcd"])
    rows = rows_of(crawl)
    settings = BudgetSettings(hosts_per_domain=4)
    known = survey(rows, 5).hosts
    sites = SiteBudgets(settings, rows, (), known, partitions=4, is_of_a_seed=scope.is_of_a_seed)
    assert all(sites.admit(f"http://{host}.example.org/") is None for host in "abcd")
    open_scope = Scope(ScopeSettings(include=("*.example.org",)), ["a.example.org"])
    assert not open_scope.is_of_a_seed("a.example.org"), "rules stand for no host in particular"
