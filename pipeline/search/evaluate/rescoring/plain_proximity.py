"""Proximity in plain Python: the positions of the words of a query in documents, and what they add."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.index.fields import OFFSET_BITS
from crawlctl.pipeline.index.segment.postings.plain_lists import positions_of_some
from crawlctl.pipeline.search.plan.proximity import (
    ANCHOR,
    ANCHOR_WEIGHT,
    HEADING,
    PAIR_WEIGHTS,
    TITLE,
    WHOLE_HEADING,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crawlctl.pipeline.index.segment.postings.plain_lists import Documents
    from crawlctl.pipeline.search.plan.proximity import Proximity

_ANCHORS = ANCHOR << OFFSET_BITS  # the first position in anchors, which is the last field


class Nearness(NamedTuple):
    """One part of what proximity adds: some words in a row, the fields they stand in, and the score."""

    first: int  # the index in the query of the first word
    last: int
    fields: Iterable[int]
    score: int


def positions_in(
    listed: Documents, packed: bytes, wanted: Iterable[int], found: dict[int, Sequence[int]], base: int
) -> None:
    """Add the positions of a posting list in some rising documents to those found already.

    `base` is the number of the first document of its segment.
    """
    ordinals = listed.ordinals
    shared: dict[int, int] = {}  # the index of each document in the list
    index = 0
    for document in wanted:
        index = bisect_left(ordinals, document - base, index)
        if index < len(ordinals) and ordinals[index] == document - base:
            shared[document] = index
    some = positions_of_some(packed, len(ordinals), shared.values())
    for document, positions in zip(shared, some, strict=True):
        found[document] = [*found[document], *positions] if document in found else positions


def nearness_in(
    proximity: Proximity, positions: Sequence[Sequence[int]], title_length: int
) -> Iterator[Nearness]:
    """Yield what proximity adds to the score of a document with these positions of each word."""
    chain = set(positions[0])  # where the words so far end that stand as in the query, from the first on
    pairs = zip(proximity.distances, proximity.pair_weights, strict=True)
    for index, (distance, weight) in enumerate(pairs):
        found = _followed(positions[index], positions[index + 1], distance)
        chain = {position + distance for position in chain.intersection(found)} if chain else chain
        fields = {position >> OFFSET_BITS for position in found}
        if score := weight * sum(PAIR_WEIGHTS[field] for field in fields):
            yield Nearness(index, index + 1, fields, score)
    last = len(positions) - 1
    fields = {position >> OFFSET_BITS for position in chain}
    if HEADING in fields:
        yield Nearness(0, last, (HEADING,), WHOLE_HEADING * proximity.whole_weight)
    if TITLE in fields:
        yield Nearness(0, last, (TITLE,), proximity.title_score(title_length))
    for index, (word, some) in enumerate(zip(proximity.words, positions, strict=True)):
        if some and max(some) >= _ANCHORS:
            yield Nearness(index, index, (ANCHOR,), ANCHOR_WEIGHT * word.weight)


def _followed(some: Sequence[int], others: Sequence[int], distance: int) -> set[int]:
    """Return the positions that have another position at this distance behind them, in the same field."""
    if not some or not others:
        return set()
    found = {position - distance for position in others}.intersection(some)
    return {position for position in found if position >> OFFSET_BITS == position + distance >> OFFSET_BITS}
