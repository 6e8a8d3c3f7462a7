"""Phrases with numpy: words that stand side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.index.fields import INDEXED_FIELDS, OFFSET_BITS
from crawlctl.pipeline.search.evaluate.vector_positions import POSITION
from crawlctl.pipeline.search.plan.steps import ANY_FIELD

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crawlctl.pipeline.search.evaluate.vector_lists import VectorLists
    from crawlctl.pipeline.search.evaluate.vector_positions import Documents, Keys, Spots
    from crawlctl.pipeline.search.plan.steps import Phrase

    Places = NDArray[np.intp]

_BODY = 1  # in a mask of fields
_FILTERED_SHARE = (
    4  # where fewer of a word's documents have the other words, its positions are filtered first
)


def phrase_places(lists: VectorLists, phrase: Phrase, documents: Documents) -> Places:
    """Return the places of those of the documents, each with all words, that have them side by side."""
    if not len(documents):
        return np.zeros(0, np.intp)
    words = [lists.positions_of(word) for word in phrase.words]
    counts = [len(lists.of(word)) for word in phrase.words]
    having = np.zeros(lists.size, np.bool_)
    if phrase.mask & _BODY:
        having[_documents([word.bodies for word in words], counts, documents, ANY_FIELD)] = True
    if phrase.mask != _BODY:
        having[_documents([word.others for word in words], counts, documents, phrase.mask)] = True
    return having[documents].nonzero()[0]


def _documents(words: list[Spots], counts: list[int], wanted: Documents, mask: int) -> Documents:
    """Return documents that have the words side by side, each as often as they do; rare words come first."""
    order = sorted(range(len(words)), key=lambda place: len(words[place]))
    last = order[0]
    keys, documents = words[last].keys, words[last].documents
    if len(wanted) * _FILTERED_SHARE < counts[last]:
        keys, documents = _of_documents(keys, documents, wanted)
    if mask != ANY_FIELD:
        kept = _in_fields(keys, mask)
        keys, documents = keys[kept], documents[kept]
    for place in order[1:]:
        if not len(keys):
            break
        keys = keys + (place - last)
        kept = words[place].have(keys)
        keys, documents, last = keys[kept], documents[kept], place
    return documents


def _of_documents(keys: Keys, documents: Documents, wanted: Documents) -> tuple[Keys, Documents]:
    """Return the keys that belong to wanted documents."""
    firsts = documents.searchsorted(wanted)
    lengths = documents.searchsorted(wanted, side="right") - firsts
    places = np.repeat(firsts - (np.cumsum(lengths) - lengths), lengths)
    places += np.arange(len(places))
    return keys[places], documents[places]


def _in_fields(keys: Keys, mask: int) -> NDArray[np.bool_]:
    """Return which keys lie in the fields of a mask."""
    wanted = np.array([bool(mask >> field & 1) for field in range(len(INDEXED_FIELDS))])
    kept: NDArray[np.bool_] = wanted[(keys & POSITION) >> OFFSET_BITS]
    return kept
