from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.arrays.byte_strings import strings_of
from crawlctl.pipeline.index.fields import ANCHOR, OFFSET_BITS
from crawlctl.pipeline.index.merge.posting_merge import PostingSource, merge_postings
from crawlctl.pipeline.index.segment.postings.posting_arrays import Lists

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawlctl.pipeline.arrays.byte_strings import ByteStrings

DOCUMENTS = 4
Postings = dict[bytes, dict[int, list[int]]]  # term → ordinal → positions

FIRST_ANCHOR = ANCHOR << OFFSET_BITS

on_page = st.integers(0, 9)
in_anchors = st.integers(FIRST_ANCHOR, FIRST_ANCHOR + 3)
terms = st.builds(
    bytes.__add__, st.sampled_from([b"", b"long" * 4]), st.sampled_from([b"a", b"ab", b"b", b"c"])
)


def postings(documents: int, positions: st.SearchStrategy[int]) -> st.SearchStrategy[Postings]:
    some = st.sets(positions, min_size=1, max_size=4).map(sorted)
    return st.dictionaries(
        terms, st.dictionaries(st.integers(0, documents - 1), some, min_size=1), max_size=6
    )


sources = st.lists(st.tuples(postings(DOCUMENTS, on_page | in_anchors), st.integers(1, 3)), max_size=4)
anchors = st.tuples(postings(4 * DOCUMENTS, in_anchors), st.integers(1, 3))


def lists_of(found: Postings) -> Lists:
    documents = [
        (ordinal, places) for term in sorted(found) for ordinal, places in sorted(found[term].items())
    ]
    return Lists(
        np.array([len(found[term]) for term in sorted(found)], np.int64),
        np.array([ordinal for ordinal, _ in documents], np.int64),
        np.array([len(places) for _, places in documents], np.int64),
        np.array([place for _, places in documents for place in places], np.int64),
    )


def cut(found: Postings, terms: int) -> Iterator[tuple[ByteStrings, Lists]]:
    """Yield postings so many terms at a time."""
    names = sorted(found)
    for start in range(0, len(names), terms):
        some = names[start : start + terms]
        yield strings_of(some), lists_of({name: found[name] for name in some})


def read(terms: Iterable[bytes], lists: Lists) -> Postings:
    found: Postings = {}
    documents = iter(zip(lists.documents.tolist(), lists.frequencies.tolist(), strict=True))
    places = iter(lists.positions.tolist())
    for term, count in zip(terms, lists.counts.tolist(), strict=True):
        listed = [next(documents) for _ in range(count)]
        found[term] = {ordinal: [next(places) for _ in range(frequency)] for ordinal, frequency in listed}
        assert list(found[term]) == sorted(found[term])
    return found


@given(sources, anchors, st.integers(1, 30), st.lists(st.booleans(), min_size=16, max_size=16))
def test_wherever_sources_are_cut_the_merge_is_the_same(
    sources: list[tuple[Postings, int]], anchors: tuple[Postings, int], size: int, alive: list[bool]
) -> None:
    expected: Postings = {}
    feeds = []
    ordinals = np.where(alive, np.random.default_rng(size).permutation(16), -1).astype(np.int32)
    for number, (found, at_once) in enumerate(sources):
        mine = ordinals[number * DOCUMENTS : (number + 1) * DOCUMENTS]
        feeds.append(PostingSource(cut(found, at_once), mine, keep_anchors=False))
        for term, documents in found.items():
            for ordinal, places in documents.items():
                kept = [place for place in places if place < FIRST_ANCHOR]
                if kept and mine[ordinal] >= 0:
                    expected.setdefault(term, {})[int(mine[ordinal])] = kept
    feeds.append(PostingSource(cut(*anchors)))
    for term, documents in anchors[0].items():
        for ordinal, places in documents.items():
            expected.setdefault(term, {}).setdefault(ordinal, []).extend(places)
    merge: Postings = {}
    for terms, lists in merge_postings(feeds, size):
        assert not merge or terms[0] > max(merge), "terms come in order, each once"
        assert lists.positions.size <= size or len(terms) <= len(feeds)
        merge.update(read(terms, lists))
    assert merge == expected


def test_anchors_join_the_other_words_of_their_document() -> None:
    anchor = FIRST_ANCHOR
    page = PostingSource(cut({b"a": {0: [3], 1: [5]}}, 1), np.array([1, 0], np.int32), keep_anchors=False)
    names = PostingSource(cut({b"a": {1: [anchor]}, b"b": {0: [anchor + 1]}}, 1))
    found = {
        term: urls for slice_ in merge_postings([page, names], 100) for term, urls in read(*slice_).items()
    }
    assert found == {b"a": {0: [5], 1: [3, anchor]}, b"b": {0: [anchor + 1]}}


def test_without_sources_there_is_nothing() -> None:
    assert list(merge_postings([], 10)) == []
