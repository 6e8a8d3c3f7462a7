"""What an index answers, by either evaluator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.search.evaluate.plain_evaluator import PlainEvaluator
from crawlctl.pipeline.search.evaluate.vector_evaluator import VectorEvaluator
from crawlctl.pipeline.search.plan.planner import plan_query
from crawlctl.pipeline.search.query import tree

if TYPE_CHECKING:
    from crawlctl.pipeline.search.evaluate.matches import Matches, Ranked
    from crawlctl.pipeline.search.open.searcher import Searcher


def agreed_answers(index: Searcher, node: tree.Node, *, by_date: bool = False) -> set[str]:
    """Return the URLs of the pages that match, when both evaluators agree on them and on their order."""
    plan = plan_query(tree.Query(node, False, (), ""), index)
    plain = _all(index, PlainEvaluator(index.reader, plan).matches(plan.step), by_date)
    assert plain == _all(index, VectorEvaluator(index.vector_lists, plan).matches(plan.step), by_date)
    return {record.url for record in index.records(one.document for one in plain)}


def _all(index: Searcher, matches: Matches, by_date: bool) -> list[Ranked]:
    ranked = matches.latest(index.reader.size) if by_date else matches.best(index.reader.size)
    assert len(ranked) == matches.total
    assert all(one.document in matches for one in ranked)
    return ranked
