"""A change of the scope at once: what searches find, what a run asks for, and what is counted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from crawlctl.pipeline.config.load import load_config
from crawlctl.pipeline.crawl.changes.revision import revise
from crawlctl.pipeline.crawl.leased_crawl import leased_crawl
from crawlctl.pipeline.crawl.work import Work
from crawlctl.pipeline.progress.choice import display_for
from crawlctl.pipeline.state.kinds import FRESH
from crawlctl.pipeline.state.snapshots import load_current
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.urls.hosts import webdb_key
from crawlctl.pipeline.webdb.records import Fresh, encode
from crawlctl.pipeline.webdb.row_files import write_table
from crawlctl.tests.comparison import without_history
from crawlctl.tests.pipeline.commands.conftest import shell
from crawlctl.tests.pipeline.commands.live_site import (
    PATHS,
    LiveCrawl,
    crawled_site,
    live,
    stopped_before_the_merge,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawlctl.pipeline.crawl.changes.revision import Revised
    from crawlctl.pipeline.state.manifest import FileEntry

__all__ = ["crawled_site", "live", "shell"]

DOCS = {"/docs/", "/docs/one", "/docs/two"}


def changed(before: dict[str, Any], after: dict[str, Any], found: Sequence[FileEntry] = ()) -> Revised:
    """Change settings of the scope, as a command that changes settings does, and commit that."""
    import sys

    config = load_config({}, {}, Path("crawl.yaml")).config
    old, new = (replace(config, scope=replace(config.scope, **values)) for values in (before, after))
    work = Work(LocalStore(Path("crawl")), old, display_for(sys.stderr))
    with leased_crawl(work, "config set") as crawl:
        revised = revise(crawl, old, new, found)
        crawl.commit(revised.files)
    return revised


@pytest.mark.slow
def test_pages_outside_a_narrower_scope_leave_search_and_come_back_when_it_is_wider(live: LiveCrawl) -> None:
    host = live.site.host
    narrow = {"include": (host,), "exclude": (live.site.url("/docs/"),)}
    revised = changed({}, narrow)
    assert (revised.left, revised.excluded, revised.due) == (3, 3, 0)
    assert live.found() == set(PATHS) - DOCS
    assert live.json("status", "--due")["due"]["now"] == 0
    assert "scope.exclude: the rule" in live.why("/docs/one")["why"]
    wide = {"include": (host,), "exclude": (live.site.url("/docs/two"),)}
    revised = changed(narrow, wide)
    assert (revised.left, revised.due) == (0, 2)
    assert "it is due and waits" in live.why("/docs/one", "--set", f"scope.include=[{host}]")["why"]
    live.site.conditions.clear()
    rules = ("--set", f"scope.exclude=[{live.site.url('/docs/two')}]")
    assert live.asked_by(*rules, "run", "--until-empty") == ["/docs/", "/docs/one"]
    assert live.site.conditions == []  # a 304 would bring back no document
    assert live.found() == set(PATHS) - {"/docs/two"}


@pytest.mark.slow
def test_without_include_rules_the_hosts_of_the_seeds_count(live: LiveCrawl) -> None:
    assert changed({}, {"include": ("elsewhere.example",)}).left == len(PATHS)
    assert live.found() == set()
    assert changed({"include": ("elsewhere.example",)}, {}).due == len(PATHS)
    live("run")
    assert live.found() == set(PATHS)


def test_the_same_scope_writes_nothing(live: LiveCrawl) -> None:
    before = without_history(load_current(LocalStore(Path("crawl"))).files)
    revised = changed({}, {})
    assert (without_history(revised.files), revised.left, revised.due) == (before, 0, 0)
    assert without_history(changed({}, {"max_depth": 3}).files) == before


def test_a_page_with_a_noindex_of_its_own_is_left_alone(live: LiveCrawl) -> None:
    live.site.page("/docs/one", head='<meta name="robots" content="noindex">', ETag='"no"')
    live("refresh", live.site.url("/docs/one"))
    live("run")
    assert changed({"max_depth": 1}, {}).due == 0
    assert "noindex" in live.why("/docs/one")["why"]


def test_an_open_round_goes_on_by_the_new_scope(live: LiveCrawl) -> None:
    live("refresh", live.site.host)
    with stopped_before_the_merge():
        live("run", code=1)
    changed({}, {"exclude": (live.site.url("/docs/"),)})
    assert live.asked_by("run") == []
    assert live.found() == set(PATHS) - DOCS


def test_links_that_a_replay_of_the_archive_has_found_are_merged_in_the_same_snapshot(
    live: LiveCrawl,
) -> None:
    store = LocalStore(Path("crawl"))
    before = load_current(store)
    live.site.page("/left/out", text="a page that was left out")
    rows = [webdb_key(live.site.url("/left/out"))], [encode(Fresh(1_700_000_000, 1, 0.5))]
    found = write_table(store, FRESH, [rows], partition=0, round_number=before.round + 1)
    revised = changed({"max_depth": 0}, {}, [found])
    after = load_current(store)
    assert revised.due == 1
    assert after.number == before.number + 1
    assert without_history(after.files) == without_history(revised.files)
    assert live.asked_by("run") == ["/left/out"]
    assert live.found("left") == {"/left/out"}


@pytest.mark.slow
@pytest.mark.parametrize("merge_every", [1, 5])
def test_runs_that_wait_for_a_merge_are_merged_with_it(live: LiveCrawl, merge_every: int) -> None:
    live.site.page("/new", text="a page about zebras")
    Path("more.txt").write_text(live.site.url("/new") + "\n")
    live("--set", f"index.merge_every={merge_every}", "run", "--seed", "more.txt")
    changed({}, {"exclude": (live.site.url("/docs/"),)})
    assert live.found("zebras") == {"/new"}
    assert live.found() == {*PATHS, "/new"} - DOCS
