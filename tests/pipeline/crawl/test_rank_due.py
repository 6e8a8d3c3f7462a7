"""When a ranking is worth it: by the history and the manifests, without the WebDB."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from crawlctl.pipeline.config.settings import RankSettings
from crawlctl.pipeline.config.units import DAY, Duration
from crawlctl.pipeline.crawl.history.history_files import with_row
from crawlctl.pipeline.crawl.history.history_row import HistoryRow
from crawlctl.pipeline.crawl.rank_due import RankChanges, judge, rank_changes
from crawlctl.pipeline.crawl.reports.page_counts import PageCounts
from crawlctl.pipeline.rank.graph.graph_files import NODES
from crawlctl.pipeline.state.kinds import GRAPH, HISTORY, RANKS, WEBDB
from crawlctl.pipeline.state.layout import data_name
from crawlctl.pipeline.state.manifest import FileEntry
from crawlctl.pipeline.state.snapshots import Snapshot, commit, create_crawl
from crawlctl.pipeline.store.local.store import LocalStore

if TYPE_CHECKING:
    from pathlib import Path

NOW = 1_800_000_000.0
CHANGES = RankChanges(
    rounds=2,
    ranked_round=5,
    ranked_at=NOW - DAY,
    pages=30,
    documents=10_000,
    urls=50_000,
    ranked_urls=49_000,
)
SETTINGS = RankSettings(share=0.1, after=Duration(7 * DAY))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"ranked_round": 0}, "no ranks yet"),
        ({"urls": 1000}, "at most 1,000 URLs"),
        ({"pages": None}, "does not say"),
        ({"ranked_at": None}, "does not say"),
        ({"pages": 1000}, r"1,000 pages \(10 %\) changed"),
        ({"ranked_urls": 45_000}, "11% more URLs"),
        ({"ranked_at": NOW - 7 * DAY}, "rank.after"),
    ],
)
def test_a_ranking_is_worth_it_for_one_reason(change: dict[str, float], why: str) -> None:
    verdict = judge(SETTINGS, replace(CHANGES, **change), NOW)
    assert verdict.is_due
    assert re.search(why, verdict.why)


def test_a_run_that_has_changed_little_says_when_pages_are_ranked() -> None:
    verdict = judge(SETTINGS, CHANGES, NOW)
    assert not verdict.is_due
    assert "30 pages (0.3 %) changed" in verdict.why
    assert "once 10% have changed" in verdict.why and "2027-01-21 08:00" in verdict.why


def test_a_user_may_rank_at_once_or_not_at_all() -> None:
    assert judge(SETTINGS, CHANGES, NOW, mode="now").is_due
    assert judge(RankSettings(every=None), CHANGES, NOW, mode="now").is_due
    much = replace(CHANGES, pages=10_000)
    assert not judge(SETTINGS, much, NOW, mode="off").is_due
    assert not judge(RankSettings(every=None), much, NOW).is_due


def test_ranks_are_not_made_twice_for_a_round() -> None:
    assert not judge(SETTINGS, replace(CHANGES, rounds=0), NOW, mode="now").is_due
    assert not judge(RankSettings(share=0), replace(CHANGES, rounds=0), NOW).is_due


def test_within_a_run_only_the_number_of_rounds_counts() -> None:
    much = replace(CHANGES, pages=10_000)
    assert not judge(SETTINGS, much, NOW, last=False).is_due
    assert judge(RankSettings(every=2), CHANGES, NOW, last=False).is_due
    assert not judge(RankSettings(every=3), CHANGES, NOW, last=False).is_due


@pytest.fixture
def crawl(tmp_path: Path) -> tuple[LocalStore, Snapshot]:
    """A crawl that was ranked after round 1, and has run rounds 2 and 3 since."""
    store = LocalStore(tmp_path)
    snapshot = create_crawl(store, 1)
    files: tuple[FileEntry, ...] = (
        FileEntry(WEBDB, 0, data_name(WEBDB, 0, 3), 1, 120, ""),
        FileEntry(RANKS, 0, data_name(RANKS, 0, 1), 1, 100, ""),
        FileEntry(GRAPH, 0, data_name(GRAPH, 0, 1), 1, 100, "", {NODES: 100}),
    )
    rows = [
        row(1, 50.0, PageCounts(new=9)),
        HistoryRow(snapshot=2, committed=60.0, round=1, command="run", made_by="run, ranks"),
        HistoryRow(snapshot=3, committed=70.0, round=1, command="inject", made_by="inject, 1 new seed"),
        row(2, 80.0, PageCounts(new=3, changed=2, gone=1, unchanged=50)),
        row(3, 90.0, PageCounts(changed=4)),
    ]
    for one in rows:
        files = with_row(store, files, one)
    return store, commit(store, snapshot, files=files, round_number=3)


def row(number: int, committed: float, pages: PageCounts) -> HistoryRow:
    return HistoryRow(snapshot=int(committed), committed=committed, round=number, is_round=True, pages=pages)


def test_changes_are_counted_from_the_history_since_the_last_ranking(
    crawl: tuple[LocalStore, Snapshot],
) -> None:
    changes = rank_changes(*crawl)
    assert (changes.rounds, changes.ranked_round, changes.ranked_at) == (2, 1, 60.0)
    assert changes.pages == 3 + 2 + 1 + 4, "pages that were visited and have not changed do not count"
    assert (changes.urls, changes.ranked_urls) == (120, 100)
    assert changes.url_share == pytest.approx(0.2)


def test_without_the_history_of_a_round_the_changes_are_not_known(crawl: tuple[LocalStore, Snapshot]) -> None:
    store, snapshot = crawl
    later = replace(snapshot, round=4)
    assert rank_changes(store, later).pages is None
    for entry in snapshot.files_of(HISTORY):
        (store.root / entry.name).write_bytes(b"damage")
    changes = rank_changes(store, snapshot)
    assert changes.pages is None and changes.ranked_at is None
