"""Answers a query in plain Python, for a process that answers one: importing numpy would take longer.

A step is evaluated segment by segment, to a dictionary of ordinals and units. Dictionaries are made from
whole lists by `zip` and joined by comprehensions, so that the loops run in C as far as can be.
"""

from __future__ import annotations

from functools import lru_cache
from heapq import nlargest
from itertools import compress
from typing import TYPE_CHECKING

from crawlctl.pipeline.index.segment.postings.plain_lists import decode_documents
from crawlctl.pipeline.search.evaluate.list_reads import Want
from crawlctl.pipeline.search.evaluate.matches import Ranked
from crawlctl.pipeline.search.evaluate.wanted_lists import wants_of
from crawlctl.pipeline.search.plan.steps import (
    ANY_FIELD,
    MAX_IMPACT,
    AllOf,
    AnyOf,
    DocumentRanges,
    Phrase,
    Terms,
    can_match,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlctl.pipeline.index.segment.postings.plain_lists import Documents
    from crawlctl.pipeline.index.segment.term_info import TermPlace
    from crawlctl.pipeline.search.open.searcher import Searcher
    from crawlctl.pipeline.search.plan.steps import Plan, Step

    Units = dict[int, int]  # by ordinal or, in all segments, by document

_DOCUMENT_BITS = 32
_LAST = (1 << _DOCUMENT_BITS) - 1


class PlainEvaluator:
    """Evaluates the steps of one plan."""

    def __init__(self, index: Searcher, plan: Plan) -> None:
        self._index = index
        self._prior_weight = plan.prior_weight
        self._read: dict[TermPlace, tuple[bytes, bytes]] = {}
        self._wanted: set[Want] = set()

    def prefetch(self, steps: Iterable[Step]) -> None:
        """Read the lists of several steps in one go."""
        segments = range(len(self._index.segments))
        wants = {want for step in steps for segment in segments for want in wants_of(step, segment)}
        fresh = {want for want in wants if not self._wanted & {want, Want(want.place, True)}}
        self._read.update(self._index.lists.read(fresh))
        self._wanted |= fresh

    def matches(self, step: Step) -> PlainMatches:
        """Return the documents that match a step."""
        self.prefetch((step,))
        found: Units = {}
        for number, base in enumerate(self._index.bases):
            if can_match(step, number):
                units = self._with_priors(number, self._alive(number, self.evaluate(step, number)))
                found.update(units if base == 0 else {base + ordinal: n for ordinal, n in units.items()})
        return PlainMatches(self._index, found)

    def evaluate(self, step: Step, segment: int) -> Units:
        """Return the matching documents of a segment, dead ones included."""
        if not can_match(step, segment):
            return {}
        if isinstance(step, Terms):
            return self._terms(step, segment)
        if isinstance(step, AllOf):
            return self._all(step, segment)
        if isinstance(step, AnyOf):
            return self._any(step, segment)
        if isinstance(step, Phrase):
            return self._sequence(step, segment)
        return {ordinal: 1 for first, after in step.ranges[segment] for ordinal in range(first, after)}

    def _terms(self, terms: Terms, segment: int) -> Units:
        found: Units = {}
        for place in terms.places[segment]:
            impacts = self._impacts(place, terms.mask)
            found = impacts if not found else _greater(found, impacts)
        if not terms.weight:
            return dict.fromkeys(found, 1)
        units = list(range(0, terms.weight * (MAX_IMPACT + 1), terms.weight))
        return dict(zip(found, map(units.__getitem__, found.values()), strict=True))

    def _impacts(self, place: TermPlace, mask: int) -> dict[int, int]:
        documents = self.documents(place)
        if mask == ANY_FIELD:
            return dict(zip(documents.ordinals, documents.impacts, strict=True))
        kept = documents.masks.translate(_kept(mask))
        return dict(compress(zip(documents.ordinals, documents.impacts, strict=True), kept))

    def documents(self, place: TermPlace) -> Documents:
        """Return the documents of a list."""
        with self._index.lists.damage(place):
            limit = self._index.segments[place.segment].documents
            return decode_documents(self._part(place, positions=False), place.count, limit)

    def _part(self, place: TermPlace, *, positions: bool) -> bytes:
        return self._read[place][positions]

    def _all(self, step: AllOf, segment: int) -> Units:
        parts = sorted(step.parts, key=lambda part: _estimate(part, segment))
        found = self.evaluate(parts[0], segment)
        for part in parts[1:]:
            if not found:
                break
            found = self._both(found, part, segment)
        for part in step.without:
            unwanted = self.evaluate(part, segment)
            found = {ordinal: units for ordinal, units in found.items() if ordinal not in unwanted}
        return found

    def _both(self, found: Units, part: Step, segment: int) -> Units:
        if isinstance(part, DocumentRanges):
            ranges = part.ranges[segment]
            return {
                ordinal: units + 1
                for ordinal, units in found.items()
                if any(first <= ordinal < after for first, after in ranges)
            }
        other = self.evaluate(part, segment)
        return {ordinal: units + other[ordinal] for ordinal, units in found.items() if ordinal in other}

    def _any(self, step: AnyOf, segment: int) -> Units:
        parts = sorted((self.evaluate(part, segment) for part in step.parts), key=len, reverse=True)
        found = dict(parts[0])
        for part in parts[1:]:
            for ordinal, units in part.items():
                found[ordinal] = found.get(ordinal, 0) + units
        return found

    def _sequence(self, step: Phrase, segment: int) -> Units:
        together = self._all(AllOf(step.words), segment)
        if not together:
            return together
        from crawlctl.pipeline.search.evaluate.plain_phrases import phrase_matches

        lists = [[(self.documents(place), place) for place in word.places[segment]] for word in step.words]
        return phrase_matches(self._index, step.mask, lists, together, self._read)

    def _alive(self, segment: int, units: Units) -> Units:
        stones = self._index.dead.get(segment)
        if stones is None or not stones.dead:
            return units
        bitmap = stones.bitmap
        return {
            ordinal: count
            for ordinal, count in units.items()
            if not bitmap[ordinal >> 3] >> (ordinal & 7) & 1
        }

    def _with_priors(self, segment: int, units: Units) -> Units:
        priors = self._index.priors.get(segment) if self._prior_weight else None
        if priors is None:
            return units
        weight = self._prior_weight
        return {ordinal: count + weight * priors[ordinal] for ordinal, count in units.items()}


class PlainMatches:
    """Documents and their units."""

    def __init__(self, index: Searcher, units: Units) -> None:
        self._index = index
        self._units = units

    @property
    def total(self) -> int:
        """How many documents match."""
        return len(self._units)

    def best(self, count: int) -> list[Ranked]:
        """Return the first ones by score."""
        keys = (units << _DOCUMENT_BITS | _LAST - document for document, units in self._units.items())
        return self._ranked(nlargest(count, keys))

    def latest(self, count: int) -> list[Ranked]:
        """Return the first ones by date, the newest first."""
        index = self._index
        keys = []
        for document in self._units:
            segment, ordinal = index.locate(document)
            keys.append(index.dates(segment)[ordinal] << _DOCUMENT_BITS | _LAST - document)
        return self._ranked(nlargest(count, keys))

    def __contains__(self, document: int) -> bool:
        return document in self._units

    def _ranked(self, keys: list[int]) -> list[Ranked]:
        documents = (_LAST - (key & _LAST) for key in keys)
        return [Ranked(document, self._units[document]) for document in documents]


def _greater(left: Units, right: Units) -> Units:
    """Return the documents of both with the greater number of each."""
    if len(left) < len(right):
        left, right = right, left
    joined = dict(left)
    for ordinal, impact in right.items():
        if impact > joined.get(ordinal, 0):
            joined[ordinal] = impact
    return joined


def _estimate(step: Step, segment: int) -> int:
    """Return how many documents a step may match in a segment, roughly."""
    if isinstance(step, Terms):
        return sum(place.count for place in step.places.get(segment, ()))
    if isinstance(step, DocumentRanges):  # last: a range of ordinals is looked up, not made
        return 1 << _DOCUMENT_BITS
    if isinstance(step, AnyOf):
        return sum(_estimate(part, segment) for part in step.parts)
    parts = step.words if isinstance(step, Phrase) else step.parts
    return min(_estimate(part, segment) for part in parts)


@lru_cache(maxsize=ANY_FIELD)
def _kept(mask: int) -> bytes:
    """Return a table that turns masks of fields into whether they have one of a set of fields."""
    return bytes(1 if fields & mask else 0 for fields in range(256))
