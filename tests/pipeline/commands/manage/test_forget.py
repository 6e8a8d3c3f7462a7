"""`crawlctl forget`, and what searches and runs do afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawlctl.pipeline.state.snapshots import load_current
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.tests.pipeline.commands.live_site import (
    PATHS,
    LiveCrawl,
    crawled_site,
    live,
    stopped_before_the_merge,
)

__all__ = ["crawled_site", "live"]

DOCS = {"/docs/", "/docs/one", "/docs/two"}


@pytest.mark.slow
def test_a_page_leaves_search_at_once_and_comes_back_by_rollback(live: LiveCrawl) -> None:
    assert live.found() == set(PATHS)
    before = live.json("status")["snapshot"]
    printed = live("forget", live.site.url("/docs/one"))
    assert "removed 1 page from search\n" in printed
    assert f"undo: crawlctl rollback {before}" in printed
    assert "--store" not in printed
    assert live.found() == set(PATHS) - {"/docs/one"}
    assert live.json("status")["snapshot"] == before + 1  # one snapshot
    assert "scope.forgotten: the rule url:" in live.why("/docs/one")["why"]
    live("rollback", str(before))
    assert live.found() == set(PATHS)


@pytest.mark.parametrize("ending", ["", "*"])
def test_a_url_that_ends_in_a_slash_or_a_star_is_a_prefix(live: LiveCrawl, ending: str) -> None:
    assert live.json("forget", live.site.url("/docs/") + ending)["left"] == 3
    assert live.found() == set(PATHS) - DOCS


def test_one_page_whose_url_ends_in_a_slash_can_be_named(live: LiveCrawl) -> None:
    assert live.json("forget", "url:" + live.site.url("/docs/"))["left"] == 1
    assert live.found() == set(PATHS) - {"/docs/"}


def test_a_host_is_forgotten_with_all_its_pages(live: LiveCrawl) -> None:
    assert live.json("forget", live.site.host)["left"] == len(PATHS)
    assert live.found() == set()
    assert live.json("status")["statuses"] == {"excluded": len(PATHS)}


def test_a_dry_run_counts_and_shows_and_changes_nothing(live: LiveCrawl) -> None:
    before = live.json("status")
    printed = live("forget", live.site.url("/docs/"), "--dry-run")
    assert "would remove 3 pages from search" in printed
    assert live.site.url("/docs/two") in printed
    assert "nothing was changed" in printed
    assert live.json("status") == before
    assert live.found() == set(PATHS)


@pytest.mark.slow
def test_all_pages_that_a_query_matches_are_forgotten(live: LiveCrawl) -> None:
    for number in range(15):  # more than a query shows, and equal enough to be folded
        live.site.page(f"/many/{number}", text=f"the same zebra words on page {number} " * 30)
    Path("more.txt").write_text("".join(f"{live.site.url(f'/many/{number}')}\n" for number in range(15)))
    live("run", "--seed", "more.txt")
    forgotten = live.json("forget", "--query", "same", "zebra")
    assert (forgotten["left"], len(forgotten["rules"])) == (15, 15)
    assert live.found("zebra") == set()
    assert live.found("page") == set(PATHS)
    assert "no page matches the query 'zebra'" in live("forget", "--query", "zebra", code=1)


def test_a_query_that_matches_too_much_changes_nothing(
    live: LiveCrawl, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crawlctl.pipeline.crawl.changes.named_pages.MAX_QUERY_PAGES", 5)
    error = live("forget", "--query", "page", code=1)
    assert "more than 5 pages match" in error
    assert "narrow the query" in error
    assert live.found() == set(PATHS)


@pytest.mark.parametrize("dry", [(), ("--dry-run",)])
def test_what_matches_nothing_is_an_error_and_changes_nothing(live: LiveCrawl, dry: tuple[str, ...]) -> None:
    before = live.json("status")["snapshot"]
    known, unknown = live.site.url("/docs/one"), live.site.url("/nowhere")
    error = live("forget", known, unknown, "other.example", *dry, code=1)
    assert f"the crawl knows no URL of {unknown}, other.example, and nothing was changed" in error
    assert live.json("status")["snapshot"] == before
    assert live.found() == set(PATHS)
    assert "is no URL, host or beginning of URLs" in live("forget", "no host", code=2)


def test_forgotten_pages_stay_out_whatever_links_to_them(live: LiveCrawl) -> None:
    live("forget", live.site.url("/docs/"))
    live("refresh", live.site.host)
    assert live.asked_by("run", "--iterations", "3") == ["/", "/blog/one", "/blog/two"]
    assert live.found() == set(PATHS) - DOCS
    assert "scope.forgotten" in live("inject", live.site.url("/docs/one"), code=2)
    assert live.asked_by("run") == []
    assert "forgotten already" in live("forget", live.site.url("/docs/"))


def test_forgotten_pages_may_be_hidden_instead_so_that_their_copies_stay(live: LiveCrawl) -> None:
    printed = live("forget", "--keep-archive", live.site.url("/docs/one"))
    assert "copies in the archive stay" in printed
    assert "scope.hidden: the rule url:" in live.why("/docs/one")["why"]
    assert live("show", live.site.url("/docs/one"))
    live("forget", live.site.url("/docs/one"))
    assert "scope.forgotten: the rule url:" in live.why("/docs/one")["why"]


@pytest.mark.parametrize("form", [(), ("--raw",), ("--markdown",), ("--headers",), ("--captures",)])
def test_nothing_of_a_forgotten_page_is_shown_although_the_archive_has_it(
    live: LiveCrawl, form: tuple[str, ...]
) -> None:
    live("forget", live.site.url("/docs/one"))
    error = live("show", *form, live.site.url("/docs/one"), code=1)
    assert "is forgotten (scope.forgotten: the rule url:" in error
    assert live("show", *form, live.site.url("/docs/two"))


def test_a_page_that_an_open_round_has_fetched_stays_out(live: LiveCrawl) -> None:
    live("refresh", live.site.host)
    with stopped_before_the_merge():
        live("run", code=1)
    live("forget", live.site.url("/docs/"))
    assert live.found() == set(PATHS) - DOCS
    assert live.asked_by("run") == []  # the round goes on with what it had fetched
    assert live.json("status")["statuses"] == {"excluded": 3, "unchanged": 3}
    assert live.found() == set(PATHS) - DOCS


@pytest.mark.slow
def test_a_duplicate_is_fetched_in_the_place_of_its_leader(live: LiveCrawl) -> None:
    words = "one text about zebras on two pages " * 20
    live.site.page("/z", text=words, title="zebras")
    live.site.page("/zzz", text=words, title="zebras")
    Path("more.txt").write_text(live.site.url("/z") + "\n" + live.site.url("/zzz") + "\n")
    live("run", "--seed", "more.txt")
    assert live.found("zebras") == {"/z"}
    assert "1 duplicate of these pages can be fetched" in live("forget", live.site.url("/z"))
    assert live.found("zebras") == set()
    assert live.asked_by("run") == ["/zzz"]
    assert live.found("zebras") == {"/zzz"}


def test_a_kill_before_the_commit_changes_nothing(live: LiveCrawl, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_arguments: object, **_named: object) -> None:
        raise KeyboardInterrupt

    before = load_current(LocalStore(Path("crawl")))
    with monkeypatch.context() as patch:
        patch.setattr("crawlctl.pipeline.crawl.leased_crawl.commit", stop)
        live("forget", live.site.host, code=130)
    assert load_current(LocalStore(Path("crawl"))) == before
    assert live.found() == set(PATHS)
    live("gc", "--min-age", "0s")
    assert live.json("forget", live.site.host)["left"] == len(PATHS)


def test_the_commands_to_type_next_name_the_store_that_was_named(live: LiveCrawl) -> None:
    before = live.json("status")["snapshot"]
    printed = live("forget", live.site.url("/docs/one"), "--store", "crawl")
    assert "`crawlctl gc --store crawl`" in printed
    assert f"undo: crawlctl rollback {before} --store crawl" in printed
    assert "`crawlctl run --store crawl`" in live("refresh", live.site.url("/docs/two"), "--store", "crawl")


def test_urls_that_were_not_in_search_are_counted_apart(live: LiveCrawl) -> None:
    live("config", "set", f"scope.exclude=[{live.site.url('/docs/')}]")
    told = live("forget", live.site.url("/docs/"), "--dry-run")
    assert "would remove 0 pages from search; 3 known URLs were kept out before, such as:" in told
    live("config", "unset", "scope.exclude")
    told = live("forget", live.site.url("/docs/"), "--dry-run")
    assert "would remove 0 pages from search; 3 other known URLs would be kept out, such as:" in told
    told = live("forget", "url:" + live.site.url("/docs/one"))
    assert "removed 0 pages from search; 1 other known URL is kept out\n" in told


def test_words_are_refused_with_the_command_that_forgets_by_a_query(live: LiveCrawl) -> None:
    told = live("forget", "some words", code=2)
    assert "add --query, and try it first: crawlctl forget --query 'some words' --dry-run" in told
    assert "`crawlctl forget --query WORDS` forgets by words" in live("forget", "zebra", code=1)
