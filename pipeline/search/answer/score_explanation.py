"""Explains a score, for `crawlctl query --explain`; slow, because it evaluates every step on its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.index.fields import INDEXED_FIELDS, MAX_IMPACT
from crawlctl.pipeline.index.static_quality import BEST, losses_of
from crawlctl.pipeline.search.answer.results import Explanation
from crawlctl.pipeline.search.evaluate.plain_evaluator import PlainEvaluator
from crawlctl.pipeline.search.plan.most_words import REMAINING
from crawlctl.pipeline.search.plan.steps import Terms
from crawlctl.pipeline.search.rules.search_rules import BOOST_BITS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.index.segment.stored_documents import PackedRecord
    from crawlctl.pipeline.search.evaluate.index_reader import IndexReader
    from crawlctl.pipeline.search.evaluate.matches import Ranked
    from crawlctl.pipeline.search.plan.query_plan import Plan
    from crawlctl.pipeline.search.plan.steps import Step


class Explainer:
    """Explains the scores of the documents of one answer; it keeps the scores of each step."""

    def __init__(self, reader: IndexReader, plan: Plan) -> None:
        self._reader = reader
        self._plan = plan
        self._evaluator = PlainEvaluator(reader, plan)
        self._evaluated: dict[tuple[Step, int], dict[int, int]] = {}

    def explain(self, ranked: Ranked, record: PackedRecord, *, partial: bool) -> Explanation:
        """Return the parts of the score of a document that matches the query or, if partial, some words."""
        step = (self._loosened(ranked) if partial else None) or self._plan.step
        segment, ordinal = self._reader.locate(ranked.document)
        self._evaluator.prefetch((step,))
        parts = [*self._parts(step, segment, ordinal), *self._prior(segment, ordinal)]
        if ranked.near:
            parts += self._nearness(ranked.document)
        if ranked.quality:
            parts.append(self._quality(ranked.quality, record))
        parts += self._boost(ranked, step)
        if ranked.lacking:
            kept, of = REMAINING
            reason = f"× {kept / of} for a word that it lacks"
            parts.append(Explanation("lacking", self._plan.as_float(-ranked.lacking), reason))
        return Explanation("score", self._plan.as_float(ranked.score), "the sum of", tuple(parts))

    def _loosened(self, ranked: Ranked) -> Step | None:
        return self._plan.lacking_one if ranked.lacking else self._plan.loose

    def _boost(self, ranked: Ranked, step: Step) -> Iterator[Explanation]:
        """Yield what the boost (a factor that the operator has set) adds to the score or takes from it."""
        boost = self._plan.boosts.find(ranked.document)
        if boost is None:
            return
        segment, ordinal = self._reader.locate(ranked.document)
        priors = self._reader.priors.get(segment) if self._plan.prior_weight else None
        prior = self._plan.prior_weight * priors[ordinal] if priors is not None else 0
        raw = self._scores(step, segment)[ordinal] + prior + ranked.near + ranked.quality
        reason = f"× {boost.factor / (1 << BOOST_BITS):.4g} for {boost.rule}"
        yield Explanation("boost", self._plan.as_float(ranked.score + ranked.lacking - raw), reason)

    def _parts(self, step: Step, segment: int, ordinal: int) -> Iterator[Explanation]:
        """Yield the explanation of a step that matches; for a step without a label, those of its children."""
        scores = self._scores(step, segment)
        if ordinal not in scores:
            return
        parts = [part for child in step.children for part in self._parts(child, segment, ordinal)]
        if not step.label:
            yield from parts
            return
        # Keywords, which are terms too, only select.
        reason = self._impact(step, segment, ordinal) if type(step) is Terms else step.reason
        yield Explanation(step.label, self._plan.as_float(scores[ordinal]), reason, tuple(parts))

    def _impact(self, terms: Terms, segment: int, ordinal: int) -> str:
        impact, fields = 0, 0
        for info in terms.infos.get(segment, ()):
            found = self._evaluator.documents(info)
            if ordinal in found.ordinals:
                index = found.ordinals.index(ordinal)
                impact, fields = max(impact, found.impacts[index]), fields | found.masks[index]
        names = ", ".join(name for number, name in enumerate(INDEXED_FIELDS) if fields >> number & 1)
        if terms.weight:
            return f"idf {terms.idf:.3f} × impact {impact}/{MAX_IMPACT}, in {names}"
        return f"selects, does not rank; in {names}"

    def _prior(self, segment: int, ordinal: int) -> Iterator[Explanation]:
        priors = self._reader.priors.get(segment)
        if priors is not None and self._plan.prior_weight:
            score = self._plan.as_float(self._plan.prior_weight * priors[ordinal])
            weight = self._plan.prior_weight / self._plan.scale
            yield Explanation("rank", score, f"weight {weight:.2f} × {priors[ordinal]}/{MAX_IMPACT}")

    def _nearness(self, document: int) -> Iterator[Explanation]:
        proximity = self._plan.proximity
        if proximity is None:
            return
        for first, last, fields, score in self._evaluator.nearness(proximity, [document])[document]:
            words = " ".join(word.text for word in proximity.words[first : last + 1])
            names = ", ".join(INDEXED_FIELDS[field] for field in sorted(fields))
            reason = "side by side in" if last > first else "in"
            yield Explanation(f"near: {words}", self._plan.as_float(score), f"{reason} {names}")

    def _quality(self, score: int, record: PackedRecord) -> Explanation:
        """Explain a quality, and name what speaks against the page unless it has the best."""
        weight = self._plan.proximity.quality_weight if self._plan.proximity is not None else 1
        share = score // weight
        details = record.details
        losses = losses_of(record.url, record.lengths, details.signs, details.links)
        names = ": " + ", ".join([loss.name for loss in losses]) if losses and share < 2 * BEST else ""
        reason = f"weight {weight / self._plan.scale:.2f} × {share}/{MAX_IMPACT}{names}"
        return Explanation("quality", self._plan.as_float(score), reason)

    def _scores(self, step: Step, segment: int) -> dict[int, int]:
        key = (step, segment)
        if key not in self._evaluated:
            self._evaluated[key] = self._evaluator.evaluate(step, segment)
        return self._evaluated[key]
