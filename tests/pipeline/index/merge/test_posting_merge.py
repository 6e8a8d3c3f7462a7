from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlctl.pipeline.arrays.byte_strings import strings_of
from crawlctl.pipeline.index.fields import ANCHOR, OFFSET_BITS
from crawlctl.pipeline.index.merge.posting_merge import PostingSource, merge_postings
from crawlctl.pipeline.index.segment.postings.posting_arrays import Lists
from crawlctl.tests.effort import examples

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawlctl.pipeline.arrays.byte_strings import ByteStrings

DOCUMENTS = 4
Postings = dict[bytes, dict[int, list[int]]]  # term → ordinal → positions
RatedIndex = dict[bytes, dict[int, tuple[int, int, tuple[int, ...]]]]  # … → impact, mask, positions

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


# Lists that keep their impacts and masks, as a copy needs them.
RATED_DOCUMENTS = 12
SOURCES = 3

rated_postings = st.tuples(
    st.integers(1, 255),
    st.integers(1, 31),
    st.sets(st.integers(0, 1 << 20), min_size=1, max_size=4).map(lambda found: tuple(sorted(found))),
)
rated_terms = st.sampled_from([b"a", b"aa", b"b", b"c", b"long" * 4 + b"d", b"long" * 4 + b"e", b"zz"])
indexes = st.dictionaries(
    rated_terms, st.dictionaries(st.integers(0, RATED_DOCUMENTS - 1), rated_postings, min_size=1), min_size=1
)


def rated(index: RatedIndex, names: list[bytes]) -> Lists:
    rows = [(document, *index[term][document]) for term in names for document in sorted(index[term])]
    impacts = np.array([impact for _, impact, _, _ in rows], np.uint8)
    masks = np.array([mask for _, _, mask, _ in rows], np.uint8)
    return Lists(
        np.array([len(index[term]) for term in names], np.int64),
        np.array([document for document, *_ in rows], np.int64),
        np.array([len(positions) for *_, positions in rows], np.int64),
        np.array([at for *_, positions in rows for at in positions], np.int64),
        (impacts, masks),
    )


def plain_index(slices: Iterator[tuple[ByteStrings, Lists]]) -> RatedIndex:
    index: RatedIndex = {}
    for found, lists in slices:
        impacts, masks = lists.ratings
        names = found.tolist()
        assert names == sorted(names) and not index.keys() & set(names)
        assert all(term > max(index, default=b"") for term in names)
        at = start = 0
        for term, count in zip(names, lists.counts.tolist(), strict=True):
            documents = lists.documents[at : at + count].tolist()
            assert documents == sorted(set(documents))
            index[term] = {}
            for document in documents:
                end = start + int(lists.frequencies[at])
                where = tuple(lists.positions[start:end].tolist())
                index[term][document] = (int(impacts[at]), int(masks[at]), where)
                start, at = end, at + 1
    return index


@settings(max_examples=examples(60))
@given(
    indexes,
    st.lists(st.integers(0, SOURCES - 1), min_size=RATED_DOCUMENTS, max_size=RATED_DOCUMENTS),
    st.integers(1, 4),
    st.integers(1, 40),
)
def test_what_was_dealt_to_sources_comes_together_again(
    index: RatedIndex, dealt: list[int], length: int, size: int
) -> None:
    """Sources hold documents under numbers of their own, and give their terms in slices of any length."""
    sources = []
    for source in range(SOURCES):
        mine = [document for document in range(RATED_DOCUMENTS) if dealt[document] == source]
        held = {
            term: {mine.index(d): posting for d, posting in found.items() if d in mine}
            for term, found in index.items()
        }
        kept = rated_slices({t: found for t, found in held.items() if found}, length)
        sources.append(PostingSource(kept, np.array([*mine, -1], np.int32)))
    assert plain_index(merge_postings(sources, size)) == index


def rated_slices(held: RatedIndex, length: int) -> Iterator[tuple[ByteStrings, Lists]]:
    names = sorted(held)
    for start in range(0, len(names), length):
        some = names[start : start + length]
        yield strings_of(some), rated(held, some)


@given(indexes, st.sets(st.integers(0, RATED_DOCUMENTS - 1)), st.integers(1, 4), st.integers(1, 40))
def test_documents_that_land_elsewhere_are_left_out(
    index: RatedIndex, gone: set[int], length: int, size: int
) -> None:
    new = np.array([-1 if d in gone else d for d in range(RATED_DOCUMENTS)], np.int32)
    kept = plain_index(merge_postings([PostingSource(rated_slices(index, length), new)], size))
    left = {t: {d: p for d, p in found.items() if d not in gone} for t, found in index.items()}
    assert kept == {term: found for term, found in left.items() if found}
