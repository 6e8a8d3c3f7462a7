"""Phrases with numpy: finds the documents that have the words of a phrase side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.arrays.ragged import indices_of
from crawlctl.pipeline.index.fields import INDEXED_FIELDS, OFFSET_BITS
from crawlctl.pipeline.search.evaluate.vector_positions import POSITION_MASK
from crawlctl.pipeline.search.plan.steps import ANY_FIELD

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crawlctl.pipeline.search.evaluate.vector_lists import VectorLists
    from crawlctl.pipeline.search.evaluate.vector_positions import Documents, Keys, PositionSet
    from crawlctl.pipeline.search.plan.steps import PhraseOf

    Indices = NDArray[np.intp]

_BODY = 1  # the bit of the body in a mask of fields
# If fewer than 1/4 of the documents of the rarest word have all words, its positions are first reduced to
# those documents.
_FILTERED_SHARE = 4


def phrase_indices(lists: VectorLists, phrase: PhraseOf, documents: Documents) -> Indices:
    """Return the indices of the documents that have the words side by side; each has all words."""
    if not len(documents):
        return np.zeros(0, np.intp)
    words = [lists.positions_of(word) for word in phrase.words]
    counts = [len(lists.of(word)) for word in phrase.words]
    found = np.zeros(lists.reader.size, np.bool_)
    if phrase.mask & _BODY:
        found[_documents([word.bodies for word in words], counts, documents, ANY_FIELD)] = True
    if phrase.mask != _BODY:
        found[_documents([word.others for word in words], counts, documents, phrase.mask)] = True
    return found[documents].nonzero()[0]


def _documents(words: list[PositionSet], counts: list[int], wanted: Documents, mask: int) -> Documents:
    """Return the documents that have the words side by side; a document is returned once per occurrence.

    The words are compared from the rarest to the most frequent, so that the arrays stay short.
    """
    order = sorted(range(len(words)), key=lambda index: len(words[index]))
    last = order[0]
    if len(wanted) * _FILTERED_SHARE < counts[last]:
        keys, documents = _of_documents(words[last], wanted)
    else:
        keys, documents = words[last].keys, words[last].documents
    if mask != ANY_FIELD:
        kept = _in_fields(keys, mask)
        keys, documents = keys[kept], documents[kept]
    for index in order[1:]:
        if not len(keys):
            break
        keys = keys + (index - last)
        kept = words[index].contains(keys)
        keys, documents, last = keys[kept], documents[kept], index
    return documents


def _of_documents(positions: PositionSet, wanted: Documents) -> tuple[Keys, Documents]:
    """Return the keys that belong to wanted documents, with their documents."""
    starts, ends = positions.bounds_of(wanted)
    lengths = ends - starts
    return positions.keys[indices_of(starts, lengths)], wanted.repeat(lengths)


def _in_fields(keys: Keys, mask: int) -> NDArray[np.bool_]:
    """Return which keys lie in the fields of a mask."""
    wanted = np.array([bool(mask >> field & 1) for field in range(len(INDEXED_FIELDS))])
    kept: NDArray[np.bool_] = wanted[(keys & POSITION_MASK) >> OFFSET_BITS]
    return kept
