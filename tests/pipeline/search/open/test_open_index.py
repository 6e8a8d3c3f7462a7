"""A crawl without an index says what to do; how an index is opened is tested in test_newest_snapshot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.errors import StoreError
from crawlctl.pipeline.search.open.open_index import open_index
from crawlctl.pipeline.state.leases.lease import hold_lease
from crawlctl.pipeline.state.snapshots import create_crawl
from crawlctl.pipeline.store.local.store import LocalStore

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.pipeline.store.base import Store


def hint(store: Store) -> str:
    with pytest.raises(StoreError, match="has no index to search yet") as raised:
        open_index(store)
    return str(raised.value).partition("; ")[2]


def test_without_an_index_the_user_is_told_to_run_or_to_wait_for_the_run_under_way(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    create_crawl(store, 1)
    merge = "fetch pages with `crawlctl run`, or index what was fetched with `crawlctl merge`"
    assert hint(store) == merge
    with hold_lease(store, 60, "run"):
        assert hint(store) == "`crawlctl run` is under way, wait until its first round has ended"
    assert hint(store) == merge, "the run has ended"
    with hold_lease(store, 60, "refresh"):
        assert hint(store) == merge, "a refresh makes no index"
