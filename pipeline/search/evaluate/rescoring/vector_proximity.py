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

_BODY = 0  # the number of the field "body"
_FIELDS = len(INDEXED_FIELDS)
_WEIGHTS = np.array(PAIR_WEIGHTS, np.int64)
_BODY_BIT = np.uint8(1 << _BODY)
# The other fields in which words side by side add to the score.
_OTHER_BITS = np.uint8(
    sum(1 << field for field, weight in enumerate(PAIR_WEIGHTS) if field != _BODY and weight)
    | 1 << HEADING
    | 1 << TITLE
)


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
    """Return what proximity adds to the score of each document; the documents rise.

    The masks of posting lists say in which fields of a document a word stands. So positions are looked at
    only in documents that have two neighbours of the query in one field, and of a single word never.
    """
    masks = np.array([lists.of(word).masks_of(documents) for word in proximity.words])
    weights = np.array([ANCHOR_WEIGHT * word.weight for word in proximity.words], np.int64)
    scores: Int64Array = weights @ (masks >> np.uint8(ANCHOR) & np.uint8(1))
    if len(masks) == 1:
        in_heading, in_title = (masks[0] & np.uint8(1 << field) != 0 for field in (HEADING, TITLE))
        return scores + _whole(proximity, in_heading, in_title, lists.titles[documents])
    both = masks[:-1] & masks[1:]
    for index, is_near in enumerate(both & _BODY_BIT):
        some = is_near.nonzero()[0]
        if len(some):
            near = some[_followed_in_bodies(lists, proximity, index, documents[some])]
            # each document counts once, although a pair may occur often
            scores[near] += proximity.pair_weights[index] * PAIR_WEIGHTS[_BODY]
    some = (np.bitwise_or.reduce(both) & _OTHER_BITS).nonzero()[0]
    if len(some):
        scores[some] += _scores_beside_bodies(lists, proximity, documents[some])
    return scores


def _followed_in_bodies(
    lists: VectorLists, proximity: Proximity, index: int, documents: Documents
) -> Int64Array:
    """Return the indices of the documents in whose body a word is followed by the next one of the query."""
    some, others = (lists.positions_of(word).bodies for word in proximity.placed[index : index + 2])
    bodies = _Bodies(documents, lists.body_starts[documents], lists.body_starts[documents + 1])
    return _followed(some, others, proximity.distances[index], bodies)


def _scores_beside_bodies(lists: VectorLists, proximity: Proximity, documents: Documents) -> Int64Array:
    """Return the scores for words that stand side by side in titles, headings and links to the documents."""
    others = [_in_documents(lists.positions_of(word).others, documents) for word in proximity.placed]
    scores = np.zeros(len(documents), np.int64)
    chain = np.ones(len(others[0].keys), np.bool_)  # which positions are the last of the query so far
    pairs = zip(proximity.distances, proximity.pair_weights, strict=True)
    for index, (distance, weight) in enumerate(pairs):
        found = np.zeros((len(documents), _FIELDS), np.bool_)
        chain = _follow(others[index], others[index + 1], distance, found, chain)
        scores += weight * (found @ _WEIGHTS)
    if not chain.any():
        return scores
    owners, fields = others[-1].owners[chain], others[-1].fields[chain]
    in_heading, in_title = np.zeros((2, len(documents)), np.bool_)
    in_heading[owners[fields == HEADING]] = True
    in_title[owners[fields == TITLE]] = True
    return scores + _whole(proximity, in_heading, in_title, lists.titles[documents])


def _in_documents(positions: PositionSet, documents: Documents) -> _Positions:
    """Return the positions that lie in the documents."""
    starts, ends = positions.bounds_of(documents)
    lengths = ends - starts
    owners = np.repeat(np.arange(len(documents)), lengths)
    return _Positions(positions.keys[indices_of(starts, lengths)], owners)


def _followed(some: PositionSet, others: PositionSet, distance: int, bodies: _Bodies) -> Int64Array:
    """Return the indices of documents in whose body the second word follows the first at this distance."""
    if len(some) > len(others):
        some, others, distance = others, some, -distance
    keys, owners = _in_documents(some, bodies.documents)
    keys = keys + distance
    inside = (keys >= bodies.starts[owners]) & (keys < bodies.ends[owners])
    keys, owners = keys[inside], owners[inside]
    if others.has_bits:
        return owners[others.contains(keys)]
    return owners[_are_among(keys, _in_documents(others, bodies.documents).keys)]


def _are_among(wanted: Keys, keys: Keys) -> Flags:
    """Return which of some keys are among rising keys."""
    if not len(keys):
        return np.zeros(len(wanted), np.bool_)
    found: Flags = keys.take(keys.searchsorted(wanted), mode="clip") == wanted
    return found


def _follow(some: _Positions, others: _Positions, distance: int, found: Flags, chain: Flags) -> Flags:
    """Mark in `found` where the second word follows the first outside of bodies.

    Return which positions of the second word continue the chain.
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


def _whole(proximity: Proximity, in_heading: Flags, in_title: Flags, title_lengths: Int64Array) -> Int64Array:
    """Return what is added to scores if the whole query stands in the title or in a heading."""
    lengths = np.maximum(title_lengths, 1)
    whole = WHOLE_TITLE * proximity.whole_weight * np.minimum(proximity.length, lengths) // lengths
    scores: Int64Array = WHOLE_HEADING * proximity.whole_weight * in_heading + whole * in_title
    return scores
