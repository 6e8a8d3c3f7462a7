from __future__ import annotations

from pathlib import Path

import pytest

from crawlctl.pipeline.config.own_layer import with_own
from crawlctl.pipeline.config.settings import Config
from crawlctl.pipeline.crawl.changes import sound_settings
from crawlctl.pipeline.crawl.changes.own_rules import change_now
from crawlctl.pipeline.crawl.changes.sound_settings import FoundSettings, find_settings, last_sound
from crawlctl.pipeline.crawl.leased_crawl import new_crawl
from crawlctl.pipeline.crawl.work import Work
from crawlctl.pipeline.errors import StoreUnavailable
from crawlctl.pipeline.state.layout import snapshot_name
from crawlctl.pipeline.state.own_settings import settings_entry
from crawlctl.pipeline.state.snapshots import load_current
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.tests.pipeline.crawl.said_lines import SaidLines

OWN = {"scope.forgotten": ["a.org"], "scope.max_depth": 3}


def damaged(folder: Path) -> LocalStore:
    """Return a crawl whose first settings are OWN, and whose current ones are damaged."""
    store = LocalStore(folder / "crawl")
    config = with_own(Config(), OWN)
    new_crawl(store, 1, config)
    change_now(Work(store, config, SaidLines()), {"scope.max_depth": 4})
    entry = settings_entry(load_current(store))
    assert entry is not None
    Path(store.locate(entry.name)).write_text("{}")
    return store


def found(store: LocalStore, config: Config) -> FoundSettings | None:
    return find_settings(store, load_current(store), config)


def test_settings_that_are_the_same_to_the_byte_are_those_that_were_lost(tmp_path: Path) -> None:
    lost = {**OWN, "scope.max_depth": 4}
    assert found(damaged(tmp_path), with_own(Config(), lost)) == FoundSettings(lost)


def test_else_they_are_those_of_the_newest_snapshot_that_has_sound_ones(tmp_path: Path) -> None:
    assert found(damaged(tmp_path), with_own(Config(), {"scope.max_depth": 9})) == FoundSettings(OWN, 1)


def test_without_another_snapshot_they_are_lost(tmp_path: Path) -> None:
    store = damaged(tmp_path)
    store.delete(["snapshots/00000001.json"])
    assert found(store, Config()) is None


def test_a_store_that_is_away_does_not_look_like_older_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = damaged(tmp_path)

    def be_away(*_: object) -> None:
        raise StoreUnavailable("the store does not answer")

    monkeypatch.setattr(sound_settings, "read_own_settings", be_away)
    with pytest.raises(StoreUnavailable):
        found(store, Config())


def test_settings_of_a_newer_release_are_passed_over(tmp_path: Path) -> None:
    store = damaged(tmp_path)
    current = load_current(store)
    store.delete([snapshot_name(current.number)])
    store.put(snapshot_name(current.number), b'{"version": 99}')
    assert last_sound(store) == FoundSettings(OWN, 1)
