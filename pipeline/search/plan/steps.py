"""A query as the evaluators take it: which posting lists, joined how, and what each adds to a score.

Scores are whole numbers, so that both evaluators give the same order: a unit is 1/255 of a 1/1024 of what
BM25 calls one. Each part that a document matches adds one unit at least; so a document matches exactly if its
score is not 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from crawlctl.pipeline.index.fields import INDEXED_FIELDS
from crawlctl.pipeline.index.segment.term_info import TermPlace

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_IMPACT = 255
ANY_FIELD = (1 << len(INDEXED_FIELDS)) - 1


class Terms(msgspec.Struct, frozen=True, eq=False):
    """Documents that have one of some terms in one of some fields; of several the greatest impact counts."""

    text: str
    terms: tuple[bytes, ...]
    places: Mapping[int, tuple[TermPlace, ...]]  # by segment
    mask: int = ANY_FIELD
    idf: float = 0.0
    weight: int = 0  # the units of an impact of 1; with 0 the terms select and do not rank

    @property
    def count(self) -> int:
        """The number of postings."""
        return sum(place.count for places in self.places.values() for place in places)


class Phrase(msgspec.Struct, frozen=True, eq=False):
    """Documents that have the words side by side, in one of the fields that all words are asked for in."""

    words: tuple[Terms, ...]

    @property
    def mask(self) -> int:
        """The fields in which the words may stand."""
        return self.words[0].mask


class DocumentRanges(msgspec.Struct, frozen=True, eq=False):
    """Documents of some hosts: ranges of ordinals, by segment, in rising order and apart."""

    text: str
    ranges: Mapping[int, tuple[tuple[int, int], ...]]


class AllOf(msgspec.Struct, frozen=True, eq=False):
    """Documents that match all of the parts and none of the others."""

    parts: tuple[Step, ...]
    without: tuple[Step, ...] = ()


class AnyOf(msgspec.Struct, frozen=True, eq=False):
    """Documents that match at least one part."""

    parts: tuple[Step, ...]


Step: TypeAlias = Terms | Phrase | DocumentRanges | AllOf | AnyOf


class Plan(msgspec.Struct, frozen=True, eq=False):
    """The steps of a query, and how many units make a score of 1."""

    step: Step
    loose: Step | None  # of a plain query: what matches any of its words
    scale: int
    prior_weight: int  # the units of a prior of 1

    def score(self, units: int) -> float:
        """Return the score that a number of units stands for."""
        return units / (self.scale * MAX_IMPACT)


def leaves(step: Step) -> Iterator[Terms]:
    """Yield the terms of a step, those that documents must not have included."""
    if isinstance(step, Terms):
        yield step
    elif isinstance(step, Phrase):
        yield from step.words
    elif isinstance(step, (AllOf, AnyOf)):
        for part in step.parts:
            yield from leaves(part)
        if isinstance(step, AllOf):
            for part in step.without:
                yield from leaves(part)


def can_match(step: Step, segment: int) -> bool:
    """Tell whether a segment has the lists without which no document of it can match."""
    if isinstance(step, Terms):
        return segment in step.places
    if isinstance(step, Phrase):
        return all(segment in word.places for word in step.words)
    if isinstance(step, DocumentRanges):
        return segment in step.ranges
    if isinstance(step, AllOf):
        return all(can_match(part, segment) for part in step.parts)
    return any(can_match(part, segment) for part in step.parts)


def postings(step: Step) -> int:
    """Return how many postings an evaluation may have to look at."""
    return sum(terms.count for terms in leaves(step))
