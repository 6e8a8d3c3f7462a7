from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.config.settings import RecrawlSettings
from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.formats.sequencefile.block_body import Block
from crawlctl.pipeline.webdb.entries import discover, first_entry, merge_fresh
from crawlctl.pipeline.webdb.life import next_state
from crawlctl.pipeline.webdb.merge.join import MAX_ROWS, MergeCounts, part_changes
from crawlctl.pipeline.webdb.records import Fresh, Kind, Outcome, Status, WebEntry, decode_entry, encode
from crawlctl.tests.pipeline.webdb.small_part import next_rows

NOW = 5
POLICY = RecrawlSettings()

keys = st.integers(0, 30).map(lambda n: b"h%d.example http://h%d.example/%d" % (n // 7, n // 7, n))
tables = st.dictionaries(keys, st.from_type(WebEntry), max_size=25)
discoveries = st.lists(st.tuples(keys, st.from_type(Fresh)), max_size=25)
reports = st.lists(st.tuples(keys, st.from_type(Outcome)), max_size=25)


def blocks_of(table: dict[bytes, WebEntry], size: int) -> list[Block]:
    rows = [(key, encode(table[key])) for key in sorted(table)]
    parts = [rows[start : start + size] for start in range(0, len(rows), size)]
    return [
        Block(offset, [key for key, _ in part], [value for _, value in part])
        for offset, part in enumerate(parts)
    ]


def merged(
    blocks: list[Block], fresh: list[tuple[bytes, Fresh]], outcomes: list[tuple[bytes, Outcome]]
) -> tuple[list[tuple[bytes, bytes]], MergeCounts]:
    counts = MergeCounts()
    fresh = sorted(fresh, key=lambda row: row[0])
    outcomes = sorted(outcomes, key=lambda row: row[0])
    changes = list(part_changes(blocks, fresh, outcomes, now=NOW, settings=POLICY, counts=counts))
    rows = next_rows(blocks, changes)
    kept = [value for changed in changes for value in changed.kept]
    assert sorted(value for _, value in rows) == sorted(
        kept + [value for changed in changes for value in changed.values]
    )
    return rows, counts


def expected(
    table: dict[bytes, WebEntry], fresh: list[tuple[bytes, Fresh]], outcomes: list[tuple[bytes, Outcome]]
) -> dict[bytes, WebEntry]:
    """The same by way of a dictionary: what was found of a URL together, then one outcome after the other."""
    table = dict(table)
    joined: dict[bytes, Fresh] = {}
    for key, found in fresh:
        joined[key] = merge_fresh(joined[key], found) if key in joined else found
    for key, found in joined.items():
        table[key] = discover(table[key], found, NOW) if key in table else first_entry(found, NOW)
    for key, outcome in sorted(outcomes, key=lambda row: row[1].fetched_at):
        table[key] = next_state(table.get(key) or first_entry(outcome, NOW), outcome, NOW, POLICY, key)
    return table


@given(tables, discoveries, reports, st.integers(1, 9))
def test_a_pass_does_what_one_event_after_the_other_does(
    table: dict[bytes, WebEntry],
    fresh: list[tuple[bytes, Fresh]],
    outcomes: list[tuple[bytes, Outcome]],
    size: int,
) -> None:
    rows, counts = merged(blocks_of(table, size), fresh, outcomes)
    wanted = expected(table, fresh, outcomes)
    assert all(one < two for (one, _), (two, _) in pairwise(rows))
    assert {key: decode_entry(value) for key, value in rows} == wanted
    changed = sum(wanted[key] != entry for key, entry in table.items())
    assert counts == MergeCounts(len(wanted) - len(table), changed, len(table) - changed)


@given(tables, discoveries, reports)
def test_a_pass_repeated_changes_nothing(
    table: dict[bytes, WebEntry], fresh: list[tuple[bytes, Fresh]], outcomes: list[tuple[bytes, Outcome]]
) -> None:
    once, _ = merged(blocks_of(table, 4), fresh, outcomes)
    block = Block(0, [key for key, _ in once], [value for _, value in once])
    again, counts = merged([block], fresh, outcomes)
    assert again == once
    assert (counts.new, counts.updated) == (0, 0)


def test_untouched_values_are_not_even_decoded() -> None:
    block = Block(
        0, [b"a.example http://a.example/1", b"a.example http://a.example/3"], [b"not msgpack", b"nor this"]
    )
    rows, counts = merged([block], [(b"a.example http://a.example/2", Fresh(1))], [])
    assert [value for _, value in rows][::2] == [b"not msgpack", b"nor this"]
    assert counts == MergeCounts(new=1, untouched=2)


def test_the_old_block_is_left_as_it_was() -> None:
    table = {
        b"a.example http://a.example/%d" % number: WebEntry(Status.UNFETCHED, 1, 0.0, 0, 1)
        for number in (1, 3)
    }
    (block,), (before,) = blocks_of(table, 2), blocks_of(table, 2)
    rows, _ = merged(
        [block],
        [(b"a.example http://a.example/2", Fresh(1))],
        [(key, Outcome(Kind.FETCHED, 2)) for key in table],
    )
    assert block == before
    assert [decode_entry(value).status for _, value in rows] == [
        Status.FETCHED,
        Status.UNFETCHED,
        Status.FETCHED,
    ]


def test_a_touched_value_that_is_damaged_names_file_and_block() -> None:
    key = b"a.example http://a.example/"
    changes = part_changes(
        [Block(77, [key], [b"junk"])],
        [(key, Fresh(1))],
        [],
        now=NOW,
        settings=POLICY,
        counts=MergeCounts(),
        name="webdb/00003/data",
    )
    with pytest.raises(CorruptFile, match="webdb/00003/data: damaged at byte 77"):
        list(changes)


def test_a_flood_of_new_urls_comes_out_in_bounded_blocks() -> None:
    names = [b"a.example http://a.example/%06d" % number for number in range(3 * MAX_ROWS)]
    old = Block(0, names[-1:], [encode(WebEntry(Status.GONE, 1, 0.0, 0, 1))])
    for blocks in ([old], []):
        changes = list(
            part_changes(
                blocks,
                ((name, Fresh(1)) for name in names),
                [],
                now=NOW,
                settings=POLICY,
                counts=MergeCounts(),
            )
        )
        assert max(len(changed.keys) for changed in changes) == MAX_ROWS
        assert [key for key, _ in next_rows(blocks, changes)] == names


@pytest.mark.parametrize("known", [[], [b"b.example http://b.example/"]])
def test_unsorted_input_is_refused(known: list[bytes]) -> None:
    blocks = [Block(0, known, [encode(WebEntry(Status.GONE, 1, 0.0, 0, 1))])] if known else []
    outcomes = [
        (b"b.example http://b.example/", Outcome(Kind.FETCHED, 1)),
        (b"a.example http://a.example/", Outcome(Kind.FETCHED, 1)),
    ]
    with pytest.raises(ValueError, match="sort discoveries and outcomes"):
        list(part_changes(blocks, [], outcomes, now=NOW, settings=POLICY, counts=MergeCounts()))
