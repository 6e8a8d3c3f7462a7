"""`crawlctl rollback`: the list of snapshots, and the way back."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawlctl.pipeline.state.snapshots import load_current, load_snapshot
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.tests.comparison import without_history
from crawlctl.tests.pipeline.commands.live_site import (
    PATHS,
    LiveCrawl,
    crawled_site,
    live,
    stopped_before_the_merge,
)

__all__ = ["crawled_site", "live"]


@pytest.mark.slow
def test_the_list_says_what_made_each_snapshot(live: LiveCrawl) -> None:
    live("forget", live.site.url("/docs/one"))
    live("refresh", live.site.url("/docs/"))
    rows = live.json("rollback")
    makers = [(row["round"], row["pages"], row["made_by"]) for row in rows]
    url = live.site.url("")
    assert makers[0] == (0, 0, "init")
    assert makers[1] == (0, 0, "run, 6 new seeds")
    assert makers[2] == (1, 6, "run, round 1")
    assert makers[-2:] == [(1, 5, f"forget {url}/docs/one"), (1, 5, f"refresh {url}/docs/")]
    lines = live("rollback").splitlines()
    assert lines[0].split("  ") == ["snapshot", "committed (UTC)", " round", "pages", "made by"]
    assert lines[-1].endswith("(current)")


@pytest.mark.parametrize("width", [80, 40])
def test_the_list_and_the_explanation_of_a_page_fit_the_terminal(
    live: LiveCrawl, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    live("forget", live.site.url("/docs/one"))
    for line in (*live("rollback").splitlines(), *live("explain", live.site.url("/docs/")).splitlines()):
        assert len(line) <= width or len(line.split()) == 1, "only a URL sticks out, so that it can be copied"


def test_a_rollback_is_a_new_snapshot_with_the_old_files_and_can_be_undone(live: LiveCrawl) -> None:
    store = LocalStore(Path("crawl"))
    before = load_current(store)
    live("forget", live.site.host)
    after = load_current(store)
    printed = live("rollback", str(before.number))
    assert f"this is snapshot {after.number + 1}; undo: crawlctl rollback {after.number}" in printed
    back = load_current(store)
    assert (without_history(back.files), back.round, back.made_by) == (
        without_history(before.files),
        before.round,
        f"rollback to {before.number}",
    )
    assert live.found() == set(PATHS)
    live("rollback", str(after.number))
    assert live.found() == set()


def test_a_snapshot_that_is_not_there_is_an_error_that_names_the_others(live: LiveCrawl) -> None:
    current = load_current(LocalStore(Path("crawl"))).number
    live("gc", "--keep", "2", "--min-age", "0s")
    error = live("rollback", "1", code=2)
    assert f"there is no snapshot 1; these older ones exist: {current - 1};" in error
    assert f"snapshot {current} is the current one" in live("rollback", str(current), code=2)
    live("gc", "--keep", "1")
    assert "no older one exists" in live("rollback", "1", code=2)
    assert load_current(LocalStore(Path("crawl"))).number == current


@pytest.mark.slow
def test_rounds_go_on_after_a_rollback_over_a_round(live: LiveCrawl) -> None:
    store = LocalStore(Path("crawl"))
    first = load_current(store)
    live.site.page("/docs/one", text="newer words about zebras", ETag='"newer"')
    live("refresh", live.site.host)
    live("run")
    second = load_current(store)
    assert live.found("zebras") == {"/docs/one"}
    live("rollback", str(first.number))
    assert load_current(store).round == second.round + 1
    assert live.found("zebras") == set()
    live("refresh", live.site.url("/docs/one"))
    live("run")
    assert load_current(store).round == second.round + 2
    assert live.found("zebras") == {"/docs/one"}
    assert live.found() == set(PATHS) - {"/docs/one"}


@pytest.mark.slow
def test_an_open_round_is_not_continued_over_a_rollback_to_an_earlier_round(live: LiveCrawl) -> None:
    store = LocalStore(Path("crawl"))
    first = load_current(store)
    live.site.page("/docs/one", text="newer words about zebras", ETag='"newer"')
    live("refresh", live.site.host)
    live("run")
    live("refresh", live.site.host)
    with stopped_before_the_merge():
        live("run", code=1)  # the site has said that the newer page has not changed
    printed = live("rollback", str(first.number))
    assert "round 3, which was not finished, is dropped" in printed
    live("refresh", live.site.host)
    assert "/docs/one" in live.asked_by("run")
    assert live.found("zebras") == {"/docs/one"}


def test_an_open_round_goes_on_after_a_rollback_within_its_round(live: LiveCrawl) -> None:
    store = LocalStore(Path("crawl"))
    live("refresh", live.site.host)
    before = load_current(store)
    with stopped_before_the_merge():
        live("run", code=1)
    live("forget", live.site.url("/docs/"))
    assert "dropped" not in live("rollback", str(before.number))
    assert live.asked_by("run") == []
    assert live.json("status")["statuses"] == {"unchanged": len(PATHS)}
    assert load_snapshot(store, before.number).round + 1 == load_current(store).round


def test_a_change_of_the_scope_says_how_to_undo_it_and_is_named_in_the_list(live: LiveCrawl) -> None:
    before = live.json("status")["snapshot"]
    rule = f"scope.exclude=[{live.site.url('/docs/')}]"
    assert live("config", "set", rule).endswith(f"left search; undo: crawlctl rollback {before}\n")
    assert "config, scope.exclude (current)" in live("rollback")
    live("rollback", str(before))
    assert live.found() == set(PATHS)


def test_a_dry_run_says_what_would_come_back_and_changes_nothing(live: LiveCrawl) -> None:
    before = load_current(LocalStore(Path("crawl"))).number
    live("forget", live.site.url("/docs/one"))
    printed = live("rollback", str(before), "--dry-run")
    assert f"would make the crawl what it was in snapshot {before} (" in printed
    assert f"{len(PATHS)} pages to search, now {len(PATHS) - 1}; " in printed
    assert printed.endswith("nothing was changed\n")
    told = live.json("rollback", str(before), "--dry-run")
    assert (told["then"]["pages"], told["now"]["pages"]) == (len(PATHS), len(PATHS) - 1)
    assert load_current(LocalStore(Path("crawl"))).number == before + 1
    assert "there is no snapshot 99" in live("rollback", "99", "--dry-run", code=2)
