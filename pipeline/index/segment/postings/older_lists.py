"""Marks the terms of posting lists that an older version wrote, so that a merge can take them in.

Older terms are stems without the mark of a language (text/words/stems.py), and one list has documents of
every language. Each list is split by the languages of its documents. All bytes of older terms are higher than
the first byte of a mark, so the marked terms of a slice stay in byte order between the same neighbours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.arrays.byte_strings import strings_of
from crawlctl.pipeline.arrays.ragged import indices_of, starts_of
from crawlctl.pipeline.index.segment.columns import unpack_language
from crawlctl.pipeline.index.segment.postings.posting_arrays import Lists
from crawlctl.pipeline.text.words.stems import mark_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from crawlctl.pipeline.arrays.array_types import IndexArray, Int64Array
    from crawlctl.pipeline.arrays.byte_strings import ByteStrings


def with_marks(
    slices: Iterable[tuple[ByteStrings, Lists]], languages: NDArray[np.unsignedinteger]
) -> Iterator[tuple[ByteStrings, Lists]]:
    """Yield slices with marked terms; `languages` has the packed language of each document."""
    codes, of_documents = np.unique(languages, return_inverse=True)
    named = [mark_of(unpack_language(code)) for code in codes.tolist()]
    marks = sorted({b"", *named})
    numbers = np.array([marks.index(mark) for mark in named], np.int64)[of_documents]
    for terms, lists in slices:
        yield _marked(terms, lists, numbers, marks)


def _marked(
    terms: ByteStrings, lists: Lists, numbers: Int64Array, marks: list[bytes]
) -> tuple[ByteStrings, Lists]:
    """Return the terms and lists cut by mark; `numbers` has the index of the mark of each document."""
    chosen = numbers[lists.documents]
    digits = np.array([term.isdigit() for term in terms], np.bool_)
    chosen[np.repeat(digits, lists.counts)] = 0  # numbers have no mark
    keys = np.repeat(np.arange(len(terms)), lists.counts) * len(marks) + chosen
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    firsts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    named = [terms[key // len(marks)] + marks[key % len(marks)] for key in keys[firsts].tolist()]
    return strings_of(named), _reordered(lists, order, np.diff(firsts, append=len(keys)))


def _reordered(lists: Lists, order: IndexArray, counts: Int64Array) -> Lists:
    """Return the postings in another order, as lists of these many documents."""
    frequencies = lists.frequencies[order]
    starts = starts_of(lists.frequencies)[order]
    return Lists(
        counts,
        lists.documents[order],
        frequencies,
        lists.positions[indices_of(starts, frequencies)],
        tuple([rating[order] for rating in lists.ratings]),
    )
