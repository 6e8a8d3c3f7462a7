"""What a crawl answers to queries of every kind, by either evaluator; equal scores come in any order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawlctl.pipeline.search.answer.find import SearchOptions, find
from crawlctl.pipeline.search.evaluate.plain_evaluator import PlainEvaluator
from crawlctl.pipeline.search.evaluate.vector_evaluator import VectorEvaluator
from crawlctl.pipeline.search.open.open_index import open_index
from crawlctl.pipeline.search.plan.planner import plan_query
from crawlctl.pipeline.search.query.grammar import parse

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlctl.pipeline.search.evaluate.matches import Matches
    from crawlctl.pipeline.search.open.searcher import Searcher
    from crawlctl.pipeline.search.query.tree import Query
    from crawlctl.pipeline.store.base import Store

QUERIES = (
    "event loop",
    "AND event loop",
    "OR event loop socket",
    "event -loop",
    "+event loop",
    "event AND NOT loop",
    '"event loop"',
    '"running queue" OR lock',
    "(thread OR socket) AND NOT (queue lock)",
    "title:event",
    "heading:loop running",
    "anchor:anchor",
    "anchor:3 url:page",
    "url:12",
    "site:host2.example event",
    "run*",
    "straße OR über OR naive",
    "nosuchword event",
    "word33",
    "10..40",
    "body:event url:page",
    "new",
)


def answers_of(store: Store, queries: Iterable[str] = QUERIES) -> dict[str, Any]:
    """Return all matches with their scores, and the figures of the answer, by query."""
    index = open_index(store, cached=False)
    try:
        return {source: _answer(index, parse(source)) for source in queries}
    finally:
        index.close()


def _answer(index: Searcher, query: Query) -> tuple[Any, ...]:
    plan = plan_query(query, index)
    plain = _all(index, PlainEvaluator(index.reader, plan).matches(plan.step))
    assert plain == _all(index, VectorEvaluator(index.vector_lists, plan).matches(plan.step))
    found = find(index, query, SearchOptions(limit=index.reader.size))
    # Of near duplicates with the same score any may stand for the others.
    shown = sorted((hit.score, hit.similar, hit.partial, hit.fetched) for hit in found.hits)
    return plain, found.total, found.partial, found.unknown, shown


def _all(index: Searcher, matches: Matches) -> list[tuple[float, str]]:
    ranked = matches.best(index.reader.size)
    records = index.records(one.document for one in ranked)
    return sorted((one.score, record.url) for one, record in zip(ranked, records, strict=True))
