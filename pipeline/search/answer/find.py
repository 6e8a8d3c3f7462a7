"""Finds documents: plans a query, evaluates it, folds duplicates, reads the documents to show."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Literal

import msgspec

from crawlctl.pipeline.search.answer.folding import Folded, Folding
from crawlctl.pipeline.search.answer.results import Hit, Results
from crawlctl.pipeline.search.evaluate.plain_evaluator import PlainEvaluator
from crawlctl.pipeline.search.plan.planner import plan_query

if TYPE_CHECKING:
    from crawlctl.pipeline.index.segment.stored_documents import DocRecord
    from crawlctl.pipeline.search.answer.score_explanation import Explainer
    from crawlctl.pipeline.search.evaluate.matches import Evaluator, Ranked
    from crawlctl.pipeline.search.open.searcher import Searcher
    from crawlctl.pipeline.search.plan.steps import Plan
    from crawlctl.pipeline.search.query.tree import Query

# A plan with more postings is answered sooner with numpy, although to import it takes a tenth of a second.
PLAIN_POSTINGS = 250_000


class SearchOptions(msgspec.Struct, frozen=True):
    """How many documents of an answer are returned, and in which order."""

    limit: int = 10
    offset: int = 0  # the first documents, left out
    sort: Literal["score", "date"] = "score"
    strict: bool = False  # no documents with only some of the words
    explain: bool = False


DEFAULT_OPTIONS = SearchOptions()


class TopDocuments(msgspec.Struct, frozen=True):
    """The documents to return, each with whether it is a partial match, and how many there are in all."""

    documents: list[tuple[Folded, bool]]
    total: int
    partial: int


def find(searcher: Searcher, query: Query, options: SearchOptions = DEFAULT_OPTIONS) -> Results:
    """Return the documents that match a query, the best first.

    If fewer documents than asked for match a plain query in full, documents that match some of its words
    follow, unless the search is strict.
    """
    plan = plan_query(query, searcher)
    top = top_documents(searcher, plan, _evaluator(searcher, plan), options)
    records = searcher.records(folded.ranked.document for folded, _ in top.documents)
    explainer = _explainer(searcher, plan) if options.explain else None
    hits = tuple(
        _hit(searcher, plan, folded, record, explainer, partial=partial)
        for (folded, partial), record in zip(top.documents, records, strict=True)
    )
    unknown = dict.fromkeys(terms.text for terms in (plan.loose or plan.step).leaves() if not terms.infos)
    return Results(hits, top.total, top.partial, tuple(unknown))


def matching_urls(searcher: Searcher, query: Query, limit: int) -> list[str]:
    """Return the URLs of up to `limit` documents that match all of a query, near duplicates included."""
    plan = plan_query(query, searcher)
    ranked = _evaluator(searcher, plan).matches(plan.step).best(limit)
    return [record.url for record in searcher.records(one.document for one in ranked)]


def top_documents(
    searcher: Searcher, plan: Plan, evaluator: Evaluator, options: SearchOptions
) -> TopDocuments:
    """Return the best documents of a plan without reading their texts."""
    loose_step = None if options.strict else plan.loose
    if loose_step is not None and searcher.parallel:
        evaluator.prefetch((plan.step, loose_step))
    matches = evaluator.matches(plan.step)
    count = options.offset + options.limit
    folding = Folding(searcher)
    full = folding.first(matches, count, matches.latest if options.sort == "date" else matches.best)
    found = [(folded, False) for folded in full]
    if loose_step is None or len(full) >= count:
        return TopDocuments(found[options.offset :], matches.total, 0)
    loose = evaluator.matches(loose_step)

    def best_others(count: int) -> list[Ranked]:
        ranking = loose.best(count + matches.total)
        return [ranked for ranked in ranking if ranked.document not in matches][:count]

    partial = folding.first(loose, count - len(full), best_others)
    found += ((folded, True) for folded in partial)
    return TopDocuments(found[options.offset :], matches.total, loose.total - matches.total)


def _explainer(searcher: Searcher, plan: Plan) -> Explainer:
    from crawlctl.pipeline.search.answer.score_explanation import Explainer

    return Explainer(searcher.reader, plan)


def _evaluator(searcher: Searcher, plan: Plan) -> Evaluator:
    """Return the evaluator that will answer sooner."""
    if "numpy" in sys.modules or plan.step.postings > PLAIN_POSTINGS:
        from crawlctl.pipeline.search.evaluate.vector_evaluator import VectorEvaluator

        return VectorEvaluator(searcher.vector_lists, plan)
    return PlainEvaluator(searcher.reader, plan)


def _hit(
    searcher: Searcher,
    plan: Plan,
    folded: Folded,
    record: DocRecord,
    explainer: Explainer | None,
    *,
    partial: bool,
) -> Hit:
    (document, score), similar = folded
    segment, _ = searcher.reader.locate(document)
    return Hit(
        record.url,
        record.title,
        record.text,
        record.headings,
        plan.as_float(score),
        record.fetched_at,
        record.last_modified,
        record.language,
        partial,
        not searcher.reader.segments[segment].frontier,
        similar,
        record.details,
        None if explainer is None else explainer.explain(document, score, partial=partial),
    )
