"""Says what a score is made of; slow, since it evaluates each part of a query by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.index.fields import INDEXED_FIELDS
from crawlctl.pipeline.search.answer.results import Explanation
from crawlctl.pipeline.search.evaluate.plain_evaluator import PlainEvaluator
from crawlctl.pipeline.search.plan.steps import MAX_IMPACT, DocumentRanges, Phrase, Terms

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.search.open.searcher import Searcher
    from crawlctl.pipeline.search.plan.steps import Plan, Step


class Explainer:
    """Explains the scores of the documents of one answer."""

    def __init__(self, index: Searcher, plan: Plan) -> None:
        self._index = index
        self._plan = plan
        self._cold = PlainEvaluator(index, plan)
        self._evaluated: dict[tuple[Step, int], dict[int, int]] = {}

    def explain(self, document: int, units: int, *, partial: bool) -> Explanation:
        """Return the parts of the score of a document that matches the query, or some words of it."""
        step = self._plan.loose if partial and self._plan.loose is not None else self._plan.step
        segment, ordinal = self._index.locate(document)
        self._cold.prefetch((step,))
        parts = [*self._parts(step, segment, ordinal), *self._prior(segment, ordinal)]
        return Explanation("score", self._plan.score(units), "the sum of", tuple(parts))

    def _parts(self, step: Step, segment: int, ordinal: int) -> Iterator[Explanation]:
        if ordinal not in self._units(step, segment):
            return
        if isinstance(step, Terms):
            yield self._of_terms(step, segment, ordinal)
        elif isinstance(step, Phrase):
            words = tuple(self._of_terms(word, segment, ordinal) for word in step.words)
            text = " ".join(word.text for word in step.words)
            yield Explanation(
                f'"{text}"', self._score(step, segment, ordinal), "the words side by side", words
            )
        elif isinstance(step, DocumentRanges):
            yield Explanation(
                f"site:{step.text}", self._score(step, segment, ordinal), "selects, does not rank"
            )
        else:
            for part in step.parts:
                yield from self._parts(part, segment, ordinal)

    def _of_terms(self, terms: Terms, segment: int, ordinal: int) -> Explanation:
        impact, fields = 0, 0
        for place in terms.places.get(segment, ()):
            found = self._cold.documents(place)
            if ordinal in found.ordinals:
                at = found.ordinals.index(ordinal)
                impact, fields = max(impact, found.impacts[at]), fields | found.masks[at]
        names = ", ".join(name for number, name in enumerate(INDEXED_FIELDS) if fields >> number & 1)
        if terms.weight:
            reason = f"idf {terms.idf:.3f} × impact {impact}/{MAX_IMPACT}, in {names}"
        else:
            reason = f"selects, does not rank; in {names}"
        return Explanation(terms.text, self._score(terms, segment, ordinal), reason)

    def _prior(self, segment: int, ordinal: int) -> Iterator[Explanation]:
        priors = self._index.priors.get(segment)
        if priors is not None and self._plan.prior_weight:
            score = self._plan.score(self._plan.prior_weight * priors[ordinal])
            weight = self._plan.prior_weight / self._plan.scale
            yield Explanation("rank", score, f"weight {weight:.2f} × {priors[ordinal]}/{MAX_IMPACT}")

    def _score(self, step: Step, segment: int, ordinal: int) -> float:
        return self._plan.score(self._units(step, segment).get(ordinal, 0))

    def _units(self, step: Step, segment: int) -> dict[int, int]:
        key = (step, segment)
        if key not in self._evaluated:
            self._evaluated[key] = self._cold.evaluate(step, segment)
        return self._evaluated[key]
