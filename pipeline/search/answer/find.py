"""Finds pages: plans a query, has it evaluated, folds duplicates, and reads what is shown of the best."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Literal

import msgspec

from crawlctl.pipeline.search.answer.folding import Folded, Folding
from crawlctl.pipeline.search.answer.results import Hit, Results
from crawlctl.pipeline.search.evaluate.plain_evaluator import PlainEvaluator
from crawlctl.pipeline.search.plan.planner import plan_query
from crawlctl.pipeline.search.plan.steps import leaves, postings

if TYPE_CHECKING:
    from crawlctl.pipeline.index.segment.stored_documents import DocRecord
    from crawlctl.pipeline.search.answer.score_explanation import Explainer
    from crawlctl.pipeline.search.evaluate.matches import Evaluator, Ranked
    from crawlctl.pipeline.search.open.searcher import Searcher
    from crawlctl.pipeline.search.plan.steps import Plan
    from crawlctl.pipeline.search.query.tree import Query

Sort = Literal["score", "date"]

# More are answered sooner with numpy, although importing it takes a tenth of a second.
PLAIN_POSTINGS = 250_000
RANK_WEIGHT = 0.5  # with more, the front page of a site comes before the page that is about the words


class Page(msgspec.Struct, frozen=True):
    """The documents that were asked for, whether each matches in part only, and how many there are."""

    folded: list[tuple[Folded, bool]]
    total: int
    partial: int


def find(
    index: Searcher,
    query: Query,
    *,
    limit: int = 10,
    offset: int = 0,
    sort: Sort = "score",
    strict: bool = False,
    explain: bool = False,
    rank_weight: float = RANK_WEIGHT,
) -> Results:
    """Return the pages that match a query, the best first, from the one at `offset` on.

    A plain query that fewer pages match in full than are asked for is answered further with those that match
    some of its words, unless it is to be taken strictly.
    """
    plan = plan_query(query, index, rank_weight)
    evaluator = _evaluator(index, plan)
    page = page_of(index, plan, evaluator, limit=limit, offset=offset, sort=sort, strict=strict)
    records = index.records(folded.ranked.document for folded, _ in page.folded)
    explainer = _explainer(index, plan) if explain else None
    hits = tuple(
        _hit(index, plan, folded, record, explainer, partial=partial)
        for (folded, partial), record in zip(page.folded, records, strict=True)
    )
    unknown = dict.fromkeys(terms.text for terms in leaves(plan.loose or plan.step) if not terms.places)
    return Results(hits, page.total, page.partial, tuple(unknown))


def page_of(
    index: Searcher,
    plan: Plan,
    evaluator: Evaluator,
    *,
    limit: int,
    offset: int = 0,
    sort: Sort = "score",
    strict: bool = False,
) -> Page:
    """Return the documents from `offset` on, without reading what they say."""
    loose_step = None if strict else plan.loose
    if loose_step is not None and index.parallel:
        evaluator.prefetch((plan.step, loose_step))
    matches = evaluator.matches(plan.step)
    wanted = offset + limit
    folding = Folding(index)
    full = folding.first(matches, wanted, matches.latest if sort == "date" else matches.best)
    found = [(one, False) for one in full]
    if loose_step is None or len(full) >= wanted:
        return Page(found[offset:], matches.total, 0)
    loose = evaluator.matches(loose_step)

    def best_others(count: int) -> list[Ranked]:
        return [one for one in loose.best(count + matches.total) if one.document not in matches][:count]

    partial = folding.first(loose, wanted - len(full), best_others)
    found += ((one, True) for one in partial)
    return Page(found[offset:], matches.total, loose.total - matches.total)


def _explainer(index: Searcher, plan: Plan) -> Explainer:
    from crawlctl.pipeline.search.answer.score_explanation import Explainer

    return Explainer(index, plan)


def _evaluator(index: Searcher, plan: Plan) -> Evaluator:
    """Return the evaluator that will answer sooner."""
    if "numpy" in sys.modules or postings(plan.step) > PLAIN_POSTINGS:
        from crawlctl.pipeline.search.evaluate.vector_evaluator import VectorEvaluator

        return VectorEvaluator(index, plan)
    return PlainEvaluator(index, plan)


def _hit(
    index: Searcher,
    plan: Plan,
    folded: Folded,
    record: DocRecord,
    explainer: Explainer | None,
    *,
    partial: bool,
) -> Hit:
    (document, units), similar = folded
    segment, _ = index.locate(document)
    return Hit(
        record.url,
        record.title,
        record.text,
        record.headings,
        plan.score(units),
        record.fetched_at,
        record.last_modified,
        record.language,
        partial,
        not index.segments[segment].frontier,
        similar,
        None if explainer is None else explainer.explain(document, units, partial=partial),
    )
