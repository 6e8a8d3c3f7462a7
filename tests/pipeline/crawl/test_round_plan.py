from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.config.settings import RoundSettings, SitemapSettings
from crawlctl.pipeline.config.units import Size
from crawlctl.pipeline.crawl.round_plan import plan_round, proportional
from crawlctl.pipeline.state.snapshots import commit, create_crawl
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.webdb.merge.update import inject
from crawlctl.tests.pipeline.webdb.older_parts import without_new_counters
from crawlctl.tests.pipeline.webdb.recording_store import RecordingStore

if TYPE_CHECKING:
    from pathlib import Path

NOW = 1_800_000_000


@given(total=st.integers(1, 10**12), weights=st.lists(st.integers(1, 10**6), min_size=1, max_size=20))
def test_shares_are_fair_and_add_up(total: int, weights: list[int]) -> None:
    shares = proportional(total, weights)
    assert len(shares) == len(weights)
    assert all(share >= 1 for share in shares)
    assert sum(shares) == total or total < sum(weights)
    for share, weight in zip(shares, weights, strict=True):
        assert abs(share - total * weight / sum(weights)) <= 1 + 1e-9 * total


@given(weights=st.lists(st.integers(1, 10**6), min_size=1, max_size=20), spare=st.integers(0, 1000))
def test_a_budget_that_is_large_enough_leaves_nobody_short(weights: list[int], spare: int) -> None:
    shares = proportional(sum(weights) + spare, weights)
    assert all(share >= weight for share, weight in zip(shares, weights, strict=True))


def test_without_anybody_there_are_no_shares() -> None:
    assert proportional(5, []) == []


def test_partitions_with_nothing_due_take_no_part_unless_they_have_begun(tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "crawl")
    empty = create_crawl(store, 8)
    injected = inject(store, empty, [f"https://a.example/{page}" for page in range(6)], NOW)
    snapshot = commit(store, empty, files=injected.files, round_number=0)
    settings = RoundSettings(max_pages=4, max_bytes=Size(1000))
    (home,) = {entry.partition for entry in injected.files}
    plan = plan_round(store, snapshot, settings, NOW + 0.5, fetch_time=60.0)
    (share,) = plan.shares
    assert (share.partition, share.due, share.max_pages, share.max_bytes) == (home, 6, 4, 1000)
    assert (plan.pages, plan.deadline) == (4, NOW + 60.5)
    assert plan_round(store, snapshot, settings, NOW - 1, fetch_time=60.0).shares == ()
    begun = plan_round(store, snapshot, settings, NOW - 1, begun={3}, fetch_time=60.0).shares
    assert [(share.partition, share.due) for share in begun] == [(3, 0)]


def test_a_plan_opens_no_file_of_the_webdb(tmp_path: Path) -> None:
    store = RecordingStore(tmp_path / "crawl")
    empty = create_crawl(store, 8)
    injected = inject(store, empty, [f"https://{name}.example/" for name in "abcdefgh"], NOW)
    snapshot = commit(store, empty, files=injected.files, round_number=0)
    store.opened.clear()
    plan = plan_round(store, snapshot, RoundSettings(), NOW, sitemaps=SitemapSettings(), fetch_time=60.0)
    assert sum(share.due for share in plan.shares) == 8
    assert plan_round(store, snapshot, RoundSettings(), NOW - 1, fetch_time=60.0).shares == ()
    assert store.opened == []
    older = without_new_counters(snapshot)
    assert plan_round(store, older, RoundSettings(), NOW, sitemaps=SitemapSettings(), fetch_time=60.0) == plan
    assert plan_round(store, older, RoundSettings(), NOW - 1, fetch_time=60.0).shares == ()
    assert store.opened != []
