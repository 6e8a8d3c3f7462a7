"""Evaluates a plan in plain Python, for a process that answers one query.

For a single query, importing numpy would take longer than plain Python needs.

A step is evaluated segment by segment, to a dictionary from ordinals to scores. Dictionaries are made from
whole lists by `zip` and joined by comprehensions, so that most loops run in C. Each posting list is decoded
once per plan.

To evaluate a new class of step, write a method and add a row to `_METHODS`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from functools import lru_cache
from heapq import nlargest, nsmallest
from itertools import chain, compress
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from crawlctl.pipeline.index.fields import MAX_IMPACT
from crawlctl.pipeline.index.segment.postings.plain_lists import decode_documents
from crawlctl.pipeline.index.static_quality import quality_share
from crawlctl.pipeline.search.evaluate.matches import Ranked
from crawlctl.pipeline.search.plan.proximity import RESCORED
from crawlctl.pipeline.search.plan.steps import (
    ANY_FIELD,
    AllOf,
    AnyOf,
    BestOf,
    ColumnRange,
    Defining,
    DocumentRanges,
    Keywords,
    ListRead,
    MostOf,
    PhraseOf,
    Terms,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from crawlctl.pipeline.index.segment.postings.plain_lists import Documents
    from crawlctl.pipeline.index.segment.term_info import TermInfo
    from crawlctl.pipeline.search.evaluate.index_reader import IndexReader
    from crawlctl.pipeline.search.evaluate.list_reads import ListBytes
    from crawlctl.pipeline.search.evaluate.rescoring.plain_proximity import Nearness
    from crawlctl.pipeline.search.plan.proximity import Proximity
    from crawlctl.pipeline.search.plan.query_plan import Plan
    from crawlctl.pipeline.search.plan.steps import Step
    from crawlctl.pipeline.search.rules.search_rules import Boosts

    Scores = dict[int, int]  # keys: ordinals in one segment or, for all segments together, document numbers

_TITLE = "title"  # the name of the column
_documents_of = attrgetter("count")


class PlainEvaluator:
    """Evaluates the steps of one plan; it keeps the posting lists of the plan, as bytes and decoded."""

    def __init__(self, reader: IndexReader, plan: Plan) -> None:
        self._reader = reader
        self._prior_weight = plan.prior_weight
        self._bytes: ListBytes = {}
        self._decoded: dict[TermInfo, Documents] = {}
        self._fetched: set[ListRead] = set()

    def prefetch(self, steps: Iterable[Step]) -> None:
        """Read the posting lists of several steps at once."""
        segments = range(len(self._reader.segments))
        reads = {read for step in steps for segment in segments for read in step.lists(segment)}
        fresh = {read for read in reads if not self._fetched & {read, ListRead(read.info, True)}}
        self._bytes.update(self._reader.lists.read(fresh))
        self._fetched |= fresh

    def matches(self, step: Step) -> PlainMatches:
        """Return the documents that match a step."""
        self.prefetch((step,))
        found: Scores = {}
        for segment, base in enumerate(self._reader.bases):
            if step.can_match(segment):
                scores = self._with_priors(segment, self._alive(segment, self.evaluate(step, segment)))
                found.update(scores if base == 0 else {base + ordinal: n for ordinal, n in scores.items()})
        return PlainMatches(self, self._reader, found)

    def nearness(self, proximity: Proximity, documents: Sequence[int]) -> dict[int, list[Nearness]]:
        """Return the parts of what proximity adds to the score of each of some documents."""
        from crawlctl.pipeline.search.evaluate.rescoring.plain_proximity import nearness_in

        self.prefetch((proximity,))
        rising = sorted(documents)
        titles = self._reader.numbers_of(_TITLE, rising)
        masks = [self._masks_in(word, rising) for word in proximity.words]
        positions = [self._positions_in(word, rising) for word in proximity.placed]
        return {
            document: list(
                nearness_in(
                    proximity,
                    [word.get(document, ()) for word in positions],
                    [word.get(document, 0) for word in masks],
                    length,
                )
            )
            for document, length in zip(rising, titles, strict=True)
        }

    def _masks_in(self, word: Terms, rising: Sequence[int]) -> dict[int, int]:
        """Return the fields of some documents that have a word, as a mask."""
        from crawlctl.pipeline.search.evaluate.rescoring.plain_proximity import masks_in

        found: dict[int, int] = {}
        for segment, some in self._reader.by_segment(rising):
            for info in word.infos.get(segment, ()):
                masks_in(self.documents(info), some, found, self._reader.bases[segment])
        return found

    def _positions_in(self, word: Terms, rising: Sequence[int]) -> dict[int, Sequence[int]]:
        """Return the positions of a word in some documents."""
        from crawlctl.pipeline.search.evaluate.rescoring.plain_proximity import positions_in

        found: dict[int, Sequence[int]] = {}
        for segment, some in self._reader.by_segment(rising):
            base = self._reader.bases[segment]
            for info in word.infos.get(segment, ()):
                with self._reader.lists.naming_damage(info):
                    positions_in(self.documents(info), self._bytes[info][1], some, found, base)
        return found

    def evaluate(self, step: Step, segment: int) -> Scores:
        """Return the scores of the matching documents of a segment, deleted documents included."""
        return _METHODS[type(step)].scores(self, step, segment) if step.can_match(segment) else {}

    def documents(self, info: TermInfo) -> Documents:
        """Return the decoded documents of a posting list."""
        found = self._decoded.get(info)
        if found is None:
            with self._reader.lists.naming_damage(info):
                limit = self._reader.segments[info.segment].documents
                found = decode_documents(self._bytes[info][0], info.count, limit)
            self._decoded[info] = found
        return found

    def _terms(self, terms: Terms, segment: int) -> Scores:
        found: Scores = {}
        for info in terms.infos[segment]:
            impacts = self._impacts(info, terms.mask)
            found = impacts if not found else _greater(found, impacts)
        if not terms.weight:
            return dict.fromkeys(found, 1)
        scores = list(range(0, terms.weight * (MAX_IMPACT + 1), terms.weight))
        return dict(zip(found, map(scores.__getitem__, found.values()), strict=True))

    def _impacts(self, info: TermInfo, mask: int) -> dict[int, int]:
        documents = self.documents(info)
        if mask == ANY_FIELD:
            return dict(zip(documents.ordinals, documents.impacts, strict=True))
        kept = documents.masks.translate(_kept(mask))
        return dict(compress(zip(documents.ordinals, documents.impacts, strict=True), kept))

    def _defining(self, step: Defining, segment: int) -> Scores:
        score = step.weight * MAX_IMPACT or 1
        return {ordinal: score for info in step.infos[segment] for ordinal in self.documents(info).ordinals}

    def _phrase(self, step: PhraseOf, segment: int) -> Scores:
        together = self._all_of(AllOf(step.words), segment)
        if not together:
            return together
        from crawlctl.pipeline.search.evaluate.plain_phrases import WordPositions, phrase_matches

        words = []
        for word in step.words:
            infos = word.infos[segment]
            lists = [(self.documents(info), self._bytes[info][1], info) for info in infos]
            words.append(WordPositions(self._reader.lists, lists))
        return phrase_matches(words, step.mask, together)

    def _ranges(self, step: DocumentRanges, segment: int) -> Scores:
        return {ordinal: 1 for start, end in step.ranges[segment] for ordinal in range(start, end)}

    def _column(self, step: ColumnRange, segment: int) -> Scores:
        low, high = step.low, step.high
        numbers = step.numbers[segment]
        return {ordinal: 1 for ordinal, number in enumerate(numbers) if low <= number <= high}

    def _all_of(self, step: AllOf, segment: int) -> Scores:
        first, *others = sorted(step.parts, key=lambda part: part.bound(_documents_of))
        found = self.evaluate(first, segment)
        for part in others:
            if not found:
                break
            found = _METHODS[type(part)].add_scores(self, part, segment, found)
        for part in step.without:
            if not found:
                break
            unwanted = self.evaluate(part, segment)
            found = {ordinal: score for ordinal, score in found.items() if ordinal not in unwanted}
        return found

    def _any_of(self, step: AnyOf, segment: int) -> Scores:
        parts = sorted((self.evaluate(part, segment) for part in step.parts), key=len, reverse=True)
        found = dict(parts[0])
        for part in parts[1:]:
            for ordinal, score in part.items():
                found[ordinal] = found.get(ordinal, 0) + score
        return found

    def _most_of(self, step: MostOf, segment: int) -> Scores:
        parts = (self.evaluate(part, segment) for part in step.parts)
        times = Counter(chain.from_iterable(parts))
        return {ordinal: 1 for ordinal, count in times.items() if count >= step.least}

    def _best_of(self, step: BestOf, segment: int) -> Scores:
        found: Scores = {}
        for part in step.parts:
            found = _greater(found, self.evaluate(part, segment))
        return found

    def _add_scores(self, step: Step, segment: int, found: Scores) -> Scores:
        """Return the found documents that match a step too, with the sum of the scores."""
        other = self.evaluate(step, segment)
        return {ordinal: score + other[ordinal] for ordinal, score in found.items() if ordinal in other}

    def _add_any(self, step: AnyOf, segment: int, found: Scores) -> Scores:
        parts = [self.evaluate(part, segment) for part in step.parts]
        added = {ordinal: sum(part.get(ordinal, 0) for part in parts) for ordinal in found}
        return {ordinal: found[ordinal] + score for ordinal, score in added.items() if score}

    def _add_ranges(self, step: DocumentRanges, segment: int, found: Scores) -> Scores:
        ranges = step.ranges[segment]
        return {
            ordinal: score + 1
            for ordinal, score in found.items()
            if any(start <= ordinal < end for start, end in ranges)
        }

    def _add_column(self, step: ColumnRange, segment: int, found: Scores) -> Scores:
        numbers, low, high = step.numbers[segment], step.low, step.high
        return {ordinal: score + 1 for ordinal, score in found.items() if low <= numbers[ordinal] <= high}

    def _alive(self, segment: int, scores: Scores) -> Scores:
        tombstones = self._reader.tombstones.get(segment)
        if tombstones is None or not tombstones.dead:
            return scores
        bitmap = tombstones.bitmap
        return {
            ordinal: score
            for ordinal, score in scores.items()
            if not bitmap[ordinal >> 3] >> (ordinal & 7) & 1
        }

    def _with_priors(self, segment: int, scores: Scores) -> Scores:
        priors = self._reader.priors.get(segment) if self._prior_weight else None
        if priors is None:
            return scores
        weight = self._prior_weight
        return {ordinal: score + weight * priors[ordinal] for ordinal, score in scores.items()}


class _StepMethods(NamedTuple):
    """How one class of step is evaluated in a segment that can match."""

    scores: Callable[[PlainEvaluator, Any, int], Scores]  # returns the scores of all matching documents
    # given found documents, returns the scores of those that match the step too
    add_scores: Callable[[PlainEvaluator, Any, int, Scores], Scores] = PlainEvaluator._add_scores


_METHODS: dict[type[Step], _StepMethods] = {
    Terms: _StepMethods(PlainEvaluator._terms),
    PhraseOf: _StepMethods(PlainEvaluator._phrase),
    Keywords: _StepMethods(PlainEvaluator._terms),
    Defining: _StepMethods(PlainEvaluator._defining),
    DocumentRanges: _StepMethods(PlainEvaluator._ranges, PlainEvaluator._add_ranges),
    ColumnRange: _StepMethods(PlainEvaluator._column, PlainEvaluator._add_column),
    AllOf: _StepMethods(PlainEvaluator._all_of),
    AnyOf: _StepMethods(PlainEvaluator._any_of, PlainEvaluator._add_any),
    MostOf: _StepMethods(PlainEvaluator._most_of),
    BestOf: _StepMethods(PlainEvaluator._best_of),
}


class PlainMatches:
    """The documents that match a step, with their scores."""

    def __init__(self, evaluator: PlainEvaluator, reader: IndexReader, scores: Scores) -> None:
        self._evaluator = evaluator
        self._reader = reader
        self._scores = scores
        self._rescored: list[Ranked] | None = None
        self._boosts: Boosts | None = None
        self._raw: Scores = {}  # the scores before boosts

    @property
    def total(self) -> int:
        """The number of documents that match."""
        return len(self._scores)

    def best(self, count: int) -> list[Ranked]:
        """Return the first `count` documents by score, the highest first."""
        return self._first(count, self._scores)

    def boosted(self, boosts: Boosts) -> PlainMatches:
        """Return the matches with the factors of boosts in their scores."""
        matches = PlainMatches(self._evaluator, self._reader, self._scores)
        matches._boosts = boosts
        matches._raw = self._scores
        factors = ((document, score, boosts.find(document)) for document, score in self._scores.items())
        matches._scores = {
            document: score if boost is None else boost.of(score) for document, score, boost in factors
        }
        return matches

    def score(self, document: int) -> int:
        """Return the score of a document, 0 if it does not match."""
        return self._scores.get(document, 0)

    def scores(self, documents: Sequence[int]) -> list[int]:
        """Return the scores of some documents, 0 where they do not match."""
        return [self._scores.get(document, 0) for document in documents]

    def rescored(self, proximity: Proximity, count: int) -> list[Ranked]:
        """Return the first `count` documents by score, proximity and quality together, the highest first."""
        if self._rescored is None:
            sums = self._sums(proximity, self.best(RESCORED))
            self._rescored = sorted(sums, key=lambda ranked: -ranked.score)
        found = self._rescored[:count]
        return found + self.best(count)[len(found) :] if count > len(found) else found

    def _sums(self, proximity: Proximity, ranking: Iterable[Ranked]) -> Iterator[Ranked]:
        scores = {document: score for document, score, *_ in ranking}
        parts = self._evaluator.nearness(proximity, list(scores))
        rising = sorted(scores)
        flags = dict(zip(rising, self._reader.numbers_of("flags", rising), strict=True))
        for document, score in scores.items():
            near = sum(part.score for part in parts[document])
            quality = proximity.quality_weight * quality_share(flags[document])
            boost = self._boosts.find(document) if self._boosts is not None else None
            total = score if boost is None else self._raw[document]
            total += near + quality
            yield Ranked(document, total if boost is None else boost.of(total), near, quality)

    def latest(self, count: int) -> list[Ranked]:
        """Return the first `count` documents by date, the newest first."""
        reader = self._reader
        located = ((document, *reader.locate(document)) for document in self._scores)
        dates = {document: reader.dates(segment)[ordinal] for document, segment, ordinal in located}
        return self._first(count, dates)

    def documents(self) -> Sequence[int]:
        """Return the documents that match, rising."""
        return sorted(self._scores)

    def count(self, documents: Sequence[int]) -> int:
        """Return how many of some documents match."""
        return sum(map(self._scores.__contains__, documents))

    def without(self, ranges: Iterable[tuple[int, int]]) -> PlainMatches:
        """Return the matches without the documents of some ranges [start, end)."""
        # a document is removed if an odd number of bounds lies at or below it
        bounds = [bound for one in ranges for bound in one]
        scores = self._scores.items()
        kept = {document: score for document, score in scores if not bisect_right(bounds, document) & 1}
        matches = PlainMatches(self._evaluator, self._reader, kept)
        matches._boosts, matches._raw = self._boosts, self._raw
        if self._rescored is not None:
            matches._rescored = [ranked for ranked in self._rescored if ranked.document in kept]
        return matches

    def __contains__(self, document: int) -> bool:
        return document in self._scores

    def _first(self, count: int, numbers: dict[int, int]) -> list[Ranked]:
        """Return the `count` documents with the greatest numbers; equal ones by the hash of their URL."""
        greatest = nlargest(count, numbers.values())
        if not greatest:
            return []
        times = Counter(greatest)
        least = greatest[-1]
        found = [document for document, number in numbers.items() if number > least]
        last = [document for document, number in numbers.items() if number == least]
        tied = [document for document in found if times[numbers[document]] > 1]
        if len(last) > 1:
            tied += last
        hashes = self._reader.url_hashes(tied)
        found.sort(key=lambda document: (-numbers[document], hashes.get(document, 0)))
        found += nsmallest(count - len(found), last, key=lambda document: hashes.get(document, 0))
        return [Ranked(document, self._scores[document]) for document in found]


def _greater(left: Scores, right: Scores) -> Scores:
    """Return the documents of both sides, each with the greater of its two numbers."""
    if len(left) < len(right):
        left, right = right, left
    joined = dict(left)
    for ordinal, impact in right.items():
        if impact > joined.get(ordinal, 0):
            joined[ordinal] = impact
    return joined


@lru_cache(maxsize=ANY_FIELD)
def _kept(mask: int) -> bytes:
    """Return a table for `bytes.translate`: 1 for each mask that shares a field with `mask`, else 0."""
    return bytes(1 if fields & mask else 0 for fields in range(256))
