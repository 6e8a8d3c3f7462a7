from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from crawlctl.pipeline.webdb.entries import discover, first_entry, merge_entries
from crawlctl.pipeline.webdb.records import Fresh, Kind, Outcome, Status, WebEntry

entries = st.from_type(WebEntry)


@given(entries)
def test_merging_an_entry_with_itself_changes_nothing(one: WebEntry) -> None:
    assert merge_entries(one, one) == one


@given(entries, entries)
def test_the_order_of_two_entries_does_not_matter(one: WebEntry, two: WebEntry) -> None:
    assert merge_entries(one, two) == merge_entries(two, one)


@pytest.mark.parametrize("field", WebEntry.__struct_fields__)
def test_entries_that_differ_in_one_field_merge_the_same_either_way(field: str) -> None:
    kinds = {int: (3, 4), float: (0.5, 0.6), str: ("a", "b"), bytes: (b"a", b"b"), tuple: ((3,), (4,))}
    sample = WebEntry(Status.FETCHED, 1, 0.0, 1, 1, anchors=("a",))
    values = kinds.get(type(getattr(sample, field)), (Status.FETCHED, Status.GONE))
    if field == "anchors":
        values = (("a",), ("b",))
    one, two = (replace(sample, **{field: value}) for value in values)
    assert merge_entries(one, two) == merge_entries(two, one)


@given(entries, entries, entries)
def test_the_order_of_merging_does_not_matter(one: WebEntry, two: WebEntry, three: WebEntry) -> None:
    left = merge_entries(merge_entries(one, two), three)
    assert left == merge_entries(one, merge_entries(two, three))


@given(entries, entries)
def test_nothing_is_lost_and_nothing_made_up(one: WebEntry, two: WebEntry) -> None:
    both = merge_entries(one, two)
    assert both.first_seen == min(one.first_seen, two.first_seen)
    assert both.depth == min(one.depth, two.depth)
    assert both.score == max(one.score, two.score)
    assert both.last_fetched == max(one.last_fetched, two.last_fetched)
    assert both.last_tried == max(one.last_tried, two.last_tried)
    assert set(both.anchors) <= set(one.anchors) | set(two.anchors)
    for group in (
        ("status", "next_due", "interval", "tries", "code", "reason", "redirect_to"),
        ("last_fetched", "last_changed", "signature", "etag", "last_modified", "canonical"),
    ):
        values = [[getattr(entry, field) for field in group] for entry in (one, two, both)]
        assert values[2] in values[:2], "fields that belong together stay together"


def test_the_later_outcome_decides_the_state_and_the_later_fetch_the_document() -> None:
    fetched = WebEntry(
        Status.FETCHED, 90, 0.0, 0, 1, last_tried=20, last_fetched=20, signature=b"new", code=200
    )
    gone = WebEntry(Status.GONE, 80, 0.0, 0, 2, last_tried=30, last_fetched=10, signature=b"old", code=404)
    both = merge_entries(fetched, gone)
    assert (both.status, both.code, both.next_due, both.last_tried) == (Status.GONE, 404, 80, 30)
    assert (both.signature, both.last_fetched, both.first_seen) == (b"new", 20, 1)


def test_of_two_new_entries_the_sooner_due_wins() -> None:
    sooner, later = (WebEntry(Status.UNFETCHED, due, 0.0, 0, 5) for due in (5, 9))
    assert merge_entries(later, sooner).next_due == 5


@given(entries, st.from_type(Fresh), st.integers(0, 6))
def test_a_discovery_is_a_merge_with_a_new_entry(entry: WebEntry, fresh: Fresh, now: int) -> None:
    found = discover(entry, fresh, now)
    assert found == merge_entries(entry, first_entry(fresh, now))
    assert (found is entry) == (found == entry)
    assert discover(found, fresh, now) is found


def test_being_linked_does_not_wake_a_gone_page() -> None:
    gone = WebEntry(Status.GONE, 900, 0.0, 3, 1, last_tried=30)
    found = discover(gone, Fresh(40, depth=1, anchors=("news",), source="https://example.org/"), 50)
    assert found == replace(gone, depth=1, anchors=("news",), source="https://example.org/")


def test_the_source_is_the_page_nearest_to_a_seed_whichever_was_fetched_first() -> None:
    near, far = "https://example.org/near", "https://example.org/far"
    entry = first_entry(Fresh(10, depth=3, source=far), 50)
    entry = discover(entry, Fresh(12, depth=2, source=near + "/2"), 50)
    entry = discover(entry, Fresh(11, depth=2, source=near), 50)
    assert (entry.first_seen, entry.depth, entry.source) == (10, 2, near)
    assert discover(entry, Fresh(9, depth=0), 50).source == "", "a seed was found nowhere"


def test_the_archive_that_a_page_was_imported_from_stays_its_source() -> None:
    imported = WebEntry(Status.FETCHED, 90, 0.0, 1, 1, last_tried=20, source="warc:old.warc.gz")
    found = discover(imported, Fresh(9, depth=0), 50)
    assert (found.depth, found.source) == (0, "warc:old.warc.gz")
    assert discover(imported, Fresh(30, depth=1, source="https://a.org/"), 50) is imported


def test_a_new_url_is_due_at_once_even_if_the_clock_of_its_finder_runs_ahead() -> None:
    entry = first_entry(Fresh(10**12, depth=2, score=0.5, anchors=("b",), source="https://example.org/"), 50)
    assert (entry.status, entry.next_due, entry.first_seen) == (Status.UNFETCHED, 50, 50)
    assert (entry.depth, entry.score, entry.anchors, entry.source) == (2, 0.5, ("b",), "https://example.org/")


def test_an_unannounced_outcome_makes_an_entry_it_can_be_applied_to() -> None:
    entry = first_entry(Outcome(Kind.FETCHED, 40, depth=3), 50)
    assert entry == WebEntry(Status.UNFETCHED, next_due=40, score=0.0, depth=3, first_seen=40)
