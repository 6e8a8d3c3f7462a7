"""Sorted keys of occurrences, and the posting lists they stand for.

A key is the number of a term, the ordinal of the document and the position, from the high bits down: sorting
keys sorts postings, and joins what several sources tell of one document.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.index.fields import POSITION_BITS
from crawlctl.pipeline.index.postings import Lists

if TYPE_CHECKING:
    from numpy.typing import NDArray


def grouped(keys: NDArray[np.uint64], document_bits: int) -> tuple[NDArray[np.intp], Lists]:
    """Return the terms and lists that sorted keys hold, in which a document takes so many bits."""
    positions = (keys & np.uint64((1 << POSITION_BITS) - 1)).view(np.int64)
    postings = keys >> np.uint64(POSITION_BITS)
    firsts = _changes(postings)
    frequencies = np.diff(firsts, append=len(keys))
    postings = postings[firsts]
    documents = (postings & np.uint64((1 << document_bits) - 1)).view(np.int64)
    terms = postings >> np.uint64(document_bits)
    starts = _changes(terms)
    counts = np.diff(starts, append=len(terms))
    return terms[starts].astype(np.intp), Lists(counts, documents, frequencies, positions)


def _changes(numbers: NDArray[np.uint64]) -> NDArray[np.intp]:
    """Return where runs of equal numbers begin."""
    different = np.ones(len(numbers), np.bool_)
    np.not_equal(numbers[1:], numbers[:-1], out=different[1:])
    return np.flatnonzero(different)
