from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.state.snapshots import commit, create_crawl
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.webdb.due import count_due
from crawlctl.pipeline.webdb.merge.update import inject

if TYPE_CHECKING:
    from pathlib import Path


def test_a_partition_without_a_part_has_nothing_due(tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "crawl")
    empty = create_crawl(store, 1)
    assert count_due(store, empty, 0, 100) == 0
    seeds = ["https://a.example/", "https://b.example/"]
    seeded = commit(store, empty, files=inject(store, empty, seeds, 50).files, round_number=0)
    assert [count_due(store, seeded, 0, now) for now in (49, 50)] == [0, 2]
