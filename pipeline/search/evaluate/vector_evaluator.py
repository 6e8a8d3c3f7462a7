"""Answers queries with numpy, for a process that answers many, and for lists too long for plain Python.

A step is evaluated over all segments at once: to rising documents with their units, or, where that may be a
fair share of all documents, to a table of units by document.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crawlctl.pipeline.search.evaluate.top_k import best_places
from crawlctl.pipeline.search.evaluate.vector_lists import looked_up
from crawlctl.pipeline.search.evaluate.vector_phrases import phrase_places
from crawlctl.pipeline.search.plan.steps import AllOf, AnyOf, DocumentRanges, Phrase, Terms, leaves

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from crawlctl.pipeline.search.evaluate.matches import Ranked
    from crawlctl.pipeline.search.evaluate.vector_positions import Documents
    from crawlctl.pipeline.search.open.searcher import Searcher
    from crawlctl.pipeline.search.plan.steps import Plan, Step

    Units = NDArray[np.int32]

_TABLE_SHARE = 16  # where one of so many documents may match, a table is faster than sorted documents
_ADDED_SHARE = 8  # where one of so many has the terms, adding whole tables is faster than adding by document


class Found(NamedTuple):
    """Rising documents and the units of each; without documents, the units of all, 0 for no match."""

    documents: Documents | None
    units: Units

    def units_of(self, documents: Documents) -> Units:
        """Return the units of some documents, 0 where they do not match."""
        if self.documents is None:
            return self.units[documents]
        return looked_up(self.documents, self.units, documents)

    def listed(self) -> tuple[Documents, Units]:
        """Return the documents that match and their units."""
        if self.documents is not None:
            return self.documents, self.units
        documents = np.flatnonzero(self.units).astype(np.int32)
        return documents, self.units[documents]


class VectorEvaluator:
    """Evaluates the steps of one plan."""

    def __init__(self, index: Searcher, plan: Plan) -> None:
        self._index = index
        self._lists = index.vector_lists
        self._prior_weight = plan.prior_weight

    def prefetch(self, steps: Iterable[Step]) -> None:
        """Read and decode the lists of several steps in one go."""
        steps = tuple(steps)
        self._lists.load(
            [terms for step in steps for terms in leaves(step)],
            [word for step in steps for words in _sequences(step) for word in words],
        )

    def matches(self, step: Step) -> VectorMatches:
        """Return the documents that match a step."""
        if self._index.parallel:
            self.prefetch((step,))
        found = self._evaluate(step)
        priors = self._lists.priors if self._prior_weight else None
        if priors is not None:
            found = _with_priors(found, priors, self._prior_weight)
        return VectorMatches(self._index, found)

    def _evaluate(self, step: Step) -> Found:
        if isinstance(step, Terms):
            found = self._lists.of(step)
            return Found(found.documents, _units(step, found.impacts))
        if isinstance(step, AllOf):
            return self._all(step)
        if isinstance(step, AnyOf):
            return self._any(step)
        if isinstance(step, Phrase):
            return self._sequence(step)
        return self._hosts(step)

    def _all(self, step: AllOf) -> Found:
        """Evaluate the part with the fewest documents, and ask the others about these only."""
        first, *others = sorted(step.parts, key=self._bound)
        documents, units = self._evaluate(first).listed()
        for part in others:
            more = self._units_of(part, documents)
            kept = more.nonzero()[0]
            documents, units = documents[kept], units[kept]
            units += more[kept]
        for part in step.without:
            kept = np.flatnonzero(self._units_of(part, documents) == 0)
            documents, units = documents[kept], units[kept]
        return Found(documents, units)

    def _units_of(self, step: Step, documents: Documents) -> Units:
        """Return what a step gives to some documents, 0 to those that do not match it."""
        if not len(documents):
            return np.zeros(0, np.int32)
        if isinstance(step, Terms):
            return _units(step, self._lists.of(step).impacts_of(documents))
        if isinstance(step, DocumentRanges):
            inside = np.zeros(len(documents), np.int32)
            for first, after in self._ranges(step):
                inside[slice(*documents.searchsorted((first, after)))] = 1
            return inside
        return self._evaluate(step).units_of(documents)

    def _any(self, step: AnyOf) -> Found:
        if sum(map(self._bound, step.parts)) * _TABLE_SHARE >= self._index.size:
            return self._any_in_table(step)
        listed = [self._evaluate(part).listed() for part in step.parts]
        documents = np.concatenate([part[0] for part in listed])
        units = np.concatenate([part[1] for part in listed])
        if not len(documents):
            return Found(documents, units)
        order = documents.argsort(kind="stable")
        documents, units = documents[order], units[order]
        starts = np.flatnonzero(np.r_[True, documents[1:] != documents[:-1]])
        return Found(documents[starts], np.add.reduceat(units, starts))

    def _any_in_table(self, step: AnyOf) -> Found:
        table = np.zeros(self._index.size, np.int32)
        for part in step.parts:
            if isinstance(part, Terms) and len(found := self._lists.of(part)) * _ADDED_SHARE >= len(table):
                table += _units(part, found.table)
            else:
                documents, units = self._evaluate(part).listed()
                table[documents] += units
        return Found(None, table)

    def _sequence(self, step: Phrase) -> Found:
        documents, units = self._all(AllOf(step.words)).listed()
        kept = phrase_places(self._lists, step, documents)
        return Found(documents[kept], units[kept])

    def _hosts(self, step: DocumentRanges) -> Found:
        ranges = [np.arange(first, after, dtype=np.int32) for first, after in self._ranges(step)]
        documents = np.concatenate([np.zeros(0, np.int32), *ranges])
        if self._lists.alive is not None:
            documents = documents[self._lists.alive[documents]]
        return Found(documents, np.ones(len(documents), np.int32))

    def _ranges(self, step: DocumentRanges) -> Iterator[tuple[int, int]]:
        for segment in sorted(step.ranges):
            base = self._index.bases[segment]
            yield from ((base + first, base + after) for first, after in step.ranges[segment])

    def _bound(self, step: Step) -> int:
        """Return how many documents may match at most."""
        if isinstance(step, Terms):
            return len(self._lists.of(step))
        if isinstance(step, DocumentRanges):
            return sum(after - first for first, after in self._ranges(step))
        if isinstance(step, AnyOf):
            return sum(map(self._bound, step.parts))
        return min(map(self._bound, step.words if isinstance(step, Phrase) else step.parts))


class VectorMatches:
    """Documents and their units."""

    def __init__(self, index: Searcher, found: Found) -> None:
        self._index = index
        self._found = found

    @property
    def total(self) -> int:
        """How many documents match."""
        documents, units = self._found
        return int(np.count_nonzero(units != 0)) if documents is None else len(documents)

    def best(self, count: int) -> list[Ranked]:
        """Return the first ones by score."""
        documents, units = self._found
        places = best_places(units, count)
        numbers = places if documents is None else documents[places]
        return _ranked(numbers, units[places])

    def latest(self, count: int) -> list[Ranked]:
        """Return the first ones by date, the newest first."""
        documents, units = self._found.listed()
        # No date is 0 for sure, and only what is above 0 counts as a match.
        places = best_places(self._index.vector_lists.dates[documents] + 1, count)
        return _ranked(documents[places], units[places])

    def __contains__(self, document: int) -> bool:
        return bool(self._found.units_of(np.array([document], np.int32))[0])


def _units(terms: Terms, impacts: NDArray[np.uint8]) -> Units:
    units: Units
    if terms.weight:
        units = np.multiply(impacts, np.int32(terms.weight), dtype=np.int32)
    else:
        units = (impacts != 0).astype(np.int32)
    return units


def _with_priors(found: Found, priors: NDArray[np.int32], weight: int) -> Found:
    documents, units = found
    if documents is not None:
        return Found(documents, units + priors[documents] * np.int32(weight))
    return Found(None, np.where(units != 0, units + priors * np.int32(weight), 0))


def _ranked(documents: NDArray[np.integer], units: NDArray[np.integer]) -> list[Ranked]:
    from crawlctl.pipeline.search.evaluate.matches import Ranked

    return list(map(Ranked, documents.tolist(), units.tolist()))


def _sequences(step: Step) -> Iterator[tuple[Terms, ...]]:
    if isinstance(step, Phrase):
        yield step.words
    elif isinstance(step, (AllOf, AnyOf)):
        for part in (*step.parts, *(step.without if isinstance(step, AllOf) else ())):
            yield from _sequences(part)
