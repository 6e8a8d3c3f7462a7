"""Posting lists that are split and merged again are what they were, with their impacts and masks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlctl.pipeline.arrays.byte_strings import strings_of
from crawlctl.pipeline.index.merge.posting_merge import PostingSource, merge_postings
from crawlctl.pipeline.index.segment.postings.posting_arrays import Lists
from crawlctl.tests.effort import examples

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.arrays.byte_strings import ByteStrings

    Plain = dict[bytes, dict[int, tuple[int, int, tuple[int, ...]]]]

DOCUMENTS = 12
SOURCES = 3

postings = st.tuples(
    st.integers(1, 255),
    st.integers(1, 31),
    st.sets(st.integers(0, 1 << 20), min_size=1, max_size=4).map(lambda found: tuple(sorted(found))),
)
terms = st.sampled_from([b"a", b"aa", b"b", b"c", b"long" * 4 + b"d", b"long" * 4 + b"e", b"zz"])
indexes = st.dictionaries(
    terms, st.dictionaries(st.integers(0, DOCUMENTS - 1), postings, min_size=1), min_size=1
)


def rated(index: Plain, names: list[bytes]) -> Lists:
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


def plain(slices: Iterator[tuple[ByteStrings, Lists]]) -> Plain:
    index: Plain = {}
    for terms, lists in slices:
        impacts, masks = lists.ratings
        names = terms.tolist()
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


@settings(max_examples=examples(200))
@given(
    indexes,
    st.lists(st.integers(0, SOURCES - 1), min_size=DOCUMENTS, max_size=DOCUMENTS),
    st.integers(1, 4),
    st.integers(1, 40),
)
def test_what_was_dealt_to_sources_comes_together_again(
    index: Plain, dealt: list[int], length: int, size: int
) -> None:
    """Sources hold documents under numbers of their own, and give their terms in slices of any length."""
    sources = []
    for source in range(SOURCES):
        mine = [document for document in range(DOCUMENTS) if dealt[document] == source]
        held = {
            term: {mine.index(d): posting for d, posting in found.items() if d in mine}
            for term, found in index.items()
        }
        kept = slices({t: found for t, found in held.items() if found}, length)
        sources.append(PostingSource(kept, np.array([*mine, -1], np.int32)))
    assert plain(merge_postings(sources, size)) == index


def slices(held: Plain, length: int) -> Iterator[tuple[ByteStrings, Lists]]:
    names = sorted(held)
    for start in range(0, len(names), length):
        some = names[start : start + length]
        yield strings_of(some), rated(held, some)


@given(indexes, st.sets(st.integers(0, DOCUMENTS - 1)), st.integers(1, 4), st.integers(1, 40))
def test_documents_that_land_elsewhere_are_left_out(
    index: Plain, gone: set[int], length: int, size: int
) -> None:
    new = np.array([-1 if d in gone else d for d in range(DOCUMENTS)], np.int32)
    kept = plain(merge_postings([PostingSource(slices(index, length), new)], size))
    left = {t: {d: p for d, p in found.items() if d not in gone} for t, found in index.items()}
    assert kept == {term: found for term, found in left.items() if found}
