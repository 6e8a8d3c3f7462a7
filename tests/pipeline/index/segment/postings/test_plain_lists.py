from __future__ import annotations

import random
import subprocess
import sys
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from isal import isal_zlib
from msgspec.structs import replace

from crawlctl.pipeline.arrays.byte_strings import strings_of
from crawlctl.pipeline.arrays.ragged import starts_of
from crawlctl.pipeline.formats.window import Window
from crawlctl.pipeline.index.segment.postings.array_lists import documents_array, positions_array
from crawlctl.pipeline.index.segment.postings.bulk_lists import TermInfos, read_rated_lists
from crawlctl.pipeline.index.segment.postings.list_writer import pack_lists
from crawlctl.pipeline.index.segment.postings.plain_lists import (
    DEFLATED,
    PackedList,
    decode_documents,
    decode_positions,
    positions_of_some,
)
from crawlctl.pipeline.index.segment.postings.short_numbers import MAX_NUMBER
from crawlctl.pipeline.index.segment.term_info import pack_term_infos
from crawlctl.tests.bytes_source import BytesSource
from crawlctl.tests.pipeline.index.segment.postings.list_columns import lists_from, packed_lists

if TYPE_CHECKING:
    from crawlctl.pipeline.index.segment.postings.posting_arrays import Lists

LARGEST = (1 << 24) - 2


class Posting(NamedTuple):
    impact: int
    mask: int
    positions: tuple[int, ...]


Plain = dict[int, Posting]

numbers = st.one_of(st.integers(0, 5), st.integers(0, 600), st.integers(0, LARGEST))
octets = st.integers(0, 255)
some_positions = st.lists(numbers, min_size=1, max_size=8, unique=True).map(lambda found: (*sorted(found),))
one_mask = st.builds(Posting, octets, st.just(1), some_positions)
postings = st.builds(Posting, octets, octets, some_positions)
small = st.one_of(
    st.dictionaries(numbers, postings, min_size=1, max_size=8),
    st.dictionaries(numbers, one_mask, min_size=1, max_size=8),
)


def large(seed: int) -> Plain:
    """Return a list that is deflated."""
    drawn = random.Random(seed)
    step = drawn.choice([2, 300, 100_000])
    return {
        ordinal: Posting(drawn.randrange(256), drawn.choice([1, 5]), (*range(drawn.choice([1, 1, 300])),))
        for ordinal in drawn.sample(range(300 * step), 300)
        if ordinal <= LARGEST
    }


plain_lists = st.one_of(small, st.integers().map(large)).map(lambda found: dict(sorted(found.items())))


def lists_of(plain: list[Plain]) -> Lists:
    held = [posting for found in plain for posting in found.values()]
    columns = (
        [*map(len, plain)],
        [document for found in plain for document in found],
        [len(posting.positions) for posting in held],
        [position for posting in held for position in posting.positions],
    )
    return lists_from(*(np.array(column, np.int64) for column in columns))


def rated(plain: list[Plain]) -> Lists:
    held = [posting for found in plain for posting in found.values()]
    impacts = np.array([posting.impact for posting in held], np.uint8)
    masks = np.array([posting.mask for posting in held], np.uint8)
    return lists_of(plain)._replace(ratings=(impacts, masks))


def packed(plain: list[Plain]) -> list[PackedList]:
    return packed_lists(rated(plain))


def read(part: PackedList) -> Plain:
    documents = decode_documents(part.documents, part.count)
    positions = decode_positions(part.positions, part.count)
    assert len(positions) == len(documents.ordinals) == part.count
    assert [positions[place] for place in range(part.count)] == list(positions)
    columns = zip(*documents, map(tuple, positions), strict=True)
    return {ordinal: Posting(impact, mask, places) for ordinal, impact, mask, places in columns}


def read_arrays(part: PackedList) -> Plain:
    ordinals, impacts, masks = documents_array(part.documents, part.count)
    frequencies, flat = positions_array(part.positions, part.count)
    assert frequencies.sum() == len(flat)
    places = np.split(flat, np.cumsum(frequencies)[:-1])
    columns = zip(ordinals.tolist(), impacts.tolist(), masks.tolist(), places, strict=True)
    return {ordinal: Posting(impact, mask, (*held.tolist(),)) for ordinal, impact, mask, held in columns}


def read_at_once(parts: list[PackedList], documents: int = MAX_NUMBER + 1) -> Lists:
    """Read lists that all lie in `postings`, however short they are."""
    rows = [(part.count, len(part.documents), len(part.positions)) for part in parts]
    counts, first, second = np.array(rows, np.int64).T
    infos = TermInfos(strings_of([b""] * len(parts)), counts, starts_of(first + second), first, second)
    body = b"".join(part.documents + part.positions for part in parts)
    return read_rated_lists(infos, Window(BytesSource(body), len(body)), documents)


def equal(one: Lists, other: Lists) -> bool:
    return all(map(np.array_equal, (*one[:4], *one.ratings), (*other[:4], *other.ratings)))


@settings(deadline=None)
@given(st.lists(plain_lists, max_size=5))
def test_all_decoders_give_back_what_was_encoded(plain: list[Plain]) -> None:
    parts = packed(plain)
    assert [part.count for part in parts] == [*map(len, plain)]
    assert [part.max_impact for part in parts] == [
        max(posting.impact for posting in found.values()) for found in plain
    ]
    assert [read(part) for part in parts] == [read_arrays(part) for part in parts] == plain
    assert not parts or equal(read_at_once(parts), rated(plain))


@settings(deadline=None)
@given(plain_lists, st.data())
def test_positions_of_some_documents_are_those_of_all(plain: Plain, data: st.DataObject) -> None:
    (part,) = packed([plain])
    chosen = sorted(data.draw(st.sets(st.integers(0, len(plain) - 1))))
    held = [list(posting.positions) for posting in plain.values()]
    assert list(positions_of_some(part.positions, part.count, chosen)) == [held[index] for index in chosen]
    with pytest.raises(ValueError, match="posting list"):
        list(positions_of_some(part.positions[:-1], part.count, range(part.count)))


@settings(deadline=None)
@given(st.lists(plain_lists, max_size=5), st.integers(0, 2**40))
def test_term_infos_are_packed_at_once_as_one_by_one(plain: list[Plain], offset: int) -> None:
    values, parts = pack_lists(rated(plain), offset)
    expected, expected_parts = pack_term_infos(packed(plain), offset)
    assert values.tolist() == expected
    assert b"".join(parts) == b"".join(expected_parts)


def test_a_list_that_is_short_once_deflated_is_packed_as_such() -> None:
    often = {3: Posting(5, 1, (*range(5000),))}
    plain: list[Plain] = [{1: Posting(1, 1, (2,))}, often, {n: Posting(1, 1, (n,)) for n in range(9)}, often]
    values, parts = pack_lists(rated(plain), 77)
    expected, expected_parts = pack_term_infos(packed(plain), 77)
    assert values.tolist() == expected
    assert b"".join(parts) == b"".join(expected_parts)
    assert [value[0] for value in values] == [1, 1, 0, 1]


def damaged(part: bytes, noise: bytes, place: int) -> list[bytes]:
    return [noise, part[:place] + noise + part[place + len(noise) :], part[:place], part + noise]


@settings(deadline=None)
@given(plain_lists, st.binary(max_size=12), st.integers(0, 60), st.integers(-1, 3))
def test_all_decoders_judge_damage_alike(plain: Plain, noise: bytes, place: int, more: int) -> None:
    (sound,) = packed([plain])
    hurt = [replace(sound, documents=part) for part in damaged(sound.documents, noise, place)]
    hurt += [replace(sound, positions=part) for part in damaged(sound.positions, noise, place)]
    hurt.append(replace(sound, count=sound.count + more))
    for part in hurt:
        try:
            found = read(part)
        except ValueError:
            with pytest.raises(ValueError, match=r"posting list|positions"):
                read_arrays(part)
            with pytest.raises(ValueError, match=r"posting list|positions"):
                read_at_once([sound, part])
        else:
            assert read_arrays(part) == found
            assert equal(read_at_once([part, sound]), rated([found, plain]))


@settings(deadline=None)
@given(st.binary(max_size=200), octets, st.integers(1, 500))
def test_a_deflated_body_of_whatever_bytes_is_a_list_or_damage(body: bytes, head: int, count: int) -> None:
    noise = bytes([head | DEFLATED]) + isal_zlib.compress(body, 1, -15)
    for part in (PackedList(count, 255, noise, b"\1\1"), PackedList(1, 255, b"\1\1\1\1", noise)):
        try:
            found = read(part)
        except ValueError:
            with pytest.raises(ValueError, match=r"posting list|positions"):
                read_arrays(part)
            with pytest.raises(ValueError, match=r"posting list|positions"):
                read_at_once([part])
        else:
            assert read_arrays(part) == found
            assert equal(read_at_once([part]), rated([found]))


def test_the_layout_is_as_documented() -> None:
    plain = {3: Posting(9, 1, (7,)), 0x204: Posting(8, 5, (0, 0x20000A))}
    (part,) = packed([plain])
    assert (part.count, part.max_impact) == (2, 9)
    assert part.documents == bytes([0]) + bytes([4, 225, 0x201 - 0x1E0]) + bytes([9, 8]) + bytes([1, 5])
    assert part.positions == bytes([0]) + bytes([1, 2]) + bytes([8, 1, 255]) + bytes([0x0A, 0, 0x20])


def test_a_term_that_stands_once_takes_four_and_two_bytes() -> None:
    (part,) = packed([{5: Posting(70, 1, (9,))}])
    assert (part.documents, part.positions) == (bytes([1, 6, 70, 1]), bytes([1, 10]))


@pytest.mark.parametrize("number", [1, 223, 224, 225, 8159, 8160, LARGEST + 1])
def test_numbers_of_every_size_come_back(number: int) -> None:
    plain = {number - 1: Posting(1, 1, (number - 1,))}
    (part,) = packed([plain])
    assert read(part) == read_arrays(part) == plain
    assert equal(read_at_once([part, part]), rated([plain, plain]))


def test_large_lists_are_deflated_where_that_takes_less_room() -> None:
    alike = {ordinal: Posting(7, 1, (3,)) for ordinal in range(5000)}
    drawn = random.Random(1)
    unlike = {
        ordinal: Posting(drawn.randrange(256), 1, (drawn.randrange(250),)) for ordinal in range(0, 5000, 9)
    }
    same, different = packed([alike, unlike])
    assert same.documents[0] & DEFLATED
    assert len(same.documents) + len(same.positions) < 300
    assert not different.positions[0] & DEFLATED


@pytest.mark.parametrize("claim", [7, 1 << 20, 1 << 90])
def test_damage_cannot_claim_more_than_the_bytes_there_are(claim: int) -> None:
    deflated = bytes([DEFLATED]) + isal_zlib.compress(b"\xff" * 6 + bytes(18), 1, -15)
    for documents, positions in ((b"\1\1\1\1", b"\1\1"), (deflated, deflated)):
        for read_part, part in (
            (decode_documents, documents),
            (documents_array, documents),
            (decode_positions, positions),
            (positions_array, positions),
        ):
            with pytest.raises(ValueError, match=r"ends before|a posting list of"):
                read_part(part, claim)


def test_a_body_that_inflates_beyond_what_its_count_allows_is_damage() -> None:
    bomb = isal_zlib.compress(bytes(1 << 20), 1, -15)
    (sound,) = packed([{number: Posting(1, 1, (0,)) for number in range(3)}])
    for head in (DEFLATED, DEFLATED | 1):
        part = bytes([head]) + bomb
        for hurt in (replace(sound, documents=part), replace(sound, positions=part)):
            with pytest.raises(ValueError, match="inflates to more"):
                read_at_once([sound, hurt])
        for read_part in (decode_documents, documents_array, decode_positions, positions_array):
            with pytest.raises(ValueError, match="inflates to more"):
                read_part(part, 3)


def test_a_document_that_the_segment_does_not_have_is_damage() -> None:
    (part,) = packed([{5: Posting(1, 1, (0,))}])
    assert decode_documents(part.documents, 1, 6).ordinals == [5]
    for refuse in (
        lambda: decode_documents(part.documents, 1, 5),
        lambda: documents_array(part.documents, 1, 5),
        lambda: read_at_once([part], 5),
    ):
        with pytest.raises(ValueError, match="names"):
            refuse()


@pytest.mark.parametrize(
    "wrong",
    [
        lists_from(*map(np.array, ([2], [4, 4], [1, 1], [0, 0]))),
        lists_from(*map(np.array, ([1], [4], [2], [3, 3]))),
        lists_from(*map(np.array, ([1], [LARGEST + 1], [1], [0]))),
        lists_from(*map(np.array, ([1], [0], [1], [LARGEST + 1]))),
        lists_from(*map(np.array, ([0, 1], [0], [1], [0]))),
    ],
)
def test_what_cannot_be_read_back_is_not_written(wrong: Lists) -> None:
    octet = np.ones(len(wrong.documents), np.uint8)
    with pytest.raises(ValueError, match=r"rise or reach|without documents"):
        pack_lists(wrong._replace(ratings=(octet, octet)), 0)


def test_plain_reading_does_without_numpy() -> None:
    program = """
import sys
from crawlctl.pipeline.index.segment.postings.plain_lists import decode_documents, decode_positions
assert decode_documents(bytes([1, 6, 70, 1]), 1).ordinals == [5]
assert decode_positions(bytes([1, 10]), 1)[0] == [9]
assert "numpy" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)
