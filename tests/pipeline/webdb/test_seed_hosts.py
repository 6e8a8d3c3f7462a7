from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.state.snapshots import commit, create_crawl
from crawlctl.pipeline.urls.hosts import webdb_key
from crawlctl.pipeline.webdb import census
from crawlctl.pipeline.webdb.merge.update import inject
from crawlctl.pipeline.webdb.part import write_part
from crawlctl.pipeline.webdb.records import Status, WebEntry, encode
from crawlctl.pipeline.webdb.seed_hosts import seed_hosts
from crawlctl.tests.pipeline.webdb.older_parts import without_new_counters
from crawlctl.tests.pipeline.webdb.recording_store import RecordingStore

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def store(tmp_path: Path) -> RecordingStore:
    return RecordingStore(tmp_path / "crawl")


def test_the_hosts_of_seeds_are_found_in_all_partitions(store: RecordingStore) -> None:
    empty = create_crawl(store, 3)
    seeds = [f"http://host{number}/" for number in range(7)]
    snapshot = commit(store, empty, files=inject(store, empty, seeds, 50).files, round_number=0)
    store.opened.clear()
    hosts = {f"host{number}" for number in range(7)}
    assert seed_hosts(store, snapshot) == hosts
    assert store.opened == []
    assert seed_hosts(store, without_new_counters(snapshot)) == hosts
    assert store.opened != []


@pytest.mark.parametrize("listed", [0, 1000])
def test_a_url_that_was_only_found_is_no_seed(
    store: RecordingStore, listed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(census, "MAX_SEED_HOSTS", listed)
    depths = {"http://a/": 0, "http://b/": 1, "http://c/": 200, "http://d/": 0}
    keys = [webdb_key(url) for url in depths]
    values = [encode(WebEntry(Status.UNFETCHED, 5, 0.5, depth, 0)) for depth in depths.values()]
    files = write_part(store, [(keys, values)], partition=0, round_number=0)
    snapshot = commit(store, create_crawl(store, 1), files=files, round_number=0)
    assert seed_hosts(store, snapshot) == {"a", "d"}
