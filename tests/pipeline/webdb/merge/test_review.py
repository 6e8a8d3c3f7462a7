"""What a round means for pages by what became of others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from crawlctl.pipeline.config.units import DAY, HOUR
from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.formats.sequencefile.block_body import Block
from crawlctl.pipeline.urls.hosts import url_of_key, webdb_key
from crawlctl.pipeline.webdb.merge.join import MergeCounts
from crawlctl.pipeline.webdb.merge.review import Review, review
from crawlctl.pipeline.webdb.records import Kind, Status, WebEntry
from crawlctl.tests.pipeline.webdb.small_part import (
    LATER,
    NOW,
    OTHER,
    POLICY,
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

A, B, C = key_of("a"), key_of("b"), key_of("c")
GONE = fetched(b"", Kind.GONE, code=410)


def naming(key: bytes, signature: bytes = SAME, **fields: object) -> WebEntry:
    """Return a live page that names another one."""
    return replace(known(signature, named=url_of_key(key), next_due=LATER), **fields)


def led_by(key: bytes, signature: bytes = SAME, **fields: object) -> WebEntry:
    """Return a duplicate."""
    led = known(signature, Status.DUPLICATE, canonical=url_of_key(key), etag='"v1"', next_due=LATER)
    return replace(led, **fields)


def is_due_whole(entry: WebEntry) -> bool:
    """Whether a duplicate is to be fetched at once, and without conditions."""
    return entry.status is Status.DUPLICATE and entry.next_due <= NOW and entry.validators == ("", "")


def test_a_page_gives_way_to_the_one_it_names_once_that_one_has_a_document() -> None:
    table = after({}, {A: fetched(SAME, named=url_of_key(B))})
    assert (table[A].status, table[A].named) == (Status.FETCHED, url_of_key(B))
    table = after(table | {A: naming(B)}, {B: fetched(OTHER)})
    assert (table[A].status, table[A].canonical) == (Status.DUPLICATE, url_of_key(B))
    assert table[A].next_due == LATER and table[B].live


def test_both_may_come_in_the_same_round() -> None:
    table = after({}, {A: fetched(SAME, named=url_of_key(B)), B: fetched(SAME)})
    assert (table[A].status, table[A].canonical) == (Status.DUPLICATE, url_of_key(B))
    assert table[B].live


@pytest.mark.parametrize(
    "target",
    [
        None,
        known(status=Status.UNFETCHED),
        known(status=Status.GONE),
        known(status=Status.FAILED),
        known(status=Status.EXCLUDED),
        known(status=Status.REDIRECTED, redirect_to=url_of_key(A)),
        known(b""),
    ],
    ids=lambda entry: entry.status.name if entry else "unknown",
)
def test_a_page_that_names_one_without_content_keeps_its_document(target: WebEntry | None) -> None:
    table = after({B: target} if target else {}, {A: fetched(SAME, named=url_of_key(B)), C: fetched(OTHER)})
    assert table[A].status is Status.FETCHED


def test_a_page_gives_no_way_to_one_without_words_that_comes_in_the_same_round() -> None:
    table = after({}, {A: fetched(SAME, named=url_of_key(B)), B: fetched(b"")})
    assert table[A].live and table[B].live
    table = after(table, {B: fetched(OTHER, fetched_at=NOW + 1)}, now=NOW + 1)
    assert table[A].canonical == url_of_key(B)


def test_a_page_without_words_gives_way_to_any_that_has_a_document() -> None:
    table = after({}, {A: fetched(b"", named=url_of_key(B)), B: fetched(b"")})
    assert (table[A].status, table[A].canonical) == (Status.DUPLICATE, url_of_key(B))


def test_in_a_circle_a_page_with_words_leads_before_a_shorter_one_without() -> None:
    long = key_of("longer")
    table = after({}, {long: fetched(SAME, named=url_of_key(A)), A: fetched(b"", named=url_of_key(long))})
    assert table[long].live and table[A].canonical == url_of_key(long)


def test_a_page_is_asked_for_again_when_the_one_it_gave_way_to_loses_its_words() -> None:
    before = {A: known(), B: led_by(A, OTHER, named=url_of_key(A))}
    assert is_due_whole(after(before, {A: fetched(b"")})[B])


def test_of_pages_that_name_each_other_the_one_with_the_shortest_url_leads() -> None:
    long = key_of("longer")
    table = after({}, {long: fetched(SAME, named=url_of_key(A)), A: fetched(OTHER, named=url_of_key(long))})
    assert table[A].live
    assert (table[long].status, table[long].canonical) == (Status.DUPLICATE, url_of_key(A))


def test_a_page_that_gives_way_leads_no_equal_pages() -> None:
    short, plain = key_of(""), key_of("plain")
    changes = {short: fetched(SAME, named=url_of_key(B)), plain: fetched(SAME), B: fetched(OTHER)}
    table = after({}, changes)
    assert table[plain].live and table[short].canonical == url_of_key(B)


def test_a_page_that_names_nothing_live_has_equals_like_any_other() -> None:
    plain = key_of("plain")
    table = after({}, {A: fetched(SAME, named=url_of_key(B)), plain: fetched(SAME)})
    assert table[A].live and (table[plain].canonical, table[plain].named) == (url_of_key(A), "")
    table = after({plain: known()}, {A: fetched(SAME, named=url_of_key(B))})
    assert (table[A].canonical, table[A].named) == (url_of_key(plain), url_of_key(B))


ENDS = {
    "gone": GONE,
    "other words": fetched(OTHER),
    "noindex": fetched(SAME, Kind.NOINDEX),
    "a redirect": fetched(b"", Kind.MOVED, target=url_of_key(C)),
    "excluded": fetched(b"", Kind.EXCLUDED),
}


@pytest.mark.parametrize("news", ENDS.values(), ids=ENDS)
@pytest.mark.parametrize("interval", [7 * DAY, HOUR])
def test_when_a_leader_of_equals_changes_or_goes_its_duplicates_fall_due_at_once(
    news: object, interval: int
) -> None:
    counts = MergeCounts()
    before = {A: known(interval=interval), B: led_by(A), C: led_by(A, links_taken=0)}
    table = after(before, {A: news}, counts)  # type: ignore[dict-item]  # outcomes
    assert is_due_whole(table[B]) and is_due_whole(table[C])
    assert (counts.new, counts.updated, counts.untouched) == (0, 3, 0)


@pytest.mark.parametrize(
    "news", [fetched(SAME), fetched(b"", Kind.NOT_MODIFIED), fetched(b"", Kind.FAILED, code=503)]
)
def test_while_a_leader_stands_its_duplicates_stay_as_they_are(news: object) -> None:
    before = {A: known(), B: led_by(A)}
    assert after(before, {A: news, C: fetched(OTHER)})[B] == before[B]  # type: ignore[dict-item]  # outcomes


def test_a_page_may_change_behind_those_that_name_it() -> None:
    before = {A: known(), B: led_by(A, OTHER, named=url_of_key(A))}
    assert after(before, {A: fetched(b"x" * 16)})[B] == before[B]
    assert is_due_whole(after(before, {A: GONE})[B])


def test_a_duplicate_that_is_confirmed_while_its_leader_goes_is_asked_for_once_more() -> None:
    table = after({A: known(), B: led_by(A)}, {A: GONE, B: fetched(b"", Kind.NOT_MODIFIED, code=304)})
    assert is_due_whole(table[B]) and table[B].code == 304


def test_a_duplicate_that_is_left_alone_is_told_so_once() -> None:
    table = after({A: known(), B: led_by(A)}, {A: GONE})
    failed = fetched(b"", Kind.FAILED, code=503, fetched_at=NOW + 1)
    table = after(table, {B: failed}, now=NOW + HOUR)
    assert table[B].next_due > NOW + HOUR // 2, "while it fails it is asked for as other failing pages are"


def test_a_failing_duplicate_that_is_left_alone_keeps_its_back_off() -> None:
    assert after({A: known(), B: led_by(A, tries=2)}, {A: GONE})[B].next_due == LATER


def test_a_chain_of_names_may_lose_its_end() -> None:
    before = {A: led_by(B, named=url_of_key(B)), B: led_by(C, named=url_of_key(C)), C: known()}
    assert after(before, {key_of("else"): fetched(OTHER)}) | before == after(
        before, {key_of("else"): fetched(OTHER)}
    )
    table = after(before, {C: GONE})
    assert is_due_whole(table[A]) and is_due_whole(table[B])
    again = {
        key: fetched(SAME, named=entry.named, fetched_at=NOW + 1) for key, entry in table.items() if key < C
    }
    table = after(table, again, now=NOW + 2)
    assert table[B].live and (table[A].status, table[A].canonical) == (Status.DUPLICATE, url_of_key(B))


def test_a_duplicate_that_names_a_page_follows_it_once_that_page_has_a_document() -> None:
    before = {A: known(), B: led_by(A, named=url_of_key(C))}
    table = after(before, {A: GONE, C: fetched(OTHER)})
    assert (table[B].status, table[B].canonical, table[B].next_due) == (
        Status.DUPLICATE,
        url_of_key(C),
        LATER,
    )


def test_pages_that_an_older_release_has_lost_come_back() -> None:
    lost = known(status=Status.DUPLICATE, canonical=url_of_key(B), redirect_to=url_of_key(B), etag='"v"')
    table = after({A: replace(lost, next_due=LATER), B: known(status=Status.GONE)}, {C: fetched(OTHER)})
    assert is_due_whole(table[A])
    table = after(table, {A: fetched(SAME, named=url_of_key(B), fetched_at=NOW + 1)}, now=NOW + 2)
    assert (table[A].status, table[A].redirect_to) == (Status.FETCHED, "")


def test_a_round_of_304s_does_not_read_the_old_part() -> None:
    outcomes = [(A, fetched(b"", Kind.NOT_MODIFIED))]
    assert review([Block(0, [b"x"], [b"junk"])], outcomes, now=NOW, settings=POLICY) == Review()


def test_a_damaged_part_is_named() -> None:
    with pytest.raises(CorruptFile, match=r"part-7.*byte 9"):
        review([Block(9, [b"x"], [b"\xdc"])], [(A, fetched())], now=NOW, settings=POLICY, name="part-7")


keys = st.builds(key_of, st.text("ab", max_size=2), st.sampled_from(["a.example", "bb.example"]))
urls = st.one_of(st.just(""), st.builds(url_of_key, keys))
signatures = st.sampled_from([b"", SAME, OTHER])
entries = st.builds(
    known,
    signatures,
    st.sampled_from(Status),
    interval=st.sampled_from([HOUR, 7 * DAY]),
    named=urls,
    canonical=urls,
    tries=st.integers(0, 1),
)
outcomes = st.builds(
    fetched,
    signatures,
    st.sampled_from([Kind.FETCHED, *(kind for kind in Kind if kind is not Kind.DUPLICATE)]),
    fetched_at=st.integers(NOW - HOUR, NOW),
    named=urls,
)
tables = st.dictionaries(keys, entries, max_size=8)
rounds = st.dictionaries(keys, outcomes, max_size=8)


def tidy(table: Table, changes: Round) -> tuple[Table, Round]:
    """Leave out what no crawl has: pages that name or lead themselves, or name one without having content."""
    for key, entry in table.items():
        own = url_of_key(key)
        named = "" if entry.named == own else entry.named
        leader = "" if entry.canonical == own or entry.live else entry.canonical
        table[key] = replace(entry, named=named, canonical=leader)
    for key, outcome in changes.items():
        names = outcome.kind is Kind.FETCHED and outcome.named != url_of_key(key)
        changes[key] = replace(outcome, named=outcome.named if names else "")
    return table, changes


def stands_for(table: Table, key: bytes) -> WebEntry | None:
    """Return the page at the end of the way of a duplicate, if it is live."""
    seen: set[bytes] = set()
    while key in table and key not in seen:
        seen.add(key)
        if table[key].status is not Status.DUPLICATE:
            return table[key] if table[key].live else None
        if not table[key].canonical:
            return None
        key = webdb_key(table[key].canonical)
    return None


@given(tables, rounds)
def test_every_page_that_was_fetched_is_live_or_stood_for_and_no_duplicate_waits_for_nothing(
    table: Table, changes: Round
) -> None:
    table, changes = tidy(table, changes)
    if all(outcome.kind is Kind.NOT_MODIFIED for outcome in changes.values()):
        return  # nothing is looked at where nothing can have changed
    merged = after(table, changes)
    for key, entry in merged.items():
        if key in changes and changes[key].kind is Kind.FETCHED:
            assert entry.live or stands_for(merged, key) is not None
        if entry.status is Status.DUPLICATE and entry.canonical:
            assert stands_for(merged, key) is not None
        if entry.live and entry.named and key in changes:
            named = merged.get(webdb_key(entry.named))
            can_stand = named is not None and named.live and (named.signature or not entry.signature)
            assert not can_stand or _names_lead_back(merged, key)


def _names_lead_back(table: Table, key: bytes) -> bool:
    """Whether the names lead from a page back to it."""
    at, seen = key, set()
    while at in table and at not in seen and table[at].named:
        seen.add(at)
        at = webdb_key(table[at].named)
    return at == key


@given(tables, rounds, st.randoms(use_true_random=False))
def test_nothing_depends_on_the_order_of_fetching(table: Table, changes: Round, random: Random) -> None:
    table, changes = tidy(table, changes)
    later = {
        key: replace(outcome, fetched_at=random.randint(NOW - HOUR, NOW)) for key, outcome in changes.items()
    }
    once, again = after(table, changes), after(table, later)
    for key, entry in once.items():
        assert (entry.status, entry.canonical) == (again[key].status, again[key].canonical)


@given(tables, rounds)
def test_a_second_look_changes_nothing(table: Table, changes: Round) -> None:
    table, changes = tidy(table, changes)
    merged = after(table, changes)
    assert after(merged, changes) == merged
