from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from crawlctl.pipeline.config.units import DAY, HOUR
from crawlctl.pipeline.urls.hosts import url_of_key, webdb_key
from crawlctl.pipeline.webdb.records import Kind, Outcome, Status
from crawlctl.tests.pipeline.webdb.small_part import (
    NOW,
    OTHER,
    SAME,
    Round,
    Table,
    after,
    fetched,
    key_of,
    known,
)

if TYPE_CHECKING:
    from random import Random


def leads(table: Table, leader: bytes, *others: bytes) -> None:
    assert table[leader].live
    for key in others:
        assert (table[key].status, table[key].canonical) == (Status.DUPLICATE, url_of_key(leader))


def test_of_new_pages_the_one_with_the_shortest_url_leads_then_the_first_by_bytes() -> None:
    long, second, first = key_of("long", "a.example"), key_of("b", "b.example"), key_of("a", "b.example")
    leads(after({}, {long: fetched(), second: fetched(), first: fetched()}), first, long, second)


def test_pages_that_differ_all_lead_themselves() -> None:
    table = after({}, {key_of("1"): fetched(SAME), key_of("2"): fetched(OTHER)})
    assert all(entry.live for entry in table.values())


def test_pages_without_words_are_like_none() -> None:
    table = after({key_of("0"): known(b"")}, {key_of("1"): fetched(b""), key_of("2"): fetched(b"")})
    assert all(entry.live for entry in table.values())


# What a round may tell of the leader of before, and whether it leads on.
NEWS = {
    "nothing": (None, True),
    "a 304": (fetched(b"", Kind.NOT_MODIFIED), True),
    "the same": (fetched(), True),
    "a time-out": (fetched(b"", Kind.FAILED, code=0), True),
    "a first 404": (fetched(b"", Kind.GONE, code=404), True),
    "other words": (fetched(OTHER), False),
    "a 410": (fetched(b"", Kind.GONE, code=410), False),
    "noindex": (fetched(SAME, Kind.NOINDEX), False),
    "a redirect": (fetched(b"", Kind.FOUND, target="http://a.example/x"), False),
}


@pytest.mark.parametrize(("news", "leads_on"), NEWS.values(), ids=NEWS)
@pytest.mark.parametrize("interval", [7 * DAY, HOUR])
def test_a_live_page_of_earlier_rounds_leads_while_it_says_the_same(
    news: Outcome | None, leads_on: bool, interval: int
) -> None:
    unchanged, newcomer = key_of("a-long-name"), key_of("n")
    changes = {newcomer: fetched()} | ({unchanged: news} if news else {})
    table = after({unchanged: known(interval=interval)}, changes)
    if leads_on:
        leads(table, unchanged, newcomer)
    else:
        assert table[newcomer].live and not (table[unchanged].live and table[unchanged].signature == SAME)


def test_a_page_that_lost_its_leader_leads_itself() -> None:
    leader, led = key_of("1"), key_of("led")
    before = {leader: known(OTHER), led: known(status=Status.DUPLICATE, canonical=url_of_key(leader))}
    assert after(before, {led: fetched()})[led].status is Status.FETCHED


keys = st.builds(key_of, st.text("abc", max_size=2), st.sampled_from(["a.example", "bb.example"]))
signatures = st.sampled_from([b"", SAME, OTHER, b"x"])
tables = st.dictionaries(
    keys,
    st.builds(known, signatures, st.sampled_from(Status), interval=st.sampled_from([HOUR, 7 * DAY])),
    max_size=8,
)
rounds = st.dictionaries(
    keys,
    st.builds(fetched, signatures, st.sampled_from(Kind), fetched_at=st.integers(NOW - HOUR, NOW)),
    max_size=8,
)


@given(tables, rounds)
def test_every_page_that_was_fetched_is_in_the_index_or_led_by_one_that_is(
    table: Table, changes: Round
) -> None:
    merged = after(table, changes)
    for key, outcome in changes.items():
        if outcome.kind is not Kind.FETCHED:
            continue
        entry = merged[key]
        leader = entry if entry.live else merged[webdb_key(entry.canonical)]
        assert leader.live and leader.signature == entry.signature == outcome.signature
        if entry.live and entry.signature:
            equals = [
                other for other in merged if merged[other].live and merged[other].signature == entry.signature
            ]
            assert not (set(equals) & {other for other in changes if changes[other].kind is Kind.FETCHED}) - {
                key
            }


@given(tables, rounds, st.randoms(use_true_random=False))
def test_who_leads_does_not_depend_on_the_order_of_fetching(
    table: Table, changes: Round, random: Random
) -> None:
    later = {
        key: replace(outcome, fetched_at=random.randint(NOW - HOUR, NOW)) for key, outcome in changes.items()
    }
    once, again = after(table, changes), after(table, later)
    for key, entry in once.items():
        assert (entry.status, entry.canonical) == (again[key].status, again[key].canonical)
