"""Finds documents: plans a query, evaluates it, folds duplicates, reads the documents to show."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

from crawlctl.pipeline.errors import QueryError
from crawlctl.pipeline.search.answer.folding import Folded, Folding
from crawlctl.pipeline.search.answer.lacking_one import reduced, with_others
from crawlctl.pipeline.search.answer.results import Hit, Results
from crawlctl.pipeline.search.evaluate.matches import Ranked
from crawlctl.pipeline.search.evaluate.plain_evaluator import PlainEvaluator
from crawlctl.pipeline.search.plan.planner import plan_query
from crawlctl.pipeline.search.plan.proximity import RESCORED
from crawlctl.pipeline.search.plan.steps import AllOf, ColumnRange, Keywords
from crawlctl.pipeline.text.documents.page import A_LITTLE_EXPLICIT, CLEARLY_EXPLICIT

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlctl.pipeline.index.segment.stored_documents import PackedRecord
    from crawlctl.pipeline.search.answer.folding import Ranking
    from crawlctl.pipeline.search.answer.results import Facet
    from crawlctl.pipeline.search.answer.score_explanation import Explainer
    from crawlctl.pipeline.search.evaluate.matches import Evaluator, Matches
    from crawlctl.pipeline.search.open.searcher import Searcher
    from crawlctl.pipeline.search.plan.query_plan import Plan
    from crawlctl.pipeline.search.plan.steps import Step
    from crawlctl.pipeline.search.query.tree import Query
    from crawlctl.pipeline.text.documents.page import Section

# A word that fewer than one document in this many has may be a typing error, of the user or of a page.
RARE_IN = 1000

# If so many documents match in full, and a limit per host leaves some out, no partial matches follow: those
# that were left out answer better. The number is the same for all pages of results, so that they agree.
ENOUGH = 10

# A plan with more postings is answered sooner with numpy, although to import it takes a tenth of a second.
PLAIN_POSTINGS = 250_000


Safe = Literal["off", "moderate", "strict"]
# The least level of explicitness at which a page is left out, per level of safe search.
_LEAST_HIDDEN = {"moderate": CLEARLY_EXPLICIT, "strict": A_LITTLE_EXPLICIT}


class SearchOptions(msgspec.Struct, frozen=True):
    """How many documents of an answer are returned, and in which order."""

    limit: int = 10
    offset: int = 0  # how many of the best documents to skip
    sort: Literal["score", "date"] = "score"
    strict: bool = False  # return no documents that have only some of the words
    explain: bool = False
    unfolded: bool = False  # show near duplicates instead of folding them
    facets: bool = False  # count the matches by site, language, type, year and field
    facet_lists: int = 1000  # how many values per field facets count: the values that the most pages have
    per_host: int = 0  # how many documents per host are shown at most; 0: no limit
    safe: Safe = "off"  # leave out pages by the operator's lists (index.explicit_words and _hosts)
    ahead: int = 0  # how many more are searched for, but not read, to know whether more follow


DEFAULT_OPTIONS = SearchOptions()


class NotFolding:
    """Stands in for Folding where near duplicates are not folded."""

    def first(self, matches: Matches, count: int, ranking: Ranking) -> list[Folded]:
        """Return the first `count` documents of a ranking."""
        return [Folded(ranked, 0) for ranked in ranking(matches, count)]


class TopDocuments(NamedTuple):
    """The documents to return, each marked if it is a partial match, and how many documents match in all."""

    documents: list[tuple[Folded, bool]]
    total: int
    partial: int
    matches: Matches  # all documents that match in full
    hidden: int = 0  # documents that match in full, and that safe search leaves out


def find(searcher: Searcher, query: Query, options: SearchOptions = DEFAULT_OPTIONS) -> Results:
    """Return the documents that match a query, the best first.

    If fewer documents match a plain query in full than were requested, documents that match only some of its
    words follow (but see ENOUGH). Documents that lack one word may stand among the full matches
    (plan/most_words.py). A strict search returns only full matches.
    """
    plan = plan_query(query, searcher)
    top = top_documents(searcher, plan, _evaluator(searcher, plan), options)
    shown = top.documents[: options.limit]
    records = searcher.records(folded.ranked.document for folded, _ in shown)
    explainer = _explainer(searcher, plan) if options.explain else None
    hits = tuple(
        _hit(searcher, plan, folded, record, explainer, partial=partial)
        for (folded, partial), record in zip(shown, records, strict=True)
    )
    notices = (*query.notices, *plan.notices)
    facets = _facets(searcher, top.matches, options.facet_lists) if options.facets else ()
    unknown = _words_in(plan, range(1))
    rare = _words_in(plan, range(1, 1 + searcher.documents // RARE_IN))
    has_more = len(top.documents) > len(shown)
    return Results(
        hits, has_more, top.total, top.partial, unknown, notices, facets, rare, plan.synonyms, top.hidden
    )


def _words_in(plan: Plan, documents: range) -> tuple[str, ...]:
    """Return the words of a plan whose number of documents is in the range `documents`."""
    leaves = (plan.loose or plan.step).leaves()
    found = (terms.text for terms in leaves if terms.count in documents and not isinstance(terms, Keywords))
    return tuple(dict.fromkeys(found))


def _facets(searcher: Searcher, matches: Matches, most_lists: int) -> tuple[Facet, ...]:
    from crawlctl.pipeline.search.answer.facets import facets_of

    return facets_of(searcher, matches, most_lists)


def matching_urls(searcher: Searcher, query: Query, limit: int) -> list[str]:
    """Return the URLs of up to `limit` documents that match all of a query, near duplicates included.

    The caller will change these pages. So a query that was not read exactly as typed is refused.
    """
    plan = plan_query(query, searcher, ruled=False)
    if notices := (*query.notices, *plan.notices):
        raise QueryError(
            f"the query is not clear, and nothing was changed: {notices[0]}; "
            "write it so that `crawlctl query` prints no such notice"
        )
    ranked = _evaluator(searcher, plan).matches(plan.step).best(limit)
    return [record.url for record in searcher.records(one.document for one in ranked)]


def top_documents(
    searcher: Searcher, plan: Plan, evaluator: Evaluator, options: SearchOptions
) -> TopDocuments:
    """Return the best documents of a plan without reading their texts."""
    by_date = options.sort == "date"
    loose_step = None if options.strict else plan.loose
    if searcher.parallel:
        lacking_one = None if by_date or loose_step is None else plan.most
        steps = (plan.step, loose_step, lacking_one, None if by_date else plan.proximity)
        evaluator.prefetch(step for step in steps if step is not None)
    left_out = _left_out(searcher, options.safe)

    def found_by(step: Step) -> Matches:
        return _ruled(plan, evaluator.matches(_without(step, left_out)))

    matches = found_by(plan.step)
    hidden = _ruled(plan, evaluator.matches(plan.step)).total - matches.total if left_out else 0
    count = options.offset + options.limit + options.ahead
    folding = NotFolding() if options.unfolded else Folding(searcher, options.per_host, frozenset(plan.pins))
    others = [] if loose_step is None or by_date else _lacking_one(plan, found_by, matches)
    by_score = _pinned_first(plan, with_others(_by_score(plan), others))
    lacking = {ranked.document for ranked in others}
    first = folding.first(matches, count, _latest if by_date else by_score)
    found = [(folded, folded.ranked.document in lacking) for folded in first]
    is_enough = len(found) >= count or (options.per_host and matches.total >= ENOUGH)
    if loose_step is None or is_enough:
        partial = sum(is_partial for _, is_partial in found)
        return TopDocuments(found[options.offset :], matches.total, partial, matches, hidden)
    loose = found_by(loose_step)
    shown = {folded.ranked.document for folded in first}

    def best_others(loose: Matches, count: int) -> list[Ranked]:
        ranking = _by_score(plan)(loose, count + matches.total + len(shown))
        full = matches.scores([ranked.document for ranked in ranking])
        others = (ranked for ranked, score in zip(ranking, full, strict=True) if not score)
        return [ranked for ranked in others if ranked.document not in shown][:count]

    found += ((folded, True) for folded in folding.first(loose, count - len(found), best_others))
    more = loose.total - matches.total
    return TopDocuments(found[options.offset :], matches.total, more, matches, hidden)


def _left_out(searcher: Searcher, safe: Safe) -> ColumnRange | None:
    """Return the step of the pages that safe search leaves out, None if there are none."""
    if safe == "off" or not searcher.explicit:
        return None
    return ColumnRange("", searcher.explicit, _LEAST_HIDDEN[safe], CLEARLY_EXPLICIT)


def _without(step: Step, left_out: ColumnRange | None) -> Step:
    return step if left_out is None else AllOf((step,), (left_out,))


def _lacking_one(plan: Plan, found_by: Callable[[Step], Matches], matches: Matches) -> list[Ranked]:
    """Return the best documents that lack one word of the query, with their reduced scores."""
    step = plan.lacking_one
    if step is None or plan.proximity is None or not matches.total:
        return []
    return reduced(found_by(step).rescored(plan.proximity, RESCORED))


def _ruled(plan: Plan, matches: Matches) -> Matches:
    """Return the matches without the pages that the operator blocks, and with the factors of boosts."""
    if plan.blocked:
        matches = matches.without(plan.blocked)
    return matches.boosted(plan.boosts) if plan.boosts.ranges else matches


def _pinned_first(plan: Plan, ranking: Ranking) -> Ranking:
    """Return a ranking that begins with the pages that the operator has pinned."""
    if not plan.pins:
        return ranking

    def ranked(matches: Matches, count: int) -> list[Ranked]:
        found = {one.document: one for one in ranking(matches, count + len(plan.pins))}
        pins = [pin for pin in plan.pins if pin in matches]
        first = [found.pop(pin, Ranked(pin, matches.score(pin))) for pin in pins]
        return [*first, *found.values()][:count]

    return ranked


def _by_score(plan: Plan) -> Ranking:
    """Return the ranking by scores, with proximity if the plan has one."""
    proximity = plan.proximity
    return _best if proximity is None else lambda matches, count: matches.rescored(proximity, count)


def _best(matches: Matches, count: int) -> list[Ranked]:
    return matches.best(count)


def _latest(matches: Matches, count: int) -> list[Ranked]:
    return matches.latest(count)


def _explainer(searcher: Searcher, plan: Plan) -> Explainer:
    from crawlctl.pipeline.search.answer.score_explanation import Explainer

    return Explainer(searcher.reader, plan)


def _evaluator(searcher: Searcher, plan: Plan) -> Evaluator:
    """Return the evaluator that will answer faster."""
    if "numpy" in sys.modules or plan.step.postings > PLAIN_POSTINGS:
        from crawlctl.pipeline.search.evaluate.vector_evaluator import VectorEvaluator

        return VectorEvaluator(searcher.vector_lists, plan)
    return PlainEvaluator(searcher.reader, plan)


def _hit(
    searcher: Searcher,
    plan: Plan,
    folded: Folded,
    record: PackedRecord,
    explainer: Explainer | None,
    *,
    partial: bool,
) -> Hit:
    ranked, similar, more = folded
    segment, _ = searcher.reader.locate(ranked.document)
    return Hit(
        url=record.url,
        title=record.title,
        text=record.text_bytes,
        headings=record.headings,
        score=plan.as_float(ranked.score),
        fetched_at=record.fetched_at,
        last_modified=record.last_modified,
        language=record.language,
        partial=partial,
        fetched=not searcher.reader.segments[segment].frontier,
        similar=similar,
        details=record.details,
        explanation=None if explainer is None else explainer.explain(ranked, record, partial=partial),
        more_on_host=more,
        section=_section(plan, record) if plan.names else None,
    )


def _section(plan: Plan, record: PackedRecord) -> Section | None:
    """Return the section that defines a name of the query, None if the page defines none in a section."""
    from crawlctl.pipeline.text.words.names import defining_section

    return defining_section(plan.names, record.url, record.details.sections)
