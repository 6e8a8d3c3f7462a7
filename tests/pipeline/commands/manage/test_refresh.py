"""`crawlctl refresh`, and what the next run asks for."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from crawlctl.pipeline.state.kinds import HOSTS
from crawlctl.pipeline.state.snapshots import load_current
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.webdb.host_table import find_host
from crawlctl.tests.pipeline.commands.live_site import (
    PATHS,
    LiveCrawl,
    crawled_site,
    live,
    stopped_before_the_merge,
)

pytestmark = pytest.mark.slow

__all__ = ["crawled_site", "live"]


def test_pages_are_visited_with_the_next_run_and_cost_a_304(live: LiveCrawl) -> None:
    assert live.asked_by("run") == []
    before = live.json("status")["snapshot"]
    printed = live("refresh", live.site.url("/docs/"))
    assert printed == f"due now: 3 URLs; `crawlctl run` visits them; undo: crawlctl rollback {before}\n"
    assert live.json("status", "--due")["due"]["now"] == 3
    assert live.json("status")["snapshot"] == before + 1  # one snapshot
    live.site.conditions.clear()
    assert live.asked_by("run") == ["/docs/", "/docs/one", "/docs/two"]
    assert sorted(live.site.conditions) == ["/docs/", "/docs/one", "/docs/two"]
    assert live.found() == set(PATHS)


def test_a_changed_page_is_found_by_its_new_words(live: LiveCrawl) -> None:
    live.site.page("/docs/one", text="now about zebras", ETag='"new"')
    assert live("refresh", live.site.url("/docs/one")).startswith(
        "due now: 1 URL; `crawlctl run` visits it; "
    )
    live("run")
    assert live.found("zebras") == {"/docs/one"}


def test_a_page_that_is_gone_is_tried_again(live: LiveCrawl) -> None:
    gone = live.site.resources.pop("/blog/one")
    live.site.text("/blog/one", "gone", status=410)
    live("refresh", live.site.url("/blog/one"))
    live("run")
    assert live.json("status")["statuses"]["gone"] == 1
    live.site.resources["/blog/one"] = gone
    live("refresh", live.site.url("/blog/one"))
    live("run")
    assert live.found() == set(PATHS)


def test_a_host_that_is_left_alone_after_failures_is_asked_at_once(live: LiveCrawl) -> None:
    for path in PATHS:
        live.site.text(path, "busy", status=503)
    live("refresh", live.site.host)
    live("--set", "politeness.max_failures=1", "--set", "politeness.backoff=1h", "run", code=3)
    store = LocalStore(Path("crawl"))
    closed = find_host(store, load_current(store), live.site.host)
    assert closed is not None
    assert closed.not_before > time.time()
    live("refresh", live.site.url("/docs/one"))
    opened = find_host(store, load_current(store), live.site.host)
    assert opened is not None
    assert (opened.not_before, opened.failures) == (0.0, 0)
    assert len(load_current(store).files_of(HOSTS)) == 1  # the new table stands in the place of the old one
    live.site.page("/docs/one", text="awake again")
    assert "/docs/one" in live.asked_by("run")
    assert live.found("awake") == {"/docs/one"}


def test_an_unknown_url_is_an_error_that_names_inject(live: LiveCrawl) -> None:
    before = live.json("status")["snapshot"]
    error = live("refresh", live.site.url("/nowhere"), code=1)
    assert "knows no URL of " + live.site.url("/nowhere") in error
    assert "crawlctl inject" in error
    assert live.json("status")["snapshot"] == before


def test_pages_outside_the_scope_are_not_made_due(live: LiveCrawl) -> None:
    live("forget", live.site.url("/docs/one"))
    error = live("refresh", live.site.url("/docs/one"), code=1)
    assert "all that you name (1 known URL) is outside the scope" in error
    assert "outside the scope, so not visited: 1 other URL" in live("refresh", live.site.url("/docs/"))
    assert live.asked_by("run") == ["/docs/", "/docs/two"]


def test_an_open_round_is_named(live: LiveCrawl) -> None:
    live("refresh", live.site.url("/docs/one"))
    with stopped_before_the_merge():
        live("run", code=1)
    assert "round 2 is not finished" in live("refresh", live.site.url("/docs/two"))
    assert live.asked_by("run", "--until-empty") == ["/docs/two"]


def test_a_dry_run_counts_and_changes_nothing(live: LiveCrawl) -> None:
    before = live.json("status")["snapshot"]
    assert "would make 3 URLs due now; nothing was changed" in live(
        "refresh", live.site.url("/docs/"), "--dry-run"
    )
    told = live.json("refresh", live.site.host, "--dry-run")
    assert (told["dry_run"], told["due"], told["snapshot"]) == (True, len(PATHS), None)
    assert "crawlctl inject" in live("refresh", "nobody.example", "--dry-run", code=1)
    assert live.json("status")["snapshot"] == before
    assert live.json("status", "--due")["due"]["now"] == 0
