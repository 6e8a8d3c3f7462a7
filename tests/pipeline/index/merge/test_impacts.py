from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.arrays.byte_strings import strings_of
from crawlctl.pipeline.config.settings import FieldWeights, IndexSettings
from crawlctl.pipeline.index.fields import ANCHOR, INDEXED_FIELDS, OFFSET_BITS
from crawlctl.pipeline.index.merge.impacts import Impacts
from crawlctl.pipeline.index.segment.postings.posting_arrays import Lists

counts = st.lists(st.integers(0, 3), min_size=5, max_size=5).filter(any)
lengths = st.lists(st.integers(0, 50), min_size=5, max_size=5)
averages = st.lists(st.one_of(st.just(0.0), st.floats(0.5, 50)), min_size=5, max_size=5)
weights = st.builds(FieldWeights, *[st.floats(0, 5)] * 5)


def plain_impact(
    found: list[int], lengths: list[int], averages: list[float], settings: IndexSettings
) -> float:
    t = 0.0
    for number, field in enumerate(INDEXED_FIELDS):
        b = 0.0 if number == ANCHOR else settings.b
        relative = lengths[number] / averages[number] if averages[number] else 1.0
        t += getattr(settings.weights, field) * found[number] / (1 - b + b * relative + 1e-9)
    return 255 * t / (t + settings.k1)


@given(st.lists(st.tuples(counts, lengths), min_size=1, max_size=5), averages, weights)
def test_impacts_are_those_of_bm25f(
    postings: list[tuple[list[int], list[int]]], averages: list[float], weights: FieldWeights
) -> None:
    settings = IndexSettings(weights=weights)
    table = {
        field: np.array([lengths[number] for _, lengths in postings], np.uint32)
        for number, field in enumerate(INDEXED_FIELDS)
    }
    places = [
        [number << OFFSET_BITS | at for number, count in enumerate(found) for at in range(count)]
        for found, _ in postings
    ]
    lists = Lists(
        np.array([len(postings)]),
        np.arange(len(postings)),
        np.array([len(some) for some in places]),
        np.array([place for some in places for place in some]),
    )
    impacts, masks = Impacts(table, averages, settings).of(lists)
    for (found, mine), impact, mask in zip(postings, impacts.tolist(), masks.tolist(), strict=True):
        exact = plain_impact(found, mine, averages, settings)
        assert abs(impact - max(1, exact)) <= 0.51
        assert mask == sum(1 << number for number, count in enumerate(found) if count)


def test_titles_count_more_and_long_texts_less() -> None:
    table = {field: np.array([10, 10, 100], np.uint32) for field in INDEXED_FIELDS}
    lists = Lists(np.array([3]), np.arange(3), np.array([1, 1, 1]), np.array([2 << OFFSET_BITS, 0, 0]))
    title, body, long = Impacts(table, [10.0] * 5, IndexSettings()).of(lists)[0].tolist()
    assert title > body > long


def test_a_word_as_it_is_written_has_the_fields_that_its_position_names() -> None:
    table = {field: np.array([10, 99, 10], np.uint32) for field in INDEXED_FIELDS}
    in_anchor = ANCHOR << OFFSET_BITS
    lists = Lists(
        np.array([1, 3]),
        np.array([0, 0, 1, 2]),
        np.array([1, 1, 2, 1]),
        np.array([3, 5, 1, in_anchor, in_anchor]),
    )
    _, masks = Impacts(table, [10.0] * 5, IndexSettings()).of_terms(
        strings_of([b"run\x01en", b"run\x02en"]), lists
    )
    assert masks.tolist() == [1, 0b101, 0b10001, 0b10000]
    same = Impacts(table, [10.0] * 5, IndexSettings()).of_terms(
        strings_of([b"run\x02en"]), Lists(np.array([2]), np.array([0, 1]), np.array([1, 1]), np.array([1, 1]))
    )
    assert len(set(same[0].tolist())) == 1  # whatever the length of the text
