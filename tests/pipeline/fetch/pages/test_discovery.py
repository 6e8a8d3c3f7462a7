from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.config.settings import BudgetSettings, FocusSettings, ScopeSettings
from crawlctl.pipeline.fetch.pages import discovery as discovery_module
from crawlctl.pipeline.fetch.pages.discovered import DiscoveredUrls, Origin
from crawlctl.pipeline.fetch.pages.discovery import Discovery, share_of
from crawlctl.pipeline.fetch.select.known_urls import KnownUrls
from crawlctl.pipeline.fetch.select.site_budgets import SiteBudgets
from crawlctl.pipeline.scope.scope import Scope
from crawlctl.pipeline.text.words.focus import Focus
from crawlctl.pipeline.urls.hosts import url_of_key, webdb_key
from crawlctl.pipeline.webdb.entries import discover, first_entry, merge_entries, merge_fresh
from crawlctl.pipeline.webdb.records import Fresh

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

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
    known: KnownUrls | None = None,
    budgets: BudgetSettings | None = None,
    focus: Focus | None = None,
    **scope: Any,
) -> Discovery:
    settings = ScopeSettings(**scope)
    bounds = Scope(settings, ["a"])
    sites = SiteBudgets(
        budgets or BudgetSettings(),
        NoRows(),  # type: ignore[arg-type]  # all it asks for
        (),
        is_of_a_seed=bounds.is_of_a_seed,
    )
    return Discovery(settings, bounds, sites, known or KnownUrls(), count, focus=focus)


def found(one: Discovery, *urls: str, origin: Origin = ORIGIN) -> list[str]:
    fresh = DiscoveredUrls()
    one.links(origin, [(url, f"to {url}") for url in urls], fresh)
    return [url_of_key(key) for key in fresh.packed()]


def test_links_out_of_scope_are_left() -> None:
    one = discovery()
    assert found(one, "http://a/1", "http://b/", "http://a/x.png") == ["http://a/1"]
    assert COUNTS["links_out_of_scope"] == 2


def queries(*numbers: int) -> list[str]:
    """URLs that look like a trap, as they have a parameter."""
    return [f"http://a/?{number}" for number in numbers]


def test_of_links_that_look_like_a_trap_the_first_are_taken_up() -> None:
    one = discovery(max_new_urls_per_page=2)
    assert found(one, *queries(1, 2, 3)) == queries(1, 2)
    assert COUNTS["links_over_limit"] == 1
    # What one page has brought up is known to the next.
    assert found(one, *queries(1, 3, 4, 5)) == queries(1, 3, 4)


def test_other_links_are_all_taken_up_between_them_and_do_not_count() -> None:
    one = discovery(max_new_urls_per_page=2)
    plain = [f"http://a/{number}" for number in range(9)]
    assert found(one, *plain[:4], *queries(1, 2, 3), *plain[4:]) == [*plain[:4], *queries(1, 2), *plain[4:]]


def test_a_page_is_read_on_from_where_it_was_left() -> None:
    one = discovery(max_new_urls_per_page=2)
    links = [(url, "") for url in queries(*range(5))]
    places, keys = [], []
    taken = None
    while taken != 0:
        fresh = DiscoveredUrls()
        taken = one.links(ORIGIN, links, fresh, taken or 0)
        places.append(taken)
        keys.append(len(fresh))
    assert (places, keys) == ([2, 4, 0], [2, 4, 5])


def test_links_before_that_place_have_had_their_turn_even_if_they_seem_new() -> None:
    links = [(url, "") for url in queries(*range(5))]
    fresh = DiscoveredUrls()
    assert discovery(max_new_urls_per_page=2).links(ORIGIN, links, fresh, 2) == 4
    assert [url_of_key(key) for key in fresh.packed()] == queries(2, 3)


def test_a_page_that_says_nothing_new_brings_only_so_many_urls() -> None:
    links = [(f"http://a/{number}", "") for number in range(9)]
    fresh = DiscoveredUrls()
    assert discovery(max_new_urls_per_page=2).links(ORIGIN, links, fresh, is_new_text=False) == 2
    assert len(fresh) == 2


@pytest.mark.parametrize("pattern", ["http://a/{}", "http://a/folder/{}", "http://a/{}/in/a/folder"])
def test_a_site_with_half_its_budget_gets_only_so_many_urls_more_from_each_page(pattern: str) -> None:
    one = discovery(budgets=BudgetSettings(urls_per_prefix=100), max_new_urls_per_page=5)
    urls = [pattern.format(number) for number in range(100)]
    assert found(one, *urls) == urls[: 50 + 5]
    assert found(one, *urls) == urls[: 50 + 10]


def test_hosts_that_are_new_to_the_crawl_count_once_each() -> None:
    one = discovery(include=("*",), max_new_urls_per_page=3)
    urls = [f"http://h{number % 9}/{number}" for number in range(18)]
    assert found(one, *urls) == [url for url in urls if url[8] in "012"]


def test_links_over_a_budget_are_not_waited_for() -> None:
    links = [(f"http://a/{number}", "") for number in range(5)]
    assert discovery(budgets=BudgetSettings(urls_per_host=2)).links(ORIGIN, links, DiscoveredUrls()) == 0
    full = BudgetSettings(urls_per_prefix=2)
    in_folder = [(f"http://a/b/{number}", "") for number in range(200)]
    assert discovery(budgets=full).links(ORIGIN, in_folder, DiscoveredUrls()) == 0
    trap = [(url, "") for url in queries(*range(5))]
    assert discovery(max_new_urls_per_page=0).links(ORIGIN, trap, DiscoveredUrls()) == 0


def test_known_links_do_not_count() -> None:
    known = KnownUrls()
    known.add([webdb_key(url) for url in queries(*range(5))])
    one = discovery(known, max_new_urls_per_page=1)
    assert found(one, *queries(*range(7))) == queries(*range(6))


@pytest.mark.parametrize("most", [0, 3, 1000])
def test_what_is_remembered_changes_no_verdict(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr(discovery_module, "_REMEMBERED", most)
    one = discovery(max_new_urls_per_page=2)
    far = ["http://elsewhere/", f"http://a/{'x' * 300}"]
    pages = [[*queries(*range(3 * number)), *far] for number in range(8)]
    taken = [found(one, *page) for page in pages]
    # Two new URLs a page; those of the pages before are known, and the long one counts for no limit.
    assert taken == [[*queries(*range(2 * number)), far[1]] for number in range(8)]
    assert COUNTS["links_out_of_scope"] == len(pages)


def test_a_known_url_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    known = KnownUrls()
    known.add([webdb_key("http://a/old")])
    asked: list[bytes] = []
    contains = known.contains

    def noting(keys: Sequence[bytes]) -> list[bool]:
        asked.extend(keys)
        return contains(keys)

    monkeypatch.setattr(known, "contains", noting)
    one = discovery(known)
    for _ in range(3):
        assert found(one, "http://a/old", "http://a/new") == ["http://a/old", "http://a/new"]
    assert asked.count(webdb_key("http://a/old")) == 1
    assert asked.count(webdb_key("http://a/new")) == 2  # it is known from the second page on


LINKS = st.lists(
    st.builds(
        "http://{}/{}{}{}".format,
        st.sampled_from("abcdefgh"),
        st.sampled_from(["", "x/", "x/y/"]),
        st.sampled_from(["", "?", "?n="]),
        st.integers(0, 40),
    ),
    max_size=60,
    unique=True,
)


@given(LINKS, st.integers(1, 5), st.booleans(), st.data())
def test_the_limit_loses_no_link_for_good(
    urls: list[str], most: int, is_new_text: bool, data: st.DataObject
) -> None:
    """However few links may be taken at once, a page that stays as it is brings them all in some visits.

    Every visit is a task of its own, which knows again only the URLs of its own partition.
    """
    elsewhere = data.draw(st.sets(st.sampled_from("abcdefgh")))
    links = [(url, "") for url in urls]
    kept, taken, visits = set[str](), 0, 0
    while visits == 0 or taken:
        known = KnownUrls()
        known.add([webdb_key(url) for url in sorted(kept) if url[7] not in elsewhere])
        budgets = BudgetSettings(urls_per_prefix=data.draw(st.integers(61, 200)))
        one = discovery(known, budgets, include=("*",), max_new_urls_per_page=most)
        fresh = DiscoveredUrls()
        before, taken = taken, one.links(ORIGIN, links, fresh, taken, is_new_text=is_new_text)
        assert taken == 0 or taken >= before + most, "each visit goes on by as many links at least"
        kept |= {url_of_key(key) for key in fresh.packed()}
        visits += 1
    assert kept == set(urls)


def test_a_used_up_budget_lets_nothing_new_in() -> None:
    one = discovery(budgets=BudgetSettings(urls_per_host=2))
    assert found(one, "http://a/1", "http://a/2", "http://a/3") == ["http://a/1", "http://a/2"]


def test_beyond_the_greatest_depth_nothing_is_taken_up() -> None:
    one = discovery(max_depth=3)
    assert found(one, "http://a/1", origin=ORIGIN._replace(depth=3)) == ["http://a/1"]
    assert found(one, "http://a/1", origin=ORIGIN._replace(depth=4)) == []


def test_what_a_sitemap_lists_is_not_limited_by_page() -> None:
    fresh = DiscoveredUrls()
    discovery(max_new_urls_per_page=1).listed(ORIGIN, queries(1, 2), fresh)
    assert len(fresh) == 2


def test_finds_of_a_url_add_up() -> None:
    one = discovery()
    fresh = DiscoveredUrls()
    for number in range(9):
        origin = Origin(f"http://a/{number}", NOW + number, 5 - number % 3, 0.1 * (number % 4))
        one.links(origin, [("http://a/x", f"anchor {number % 2}")], fresh)
    ((_, merged),) = fresh.fresh()
    assert (merged.seen, merged.source, merged.depth) == (NOW, "http://a/2", 3)
    assert merged.score == pytest.approx(1.2)
    assert (merged.anchors, merged.anchor_weights) == (("anchor 0", "anchor 1"), (1 + 5, 1 + 4))


def test_links_to_what_a_crawl_looks_for_are_worth_more() -> None:
    one = discovery(focus=Focus(FocusSettings(terms=("sql",), weight=10.0)))
    fresh = DiscoveredUrls()
    assert one.relevance("http://a/", "SQL", "") == 1.0
    origin = Origin("http://a/", NOW, 1, 0.5)
    one.links(origin, [("http://a/x", "more"), ("http://a/y", "on SQL")], fresh, relevance=1.0)
    scores = {url_of_key(key): found.score for key, found in fresh.fresh()}
    assert scores == {"http://a/x": 0.5 * 6, "http://a/y": 0.5 * 11}


FRESH = st.builds(
    Fresh,
    seen=st.integers(NOW - 3, NOW),
    depth=st.integers(0, 3),
    score=st.sampled_from([0.0, 0.5, 1.0]),
    anchors=st.lists(st.sampled_from("abcdef"), max_size=3, unique=True).map(sorted).map(tuple),
    source=st.sampled_from(["", "http://a/", "http://b/"]),
)


@given(FRESH, FRESH, FRESH)
def test_finds_merge_in_any_order_as_entries_do(one: Fresh, two: Fresh, three: Fresh) -> None:
    merged = merge_fresh(merge_fresh(one, two), three)
    other_way = merge_fresh(three, merge_fresh(two, one))
    assert first_entry(merged, NOW) == first_entry(other_way, NOW)
    entries = merge_entries(first_entry(one, NOW), first_entry(two, NOW))
    assert set(discover(entries, merge_fresh(one, two), NOW).anchors) == set(entries.anchors)
    assert merge_entries(entries, first_entry(merge_fresh(one, two), NOW)).score == one.score + two.score


@given(st.lists(st.tuples(st.floats(0, 1000), st.integers(0, 300)), max_size=20), st.randoms())
def test_what_links_give_adds_up_to_the_same_in_any_order(
    pages: list[tuple[float, int]], chance: random.Random
) -> None:
    shares = [share_of(score, links) for score, links in pages]
    shuffled = chance.sample(shares, len(shares))
    assert sum(shares) == sum(shuffled)
    assert sum(shares[:7]) + sum(shares[7:]) == sum(shuffled)
