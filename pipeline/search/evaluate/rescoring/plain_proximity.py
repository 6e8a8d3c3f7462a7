"""Proximity in plain Python: where the words of a query stand in documents, and the score that this adds."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.index.fields import INDEXED_FIELDS, OFFSET_BITS
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

_FIELDS = range(len(INDEXED_FIELDS))


class Nearness(NamedTuple):
    """One part of the proximity score: words in a row, the fields in which they stand so, and the score."""

    first: int  # the index in the query of the first word
    last: int
    fields: Iterable[int]
    score: int


def positions_in(
    listed: Documents, packed: bytes, wanted: Iterable[int], found: dict[int, Sequence[int]], base: int
) -> None:
    """Add to `found` the positions that a posting list has in the wanted documents, which are sorted.

    `base` is the number of the first document of the segment.
    """
    shared = _shared(listed.ordinals, wanted, base)
    some = positions_of_some(packed, len(listed.ordinals), shared.values())
    for document, positions in zip(shared, some, strict=True):
        found[document] = [*found[document], *positions] if document in found else positions


def masks_in(listed: Documents, wanted: Iterable[int], found: dict[int, int], base: int) -> None:
    """Add to `found` the fields, one bit each, that a posting list has in the wanted documents."""
    for document, index in _shared(listed.ordinals, wanted, base).items():
        found[document] = found.get(document, 0) | listed.masks[index]


def _shared(ordinals: Sequence[int], wanted: Iterable[int], base: int) -> dict[int, int]:
    """Return, for each wanted document that the list has, its index in the list; documents are sorted."""
    shared: dict[int, int] = {}
    index = 0
    for document in wanted:
        index = bisect_left(ordinals, document - base, index)
        if index < len(ordinals) and ordinals[index] == document - base:
            shared[document] = index
    return shared


def nearness_in(
    proximity: Proximity, positions: Sequence[Sequence[int]], masks: Sequence[int], title_length: int
) -> Iterator[Nearness]:
    """Yield the parts of the proximity score of a document; `positions` and `masks` are by word."""
    # The positions of the last word so far, where all words so far stand as in the query.
    chain = set(positions[0]) if positions else set()
    pairs = zip(proximity.distances, proximity.pair_weights, strict=True)
    for index, (distance, weight) in enumerate(pairs):
        found = _followed(positions[index], positions[index + 1], distance)
        chain = {position + distance for position in chain.intersection(found)} if chain else chain
        fields = {position >> OFFSET_BITS for position in found}
        if score := weight * sum(PAIR_WEIGHTS[field] for field in fields):
            yield Nearness(index, index + 1, fields, score)
    last = len(masks) - 1
    fields = {position >> OFFSET_BITS for position in chain} if last else _fields_of(masks[0])
    if HEADING in fields:
        yield Nearness(0, last, (HEADING,), WHOLE_HEADING * proximity.whole_weight)
    if TITLE in fields:
        yield Nearness(0, last, (TITLE,), proximity.title_score(title_length))
    for index, (word, mask) in enumerate(zip(proximity.words, masks, strict=True)):
        if mask >> ANCHOR & 1:
            yield Nearness(index, index, (ANCHOR,), ANCHOR_WEIGHT * word.weight)


def _fields_of(mask: int) -> set[int]:
    """Return the numbers of the fields of a mask."""
    return {field for field in _FIELDS if mask >> field & 1}


def _followed(some: Sequence[int], others: Sequence[int], distance: int) -> set[int]:
    """Return those positions of `some` that `others` follow at this distance, in the same field."""
    if not some or not others:
        return set()
    found = {position - distance for position in others}.intersection(some)
    return {position for position in found if position >> OFFSET_BITS == position + distance >> OFFSET_BITS}
