from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlctl.pipeline.arrays.byte_strings import strings_of
from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.formats.window import Window
from crawlctl.pipeline.index.segment.postings.array_lists import (
    documents_array,
    documents_arrays,
    positions_array,
    positions_arrays,
)
from crawlctl.pipeline.index.segment.postings.bulk_lists import (
    read_lists,
    read_rated_lists,
    read_term_infos,
)
from crawlctl.pipeline.index.segment.postings.list_writer import pack_lists
from crawlctl.pipeline.index.segment.postings.posting_arrays import Lists
from crawlctl.pipeline.index.segment.postings.short_numbers import MAX_NUMBER
from crawlctl.pipeline.index.segment.term_info import decode_term_info
from crawlctl.tests.bytes_source import BytesSource
from crawlctl.tests.pipeline.index.segment.postings.test_plain_lists import (
    Plain,
    Posting,
    equal,
    plain_lists,
    rated,
)

OFTEN: Plain = {number: Posting(5, 1, (*range(300),)) for number in range(0, 900, 3)}
ONCE_DEFLATED: Plain = {number: Posting(number % 256, 1, (7,)) for number in range(2000)}
many = st.lists(plain_lists | st.sampled_from([OFTEN, ONCE_DEFLATED]), min_size=1, max_size=5)


def stored(plain: list[Plain], offset: int = 7) -> tuple[list[bytes], bytes]:
    values, parts = pack_lists(rated(plain), offset)
    return values.tolist(), bytes(offset) + b"".join(parts)


def read(values: list[bytes], postings: bytes, documents: int = MAX_NUMBER) -> Lists:
    window = Window(BytesSource(postings), len(postings))
    infos = read_term_infos(strings_of(values))
    found = read_rated_lists(infos, window, documents)
    assert equal(read_lists(infos, window, documents)._replace(ratings=found.ratings), found)
    return found


def read_one_by_one(values: list[bytes], postings: bytes, documents: int = MAX_NUMBER) -> Lists:
    rows = []
    for value in values:
        place, _ = decode_term_info(value)
        size = place.documents_bytes + place.positions_bytes
        parts = place.inlined or postings[place.offset : place.offset + size]
        if len(parts) < size:
            raise ValueError("cut off")
        cut = place.documents_bytes
        first = documents_array(parts[:cut], place.count, documents)
        rows.append((np.array([place.count]), *first, *positions_array(parts[cut:], place.count)))
    counts, ordinals, impacts, masks, frequencies, positions = map(np.concatenate, zip(*rows, strict=True))
    return Lists(counts, ordinals, frequencies, positions, (impacts, masks))


def read_together(values: list[bytes], postings: bytes, documents: int = MAX_NUMBER) -> Lists:
    """Read the lists as those of one word in several segments."""
    infos = [decode_term_info(value)[0] for value in values]
    counts = np.array([info.count for info in infos])
    firsts, seconds = [], []
    for info in infos:
        parts = info.inlined or postings[info.offset :]
        cut, end = info.documents_bytes, info.documents_bytes + info.positions_bytes
        firsts.append(parts[:cut])
        seconds.append(parts[cut:end])
    ordinals, impacts, masks = documents_arrays(firsts, counts, np.full(len(counts), documents))
    return Lists(counts, ordinals, *positions_arrays(seconds, counts), (impacts, masks))


@settings(deadline=None)
@given(many, st.integers(0, 99))
def test_lists_come_back_by_their_term_infos(plain: list[Plain], offset: int) -> None:
    assert equal(read(*stored(plain, offset)), rated(plain))
    assert equal(read_together(*stored(plain, offset)), rated(plain))


def test_long_lists_which_are_deflated_are_read_too() -> None:
    alike = {number: Posting(9, 3, (number,)) for number in range(2000)}
    unlike = {number: Posting(number % 255 + 1, number % 31 + 1, (1, 5)) for number in range(0, 2000, 3)}
    assert equal(read(*stored([alike, unlike, alike]), 2000), rated([alike, unlike, alike]))
    assert equal(read_together(*stored([alike, unlike, alike]), 2000), rated([alike, unlike, alike]))
    with pytest.raises(ValueError, match="does not have"):
        read_together(*stored([unlike, alike]), 1999)


@settings(deadline=None)
@given(many, st.permutations(range(5)))
def test_lists_may_lie_in_any_order(plain: list[Plain], order: list[int]) -> None:
    values, postings = stored(plain)
    chosen = [place for place in order if place < len(plain)]
    found = read([values[place] for place in chosen], postings)
    assert equal(found, rated([plain[place] for place in chosen]))


@settings(deadline=None)
@given(many, st.integers(0, 4), st.integers(0, 90), st.binary(max_size=4), st.booleans(), st.integers(1, 999))
def test_damage_is_found_as_in_lists_one_by_one(
    plain: list[Plain], which: int, place: int, noise: bytes, in_values: bool, documents: int
) -> None:
    values, postings = stored(plain)
    if in_values:
        hurt = values[which % len(values)]
        values[which % len(values)] = hurt[:place] + noise + hurt[place + max(len(noise), 1) :]
    else:
        postings = postings[: place * which] + noise + postings[place * which + len(noise) :]
    try:
        expected = read_one_by_one(values, postings, documents)
    except ValueError:
        with pytest.raises((ValueError, CorruptFile)):
            read(values, postings, documents)
    else:
        assert equal(read(values, postings, documents), expected)


@pytest.mark.parametrize(
    "value", [b"", b"\1\1\1", b"\x09\1\1\1dp", b"\1\1\1\1d", bytes(21), b"\0\1" + b"\xff" * 20]
)
def test_bytes_that_are_no_term_info_are_refused(value: bytes) -> None:
    with pytest.raises(ValueError, match="list"):
        read_term_infos(strings_of([value]))
