"""An earlier snapshot is held only while somebody asks it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.errors import MissingFile
from crawlctl.pipeline.serve.problem import Problem
from crawlctl.pipeline.serve.searching.earlier_snapshot import IDLE_SECONDS, EarlierSnapshot
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.tests.pipeline.search.brute_force import Page
from crawlctl.tests.pipeline.search.small_index import write_index

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.pipeline.search.open.searcher import Searcher


def same(searcher: Searcher) -> Searcher:
    return searcher


def test_the_searcher_is_kept_until_it_is_idle(tmp_path: Path) -> None:
    store, now = LocalStore(tmp_path), [0.0]
    snapshot = write_index(store, [[Page("https://a.org/", "A", "word")]])
    earlier = EarlierSnapshot(store, lambda: now[0])
    searcher = earlier.ask(snapshot.number, snapshot.writer[:16], same)
    now[0] += IDLE_SECONDS
    earlier.close_if_idle()
    assert earlier.ask(snapshot.number, snapshot.writer[:16], same) is searcher
    now[0] += IDLE_SECONDS + 1
    earlier.close_if_idle()
    assert earlier.ask(snapshot.number, snapshot.writer[:16], same) is not searcher


def test_a_file_that_is_deleted_within_a_search_makes_the_snapshot_gone(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    snapshot = write_index(store, [[Page("https://a.org/", "A", "word")]])

    def missing(_: Searcher) -> None:
        raise MissingFile("deleted by gc")

    with pytest.raises(Problem) as problem:
        EarlierSnapshot(store).ask(snapshot.number, snapshot.writer, missing)
    assert problem.value.status == 410
