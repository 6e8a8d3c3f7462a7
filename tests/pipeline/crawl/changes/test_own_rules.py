from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from crawlctl.pipeline.config.own_layer import with_own
from crawlctl.pipeline.config.settings import Config, RunnerSettings
from crawlctl.pipeline.crawl.changes.own_rules import UNSET, change_now, change_settings, settle_settings
from crawlctl.pipeline.crawl.leased_crawl import leased_crawl, new_crawl
from crawlctl.pipeline.crawl.work import Work
from crawlctl.pipeline.errors import CommitConflict, ConfigError, DamagedSettings
from crawlctl.pipeline.state.own_settings import read_own_settings, settings_entry, write_own_settings
from crawlctl.pipeline.state.snapshots import commit, create_crawl, load_current
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.tests.pipeline.crawl.said_lines import SaidLines

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def work(tmp_path: Path) -> Work:
    config = with_own(Config(runner=RunnerSettings(name="inline")), {"scope.max_depth": 3})
    store = LocalStore(tmp_path / "crawl")
    new_crawl(store, 1, config)
    return Work(store, config, SaidLines())


def stored(work: Work) -> dict[str, Any] | None:
    return read_own_settings(work.store, load_current(work.store))


def test_a_change_is_one_snapshot_with_another_file_and_the_crawl_works_on_with_it(work: Work) -> None:
    before = load_current(work.store)
    with leased_crawl(work, "config") as crawl:
        changed = change_settings(crawl, {"scope.max_depth": 5, "scope.include": ["a.org"]})
        assert crawl.work.config.scope.max_depth == 5
    after = load_current(work.store)
    assert (after.number, after.round) == (before.number + 1, before.round)
    assert stored(work) == {"scope.max_depth": 5, "scope.include": ["a.org"]}
    assert read_own_settings(work.store, before) == {"scope.max_depth": 3}
    assert changed.line() == (
        "scope.include of this crawl is now [a.org] (was []); scope.max_depth is now 5 (was 3)"
    )


def test_without_a_change_nothing_is_committed(work: Work) -> None:
    before = load_current(work.store)
    changed = change_now(work, {"scope.max_depth": 3})
    assert (changed.changes, changed.is_committed) == ((), False)
    assert load_current(work.store) == before


def test_an_unset_value_is_no_longer_stored(work: Work) -> None:
    change_now(work, {"scope.max_depth": UNSET})
    assert stored(work) == {}


@pytest.mark.parametrize(
    "changes",
    [
        {"scope.max_depth": 5, "fetch.contact": "me"},
        {"scope.max_depth": 5, "scope.max_deph": 5},
        {"scope.max_depth": 5, "recrawl.rest": "soon"},
        {"scope.max_depth": 5, "scope.include": ["regex:("]},
        {"recrawl.pace.minimum": "900d"},
    ],
)
def test_one_bad_change_leaves_all_as_it_was(work: Work, changes: dict[str, Any]) -> None:
    before = load_current(work.store)
    with pytest.raises(ConfigError):
        change_now(work, changes)
    assert load_current(work.store) == before


def test_a_crawl_with_a_rule_that_cannot_be_used_is_not_made(tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "other")
    with pytest.raises(ConfigError, match=r"scope\.include"):
        new_crawl(store, 1, with_own(Config(), {"scope.include": ["regex:("]}))
    assert list(store.list()) == []


def test_values_of_another_release_can_be_removed_or_corrected(work: Work) -> None:
    odd = {"scope.from_the_future": 1, "scope.max_depth": "deep", "scope.max_url_length": 9}
    snapshot = load_current(work.store)
    commit(work.store, snapshot, files=[write_own_settings(work.store, odd, 1)], round_number=0)
    with pytest.raises(ConfigError, match=r"crawlctl config unset scope\.from_the_future"):
        change_now(work, {"scope.max_depth": 2})
    change_now(work, {"scope.from_the_future": UNSET, "scope.max_depth": 2})
    assert stored(work) == {"scope.max_depth": 2, "scope.max_url_length": 9}


def test_a_run_gives_a_crawl_of_an_older_release_its_settings_and_says_so(tmp_path: Path) -> None:
    said = SaidLines()
    store = LocalStore(tmp_path / "older")
    work = Work(store, with_own(Config(runner=RunnerSettings(name="inline")), {"scope.max_depth": 4}), said)
    create_crawl(store, 1)
    for _ in range(2):
        with leased_crawl(work, "run") as crawl:
            settle_settings(crawl, {})
    assert stored(work) == {"scope.max_depth": 4}
    assert load_current(store).number == 2
    (line,) = said.lines
    assert line.startswith("this crawl now keeps its own settings, those of this run (scope.max_depth); ")


def test_settings_that_were_changed_meanwhile_are_not_overlooked(work: Work) -> None:
    entry = settings_entry(load_current(work.store))
    assert entry is not None
    read = replace(work, own_file=entry.name)
    with leased_crawl(read, "run"):
        pass
    change_now(work, {"scope.max_depth": 7})
    with pytest.raises(CommitConflict, match="run the command again"), leased_crawl(read, "run"):
        pass


def test_damaged_settings_are_written_anew_only_if_asked(work: Work, tmp_path: Path) -> None:
    entry = settings_entry(load_current(work.store))
    assert entry is not None
    (tmp_path / "crawl" / entry.name).write_text("{}")
    with pytest.raises(DamagedSettings):
        change_now(work, {"scope.max_url_length": 9})
    change_now(work, {"scope.max_url_length": 9}, anew=True)
    assert stored(work) == {"scope.max_depth": 3, "scope.max_url_length": 9}
