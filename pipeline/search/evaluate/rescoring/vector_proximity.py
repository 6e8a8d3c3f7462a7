"""Proximity with numpy: what the positions of the words of a query add to the scores of some documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crawlctl.pipeline.arrays.ragged import indices_of
from crawlctl.pipeline.index.fields import INDEXED_FIELDS, OFFSET_BITS
from crawlctl.pipeline.search.evaluate.vector_positions import POSITION_MASK
from crawlctl.pipeline.search.plan.proximity import (
    ANCHOR,
    ANCHOR_WEIGHT,
    HEADING,
    PAIR_WEIGHTS,
    TITLE,
    WHOLE_HEADING,
    WHOLE_TITLE,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crawlctl.pipeline.arrays.array_types import Int64Array
    from crawlctl.pipeline.search.evaluate.vector_lists import VectorLists
    from crawlctl.pipeline.search.evaluate.vector_positions import Documents, Keys, PositionSet
    from crawlctl.pipeline.search.plan.proximity import Proximity

    Flags = NDArray[np.bool_]

_BODY = 0  # the number of the field
_FIELDS = len(INDEXED_FIELDS)
_WEIGHTS = np.array(PAIR_WEIGHTS, np.int64)


class _Bodies(NamedTuple):
    """The documents, and the numbers of the first word and behind the last word of the body of each."""

    documents: Documents
    starts: Keys
    ends: Keys


class _Positions(NamedTuple):
    """The positions of a word in the documents, rising, and the index of the document of each."""

    keys: Keys
    owners: Int64Array

    @property
    def fields(self) -> Int64Array:
        """The number of the field of each position; not for positions in bodies."""
        return (self.keys & POSITION_MASK) >> OFFSET_BITS


class Rescored(NamedTuple):
    """Documents by the sum of score, proximity and quality, the highest first, with these parts."""

    documents: NDArray[np.integer]
    scores: Int64Array
    near: Int64Array
    quality: Int64Array


def rescored(
    lists: VectorLists,
    proximity: Proximity,
    documents: NDArray[np.integer],
    scores: NDArray[np.integer],
) -> Rescored:
    """Return documents with their scores by the sum of score, proximity and quality."""
    rising = documents.argsort()
    near = np.empty(len(documents), np.int64)
    near[rising] = proximity_scores(lists, proximity, documents[rising].astype(np.int32))
    quality = proximity.quality_weight * lists.qualities[documents]
    sums = scores + near + quality
    order = (-sums).argsort(kind="stable")
    return Rescored(documents[order], sums[order], near[order], quality[order])


def proximity_scores(lists: VectorLists, proximity: Proximity, documents: Documents) -> Int64Array:
    """Return what proximity adds to the score of each document; the documents rise."""
    words = [lists.positions_of(word) for word in proximity.words]
    bodies = _Bodies(documents, lists.body_starts[documents], lists.body_starts[documents + 1])
    others = [_in_documents(word.others, documents) for word in words]
    scores = _linked(proximity, others, len(documents))
    chain = np.ones(len(others[0].keys), np.bool_)  # which positions end the query so far
    pairs = zip(proximity.distances, proximity.pair_weights, strict=True)
    for index, (distance, weight) in enumerate(pairs):
        found = np.zeros((len(documents), _FIELDS), np.bool_)
        found[_followed(words[index].bodies, words[index + 1].bodies, distance, bodies), _BODY] = True
        chain = _follow(others[index], others[index + 1], distance, found, chain)
        scores += weight * (found @ _WEIGHTS)
    return scores + _whole(proximity, others[-1], chain, lists.titles[documents])


def _in_documents(positions: PositionSet, documents: Documents) -> _Positions:
    """Return the positions that lie in the documents."""
    bounds = positions.documents.searchsorted(np.concatenate((documents, documents + 1)))
    starts, ends = bounds[: len(documents)], bounds[len(documents) :]
    lengths = ends - starts
    owners = np.repeat(np.arange(len(documents)), lengths)
    return _Positions(positions.keys[indices_of(starts, lengths)], owners)


def _followed(some: PositionSet, others: PositionSet, distance: int, bodies: _Bodies) -> Int64Array:
    """Return the indices of the documents in whose body the one word follows the other at this distance."""
    if len(some) > len(others):
        some, others, distance = others, some, -distance
    keys, owners = _in_documents(some, bodies.documents)
    keys = keys + distance
    inside = (keys >= bodies.starts[owners]) & (keys < bodies.ends[owners])
    keys, owners = keys[inside], owners[inside]
    return owners[others.contains(keys)]


def _follow(some: _Positions, others: _Positions, distance: int, found: Flags, chain: Flags) -> Flags:
    """Mark in `found` where the one word follows the other outside of bodies; return which positions of the
    other word continue the chain.
    """
    continued = np.zeros(len(others.keys), np.bool_)
    if not len(some.keys) or not len(others.keys):
        return continued
    wanted = some.keys + distance
    indices = others.keys.searchsorted(wanted)
    indices[indices == len(others.keys)] = 0
    follows = (others.keys[indices] == wanted) & (wanted >> OFFSET_BITS == some.keys >> OFFSET_BITS)
    found[some.owners[follows], some.fields[follows]] = True
    continued[indices[follows & chain]] = True
    return continued


def _linked(proximity: Proximity, words: list[_Positions], documents: int) -> Int64Array:
    """Return what it adds that words stand in the text of links to the documents."""
    scores = np.zeros(documents, np.int64)
    for word, positions in zip(proximity.words, words, strict=True):
        is_linked = np.zeros(documents, np.bool_)
        is_linked[positions.owners[positions.fields == ANCHOR]] = True
        scores += ANCHOR_WEIGHT * word.weight * is_linked
    return scores


def _whole(
    proximity: Proximity, last: _Positions, chain: Flags, title_lengths: Int64Array
) -> Int64Array | int:
    """Return what it adds that the whole query stands in the title or in a heading."""
    if not chain.any():
        return 0
    owners, fields = last.owners[chain], last.fields[chain]
    in_heading, in_title = np.zeros((2, len(title_lengths)), np.bool_)
    in_heading[owners[fields == HEADING]] = True
    in_title[owners[fields == TITLE]] = True
    lengths = np.maximum(title_lengths, 1)
    whole = WHOLE_TITLE * proximity.whole_weight * np.minimum(proximity.length, lengths) // lengths
    scores: Int64Array = WHOLE_HEADING * proximity.whole_weight * in_heading + whole * in_title
    return scores
