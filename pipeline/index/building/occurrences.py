"""Sorted keys of occurrences, and the posting lists they stand for.

A key is the number of a term, the ordinal of the document and the position, from the high bits down: sorting
keys sorts postings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.index.fields import POSITION_BITS
from crawlctl.pipeline.index.runs.posting_slices import Lists

if TYPE_CHECKING:
    from numpy.typing import NDArray


def grouped(keys: NDArray[np.uint64], document_bits: int) -> tuple[NDArray[np.intp], Lists]:
    """Return the terms and lists that sorted keys hold, in which a document takes so many bits."""
    firsts = _changes(keys, POSITION_BITS)
    frequencies = np.diff(firsts, append=len(keys)).astype(np.int32)
    postings = keys[firsts] >> np.uint64(POSITION_BITS)
    return listed(postings, frequencies, _low_bits(keys, POSITION_BITS), document_bits)


def listed(
    postings: NDArray[np.uint64],
    frequencies: NDArray[np.signedinteger],
    positions: NDArray[np.signedinteger],
    document_bits: int,
) -> tuple[NDArray[np.intp], Lists]:
    """Return the terms and lists of sorted postings, which are keys without a position."""
    starts = _changes(postings, document_bits)
    terms = (postings[starts] >> np.uint64(document_bits)).astype(np.intp)
    counts = np.diff(starts, append=len(postings))
    return terms, Lists(counts, _low_bits(postings, document_bits), frequencies, positions)


def _changes(keys: NDArray[np.uint64], bits: int) -> NDArray[np.intp]:
    """Return where runs of keys begin that differ in these low bits only."""
    different = np.ones(len(keys), np.bool_)
    np.greater_equal(keys[1:] ^ keys[:-1], np.uint64(1 << bits), out=different[1:])
    return np.flatnonzero(different)


def _low_bits(keys: NDArray[np.uint64], bits: int) -> NDArray[np.int32]:
    low = keys.astype(np.uint32)
    low &= np.uint32((1 << bits) - 1)
    return low.view(np.int32)
