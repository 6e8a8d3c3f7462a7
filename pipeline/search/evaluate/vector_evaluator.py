"""Evaluates plans with numpy, for processes that answer many queries and for long posting lists.

A step is evaluated over all segments at once: to rising documents with their scores or, where a fair share of
all documents may match, to a table with the score of every document.

To evaluate a new class of step, write a method and add a row to `_METHODS`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from crawlctl.pipeline.index.fields import MAX_IMPACT
from crawlctl.pipeline.search.evaluate.matches import Ranked
from crawlctl.pipeline.search.evaluate.rescoring.vector_proximity import Rescored, rescored
from crawlctl.pipeline.search.evaluate.top_k import best_indices
from crawlctl.pipeline.search.evaluate.vector_lists import looked_up
from crawlctl.pipeline.search.evaluate.vector_phrases import phrase_indices
from crawlctl.pipeline.search.plan.proximity import RESCORED
from crawlctl.pipeline.search.plan.steps import (
    AllOf,
    AnyOf,
    BestOf,
    ColumnRange,
    Defining,
    DocumentRanges,
    Keywords,
    MostOf,
    PhraseOf,
    Terms,
)
from crawlctl.pipeline.search.rules.search_rules import BOOST_BITS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from crawlctl.pipeline.search.evaluate.vector_lists import VectorLists
    from crawlctl.pipeline.search.evaluate.vector_positions import Documents
    from crawlctl.pipeline.search.plan.proximity import Proximity
    from crawlctl.pipeline.search.plan.query_plan import Plan
    from crawlctl.pipeline.search.plan.steps import Step
    from crawlctl.pipeline.search.rules.search_rules import Boosts

    Scores = NDArray[np.int32]

_Whole = TypeVar("_Whole", np.int32, np.int64)

_TABLE_SHARE = 16  # if 1/16 of all documents may match, a table is faster than sorted documents
_ADDED_SHARE = (
    # if 1/8 of all documents have the terms, adding whole tables is faster than adding document by
    # document
    8
)
_FEW_HASHES = 256  # for more documents of a remote store, the hashes of all documents are read


class Found(NamedTuple):
    """Rising documents and their scores; if `documents` is None, the scores of all, 0 for no match."""

    documents: Documents | None
    scores: Scores

    def scores_of(self, documents: Documents) -> Scores:
        """Return the scores of some documents, 0 where they do not match."""
        if self.documents is None:
            return self.scores[documents]
        return looked_up(self.documents, self.scores, documents)

    def listed(self) -> tuple[Documents, Scores]:
        """Return the documents that match and their scores."""
        if self.documents is not None:
            return self.documents, self.scores
        documents = np.flatnonzero(self.scores).astype(np.int32)
        return documents, self.scores[documents]


class VectorEvaluator:
    """Evaluates the steps of one plan; the decoded posting lists belong to the open index."""

    def __init__(self, lists: VectorLists, plan: Plan) -> None:
        self._lists = lists
        self._reader = lists.reader
        self._prior_weight = plan.prior_weight

    def prefetch(self, steps: Iterable[Step]) -> None:
        """Read and decode the posting lists of several steps at once."""
        self._lists.load(steps)

    def matches(self, step: Step) -> VectorMatches:
        """Return the documents that match a step."""
        if self._reader.parallel:
            self.prefetch((step,))
        found = self._evaluate(step)
        priors = self._lists.weighted_priors(self._prior_weight) if self._prior_weight else None
        if priors is not None:
            found = _with_priors(found, priors)
        return VectorMatches(self._lists, found)

    def _evaluate(self, step: Step) -> Found:
        return _METHODS[type(step)].found(self, step)

    def _scores_of(self, step: Step, documents: Documents) -> Scores:
        """Return the scores that a step gives to some documents; a document that does not match it gets 0."""
        if not len(documents):
            return np.zeros(0, np.int32)
        return _METHODS[type(step)].scores_of(self, step, documents)

    def _bound(self, step: Step) -> int:
        return step.bound(self._documents_of)

    def _documents_of(self, terms: Terms) -> int:
        return len(self._lists.of(terms))

    def _terms(self, step: Terms) -> Found:
        found = self._lists.of(step)
        return Found(found.documents, _scores(step, found.impacts))

    def _defining(self, step: Defining) -> Found:
        documents = self._lists.of(step).documents
        return Found(documents, np.full(len(documents), step.weight * MAX_IMPACT or 1, np.int32))

    def _phrase(self, step: PhraseOf) -> Found:
        documents, scores = self._all_of(AllOf(step.words)).listed()
        kept = phrase_indices(self._lists, step, documents)
        return Found(documents[kept], scores[kept])

    def _ranges(self, step: DocumentRanges) -> Found:
        ranges = [np.arange(start, end, dtype=np.int32) for start, end in self._numbered(step)]
        documents = np.concatenate([np.zeros(0, np.int32), *ranges])
        if self._lists.alive is not None:
            documents = documents[self._lists.alive[documents]]
        return Found(documents, np.ones(len(documents), np.int32))

    def _numbered(self, step: DocumentRanges) -> Iterator[tuple[int, int]]:
        for segment in sorted(step.ranges):
            base = self._reader.bases[segment]
            yield from ((base + start, base + end) for start, end in step.ranges[segment])

    def _column(self, step: ColumnRange) -> Found:
        documents = np.concatenate([np.zeros(0, np.int32), *self._in_column(step)])
        if self._lists.alive is not None:
            documents = documents[self._lists.alive[documents]]
        return Found(documents, np.ones(len(documents), np.int32))

    def _in_column(self, step: ColumnRange) -> Iterator[Documents]:
        """Yield the documents of each segment that the step selects."""
        for segment in sorted(step.numbers):
            found = np.flatnonzero(_inside(step, np.asarray(step.numbers[segment])))
            yield found.astype(np.int32) + np.int32(self._reader.bases[segment])

    def _all_of(self, step: AllOf) -> Found:
        """Evaluate the part with the fewest documents, and ask the other parts about these only."""
        first, *others = sorted(step.parts, key=self._bound)
        documents, scores = self._evaluate(first).listed()
        for part in others:
            more = self._scores_of(part, documents)
            kept = more.nonzero()[0]
            documents, scores = documents[kept], scores[kept]
            scores += more[kept]
        for part in step.without:
            kept = np.flatnonzero(self._scores_of(part, documents) == 0)
            documents, scores = documents[kept], scores[kept]
        return Found(documents, scores)

    def _any_of(self, step: AnyOf) -> Found:
        if self._bound(step) * _TABLE_SHARE >= self._reader.size:
            return self._any_in_table(step)
        listed = [self._evaluate(part).listed() for part in step.parts]
        # Adding scores in a table and sorting only the documents takes a third of the time of sorting both.
        table = np.zeros(self._reader.size, np.int32)
        for some, scores in listed:
            table[some] += scores
        documents = np.concatenate([some for some, _ in listed])
        documents.sort()
        is_first = np.empty(len(documents), np.bool_)
        is_first[:1] = True
        np.not_equal(documents[1:], documents[:-1], out=is_first[1:])
        documents = documents[is_first]
        return Found(documents, table[documents])

    def _best_of(self, step: BestOf) -> Found:
        table = np.zeros(self._reader.size, np.int32)
        for part in step.parts:
            documents, scores = self._evaluate(part).listed()
            table[documents] = np.maximum(table[documents], scores)
        return Found(None, table)

    def _most_of(self, step: MostOf) -> Found:
        """Sort the documents of all parts together: a document that matches n parts then occurs n times."""
        documents = np.concatenate([self._lists.of(part).documents for part in step.parts])
        documents.sort()
        is_last = np.ones(max(0, len(documents) - step.least + 1), np.bool_)
        if step.least > 1:
            is_last = documents[step.least - 1 :] == documents[: 1 - step.least]
        documents = np.unique(documents[: len(is_last)][is_last])
        return Found(documents, np.ones(len(documents), np.int32))

    def _any_in_table(self, step: AnyOf) -> Found:
        table = np.zeros(self._reader.size, np.int32)
        for part in step.parts:
            if type(part) is Terms and len(found := self._lists.of(part)) * _ADDED_SHARE >= len(table):
                table += _scores(part, found.table)
            else:
                documents, scores = self._evaluate(part).listed()
                table[documents] += scores
        return Found(None, table)

    def _scores_of_terms(self, step: Terms, documents: Documents) -> Scores:
        return _scores(step, self._lists.of(step).impacts_of(documents))

    def _scores_of_ranges(self, step: DocumentRanges, documents: Documents) -> Scores:
        inside = np.zeros(len(documents), np.int32)
        for start, end in self._numbered(step):
            inside[slice(*documents.searchsorted((start, end)))] = 1
        return inside

    def _scores_of_column(self, step: ColumnRange, documents: Documents) -> Scores:
        inside = np.zeros(len(documents), np.int32)
        for segment, numbers in step.numbers.items():
            base = self._reader.bases[segment]
            some = slice(*documents.searchsorted((base, base + len(numbers))))
            inside[some] = _inside(step, np.asarray(numbers)[documents[some] - base])
        return inside

    def _scores_of_all(self, step: AllOf, documents: Documents) -> Scores:
        scores, matching = np.zeros(len(documents), np.int32), np.ones(len(documents), np.bool_)
        for part in step.parts:
            some = self._scores_of(part, documents)
            scores += some
            matching &= some != 0
        for part in step.without:
            matching &= self._scores_of(part, documents) == 0
        return scores * matching

    def _scores_of_any(self, step: AnyOf, documents: Documents) -> Scores:
        scores = np.zeros(len(documents), np.int32)
        for part in step.parts:
            scores += self._scores_of(part, documents)
        return scores

    def _scores_of_found(self, step: Step, documents: Documents) -> Scores:
        return self._evaluate(step).scores_of(documents)


class _StepMethods(NamedTuple):
    """How one class of step is evaluated."""

    found: Callable[[VectorEvaluator, Any], Found]  # all documents that match, without deleted ones
    # the scores that the step gives to some documents; a document that does not match it gets 0
    scores_of: Callable[[VectorEvaluator, Any, Documents], Scores] = VectorEvaluator._scores_of_found


_METHODS: dict[type[Step], _StepMethods] = {
    Terms: _StepMethods(VectorEvaluator._terms, VectorEvaluator._scores_of_terms),
    PhraseOf: _StepMethods(VectorEvaluator._phrase),
    Keywords: _StepMethods(VectorEvaluator._terms, VectorEvaluator._scores_of_terms),
    Defining: _StepMethods(VectorEvaluator._defining),
    DocumentRanges: _StepMethods(VectorEvaluator._ranges, VectorEvaluator._scores_of_ranges),
    ColumnRange: _StepMethods(VectorEvaluator._column, VectorEvaluator._scores_of_column),
    AllOf: _StepMethods(VectorEvaluator._all_of, VectorEvaluator._scores_of_all),
    AnyOf: _StepMethods(VectorEvaluator._any_of, VectorEvaluator._scores_of_any),
    MostOf: _StepMethods(VectorEvaluator._most_of),
    BestOf: _StepMethods(VectorEvaluator._best_of),
}


class VectorMatches:
    """The documents that match a step, with their scores."""

    def __init__(self, lists: VectorLists, found: Found) -> None:
        self._lists = lists
        self._found = found
        self._first: Rescored | None = None
        self._boosts: Boosts | None = None
        self._raw = found  # the documents and scores before boosts

    @property
    def total(self) -> int:
        """The number of documents that match."""
        documents, scores = self._found
        return int(np.count_nonzero(scores != 0)) if documents is None else len(documents)

    def best(self, count: int) -> list[Ranked]:
        """Return the first `count` documents by score, the highest first."""
        return _ranked(*self._best(count))

    def rescored(self, proximity: Proximity, count: int) -> list[Ranked]:
        """Return the first `count` documents by score, proximity and quality together, the highest first."""
        if self._first is None:
            documents, scores = self._best(RESCORED)
            self._first = self._rescored(proximity, documents, scores)
        columns = (column[:count].tolist() for column in self._first)
        found = list(map(Ranked, *columns))
        return found + self.best(count)[len(found) :] if count > len(found) else found

    def _rescored(self, proximity: Proximity, documents: NDArray[np.integer], scores: Scores) -> Rescored:
        """Return the first documents with their sums; boosts count for the whole sum."""
        if self._boosts is None:
            return rescored(self._lists, proximity, documents, scores)
        raw = self._raw.scores_of(documents.astype(np.int32))
        found = rescored(self._lists, proximity, documents, raw)
        rising = documents.argsort()
        places = rising[
            documents[rising].searchsorted(found.documents)
        ]  # documents with equal sums keep their order
        order = found.documents.argsort()
        sums = found.scores.copy()
        sums[order] = _boosted(self._boosts, found.documents[order], sums[order])
        ordered = np.lexsort((places, -sums))
        return Rescored(found.documents[ordered], sums[ordered], found.near[ordered], found.quality[ordered])

    def boosted(self, boosts: Boosts) -> VectorMatches:
        """Return the matches with the factors of boosts in their scores."""
        documents, scores = self._found
        matches = VectorMatches(self._lists, Found(documents, _boosted(boosts, documents, scores)))
        matches._boosts, matches._raw = boosts, self._found
        return matches

    def score(self, document: int) -> int:
        """Return the score of a document, 0 if it does not match."""
        return int(self._found.scores_of(np.array([document], np.int32))[0])

    def scores(self, documents: Sequence[int]) -> list[int]:
        """Return the scores of some documents, 0 where they do not match."""
        scores: list[int] = self._found.scores_of(np.array(documents, np.int32)).tolist()
        return scores

    def _best(self, count: int) -> tuple[NDArray[np.integer], Scores]:
        documents, scores = self._found
        if documents is None:
            indices = best_indices(scores, count, self._hashes)
            return indices, scores[indices]
        indices = best_indices(scores, count, lambda some: self._hashes(documents[some]))
        return documents[indices], scores[indices]

    def latest(self, count: int) -> list[Ranked]:
        """Return the first `count` documents by date, the newest first."""
        documents, scores = self._found.listed()
        # A date may be 0, and `best_indices` leaves out 0.
        dates = self._lists.dates[documents] + 1
        indices = best_indices(dates, count, lambda some: self._hashes(documents[some]))
        return _ranked(documents[indices], scores[indices])

    def documents(self) -> Sequence[int]:
        """Return the documents that match, rising; the numbers are not copied."""
        return np.ascontiguousarray(self._found.listed()[0]).data

    def _hashes(self, documents: NDArray[np.integer]) -> NDArray[np.uint64]:
        reader = self._lists.reader
        if not reader.parallel or len(documents) > _FEW_HASHES:
            return self._lists.hashes.take(documents)
        found = reader.url_hashes(documents.tolist())
        return np.array([found[document] for document in documents.tolist()], np.uint64)

    def count(self, documents: Sequence[int]) -> int:
        """Return how many of some documents match."""
        return int(np.count_nonzero(self._found.scores_of(np.array(documents, np.int32))))

    def without(self, ranges: Iterable[tuple[int, int]]) -> VectorMatches:
        """Return the matches without the documents of some ranges [start, end)."""
        documents, scores = self._found
        scores = scores.copy()
        for start, end in ranges:
            first, after = (start, end) if documents is None else documents.searchsorted((start, end))
            scores[first:after] = 0
        if documents is not None:
            documents, scores = documents[scores != 0], scores[scores != 0]
        matches = VectorMatches(self._lists, Found(documents, scores))
        matches._boosts, matches._raw = (
            self._boosts,
            self._raw if self._boosts is not None else matches._found,
        )
        if self._first is not None:
            kept = matches._found.scores_of(self._first.documents.astype(np.int32)) != 0
            matches._first = Rescored(*(column[kept] for column in self._first))
        return matches

    def __contains__(self, document: int) -> bool:
        return bool(self._found.scores_of(np.array([document], np.int32))[0])


def _scores(terms: Terms, impacts: NDArray[np.uint8]) -> Scores:
    scores: Scores
    if terms.weight:
        scores = np.multiply(impacts, np.int32(terms.weight), dtype=np.int32)
    else:
        scores = (impacts != 0).astype(np.int32)
    return scores


def _boosted(
    boosts: Boosts, documents: NDArray[np.integer] | None, scores: NDArray[_Whole]
) -> NDArray[_Whole]:
    """Return the scores of rising documents, or of all, with the factors of boosts; 0 stays 0."""
    found = scores.copy()
    for start, end, factor, _ in boosts.ranges:
        first, after = (start, end) if documents is None else documents.searchsorted((start, end))
        some = scores[first:after].astype(np.int64)
        found[first:after] = np.where(some > 0, np.maximum(some * factor >> BOOST_BITS, 1), some)
    return found


def _inside(step: ColumnRange, numbers: NDArray[np.unsignedinteger]) -> NDArray[np.bool_]:
    inside: NDArray[np.bool_] = (numbers >= step.low) & (numbers <= step.high)
    return inside


def _with_priors(found: Found, priors: Scores) -> Found:
    documents, scores = found
    if documents is not None:
        scores = scores + priors[documents]
    else:
        is_found = scores != 0
        scores = scores + priors
        scores *= is_found
    return Found(documents, scores)


def _ranked(documents: NDArray[np.integer], scores: NDArray[np.integer]) -> list[Ranked]:
    return list(map(Ranked, documents.tolist(), scores.tolist()))
