from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.config.scope import BudgetSettings, ScopeSettings
from crawlctl.pipeline.fetch.discovery import Discovery, Origin
from crawlctl.pipeline.fetch.known import KnownUrls
from crawlctl.pipeline.fetch.sites import SiteBudgets
from crawlctl.pipeline.net.hosts import url_of_key, webdb_key
from crawlctl.pipeline.net.scope import Scope
from crawlctl.pipeline.webdb.merge import discover, first_entry, merge_entries, merge_fresh
from crawlctl.pipeline.webdb.records import MAX_ANCHORS, Fresh

NOW = 1_800_000_000
ORIGIN = Origin("http://a/", NOW, 1, 0.5)


class NoRows:
    """A partition without URLs."""

    name = "webdb"

    def of_host(self, host: str) -> list[tuple[bytes, bytes]]:
        return []


COUNTS: Counter[str] = Counter()


def count(name: str, amount: int) -> None:
    COUNTS[name] += amount


@pytest.fixture(autouse=True)
def no_counts() -> None:
    COUNTS.clear()


def discovery(
    known: KnownUrls | None = None, budgets: BudgetSettings | None = None, **scope: Any
) -> Discovery:
    settings = ScopeSettings(**scope)
    sites = SiteBudgets(budgets or BudgetSettings(), NoRows(), ())  # type: ignore[arg-type]  # all it asks for
    return Discovery(settings, Scope(settings, ["a"]), sites, known or KnownUrls(), count)


def found(one: Discovery, *urls: str, origin: Origin = ORIGIN) -> list[str]:
    fresh: dict[bytes, Fresh] = {}
    one.links(origin, [(url, f"to {url}") for url in urls], fresh)
    return [url_of_key(key) for key in fresh]


def test_links_out_of_scope_are_left() -> None:
    one = discovery()
    assert found(one, "http://a/1", "http://b/", "http://a/x.png") == ["http://a/1"]
    assert COUNTS["links_out_of_scope"] == 2


def test_the_first_new_links_of_a_page_are_taken_up() -> None:
    one = discovery(max_new_urls_per_page=2)
    assert found(one, "http://a/1", "http://a/2", "http://a/3") == ["http://a/1", "http://a/2"]
    assert COUNTS["links_over_limit"] == 1
    # What one page has brought up is known to the next.
    assert found(one, "http://a/1", "http://a/3", "http://a/4", "http://a/5") == [
        "http://a/1",
        "http://a/3",
        "http://a/4",
    ]


def test_known_links_do_not_count() -> None:
    known = KnownUrls()
    known.add([webdb_key(f"http://a/{number}") for number in range(5)])
    one = discovery(known, max_new_urls_per_page=1)
    urls = [f"http://a/{number}" for number in range(7)]
    assert found(one, *urls) == urls[:6]


def test_a_used_up_budget_lets_nothing_new_in() -> None:
    one = discovery(budgets=BudgetSettings(urls_per_host=2))
    assert found(one, "http://a/1", "http://a/2", "http://a/3") == ["http://a/1", "http://a/2"]


def test_beyond_the_greatest_depth_nothing_is_taken_up() -> None:
    one = discovery(max_depth=3)
    assert found(one, "http://a/1", origin=ORIGIN._replace(depth=3)) == ["http://a/1"]
    assert found(one, "http://a/1", origin=ORIGIN._replace(depth=4)) == []


def test_what_a_sitemap_lists_is_not_limited_by_page() -> None:
    fresh: dict[bytes, Fresh] = {}
    discovery(max_new_urls_per_page=1).listed(ORIGIN, ["http://a/1", "http://a/2"], fresh)
    assert len(fresh) == 2


def test_finds_of_a_url_add_up_and_anchors_are_bounded() -> None:
    one = discovery()
    fresh: dict[bytes, Fresh] = {}
    for number in range(MAX_ANCHORS + 9):
        origin = Origin(f"http://a/{number}", NOW + number, 5 - number % 3, 0.1 * (number % 4))
        one.links(origin, [("http://a/x", f"anchor {number}")], fresh)
    (merged,) = fresh.values()
    assert (merged.seen, merged.source, merged.depth, merged.score) == (NOW, "http://a/0", 3, 0.1 * 3)
    assert len(merged.anchors) == MAX_ANCHORS


FRESH = st.builds(
    Fresh,
    seen=st.integers(NOW - 3, NOW),
    depth=st.integers(0, 3),
    score=st.sampled_from([0.0, 0.5, 1.0]),
    anchors=st.lists(st.sampled_from("abcdef"), max_size=3, unique=True).map(tuple),
    source=st.sampled_from(["", "http://a/", "http://b/"]),
)


@given(FRESH, FRESH, FRESH)
def test_finds_merge_in_any_order_as_entries_do(one: Fresh, two: Fresh, three: Fresh) -> None:
    merged = merge_fresh(merge_fresh(one, two), three)
    other_way = merge_fresh(three, merge_fresh(two, one))
    assert first_entry(merged, NOW) == first_entry(other_way, NOW)
    entries = merge_entries(first_entry(one, NOW), first_entry(two, NOW))
    assert set(discover(entries, merge_fresh(one, two), NOW).anchors) == set(entries.anchors)
    assert merge_entries(entries, first_entry(merge_fresh(one, two), NOW)).score == entries.score
