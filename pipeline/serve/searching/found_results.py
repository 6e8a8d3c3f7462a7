"""Answers a search for a web page or a program: the results, how many there are, and what to try instead."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.search.answer.find import SearchOptions, find
from crawlctl.pipeline.search.answer.needles import marked_tree
from crawlctl.pipeline.search.answer.results import Explanation, Facet
from crawlctl.pipeline.search.answer.snippets import MarkedText, Marker
from crawlctl.pipeline.search.query.grammar import parse
from crawlctl.pipeline.serve.searching.result_links import SectionLink, breadcrumb, safe_link, section_link
from crawlctl.pipeline.terminal.utc import utc_day
from crawlctl.pipeline.text.details.shown_details import ShownDetails, shown_details

if TYPE_CHECKING:
    from crawlctl.pipeline.search.answer.results import Hit, Results
    from crawlctl.pipeline.search.open.searcher import Searcher
    from crawlctl.pipeline.serve.searching.search_request import SearchRequest


MUCH_HIDDEN = 0.2  # the share of the matching pages from which a visitor is told
FACET_LISTS = 50  # how many values per field are counted: more would delay other searches


class FoundResult(msgspec.Struct, frozen=True, kw_only=True):
    """A page that was found, as it is shown."""

    number: int  # from 1, in the whole answer
    url: str
    link: str  # the URL, empty if it must not be a link
    title: MarkedText
    snippet: MarkedText
    section: SectionLink | None
    details: ShownDetails
    score: float
    language: str
    fetched_at: int
    last_modified: int
    is_partial: bool  # it has only some of the words
    is_fetched: bool
    similar: int
    explanation: Explanation | None
    more_on_host: int = 0  # pages of its host that match too and are not shown

    @property
    def crumbs(self) -> list[str]:
        """The host and the parts of the path of the URL."""
        return breadcrumb(self.url)

    @property
    def latest_date(self) -> int:
        """When the page was changed or published, in UTC seconds; 0 if nobody says it."""
        newest = self.details.modified or self.details.published
        return newest.date if newest else 0

    @property
    def dates(self) -> list[tuple[str, str, str]]:
        """The kind, day and origin of each date that the page or its server states; else of the visit."""
        stated = (("published", self.details.published), ("modified", self.details.modified))
        dates = [(kind, utc_day(one.date), one.origin) for kind, one in stated if one]
        return dates or ([("visited", utc_day(self.fetched_at), "")] if self.fetched_at else [])


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """The results of a search; times are in seconds."""

    snapshot: int
    read_as: str  # the query as it was understood
    total: int
    partial: int
    results: list[FoundResult]
    has_more: bool
    notices: tuple[str, ...]
    unknown: tuple[str, ...]  # words that no page has
    suggestion: str  # the query with better spellings, empty without any
    seconds: float
    facets: tuple[Facet, ...] = ()
    hidden: int = 0  # pages that match in full, and that safe search has left out

    @property
    def is_much_hidden(self) -> bool:
        """Whether safe search has left out so much that a visitor should know."""
        return self.hidden > MUCH_HIDDEN * (self.total + self.hidden)


def search(
    searcher: Searcher,
    wanted: SearchRequest,
    *,
    explain: bool = False,
    per_host: int = 0,
    facets: bool = False,
) -> Found:
    """Return the results of a search; one result more is searched for, to know whether more follow.

    At most `per_host` results of a host are shown; 0 means any number.
    """
    began = time.perf_counter()
    query = parse(wanted.text)
    options = SearchOptions(
        wanted.limit,
        wanted.offset,
        wanted.sort,
        explain=explain,
        facets=facets,
        facet_lists=FACET_LISTS,
        per_host=per_host,
        safe=wanted.safe,
        ahead=int(not explain),
    )
    results = find(searcher, query, options)
    marker = Marker(marked_tree(query.tree, results.synonyms))
    found = [_result(hit, marker, number) for number, hit in enumerate(results.hits, wanted.offset + 1)]
    suggestion = _respelt(searcher, results, wanted.text) if results.unknown or results.rare else ""
    return Found(
        snapshot=searcher.snapshot.number,
        read_as=query.tree.infix(),
        total=results.total,
        partial=results.partial,
        results=found,
        has_more=results.has_more,
        notices=results.notices,
        unknown=results.unknown,
        suggestion=suggestion,
        seconds=time.perf_counter() - began,
        facets=results.facets,
        hidden=results.hidden,
    )


def _result(hit: Hit, marker: Marker, number: int) -> FoundResult:
    excerpt, at = marker.located_snippet(hit.shown_text, hit.language)
    if hit.section is not None:
        at = hit.section.offset
    elif at is not None and hit.details.sections:  # whose offsets are in characters
        at = len(hit.text[:at].decode("utf-8", "ignore"))
    return FoundResult(
        number=number,
        url=hit.url,
        link=safe_link(hit.url),
        title=marker.title(hit.title, hit.language),
        snippet=excerpt,
        section=section_link(hit.url, hit.details.sections, at),
        details=shown_details(hit.details, hit.last_modified, hit.fetched_at),
        score=hit.score,
        language=hit.language,
        fetched_at=hit.fetched_at,
        last_modified=hit.last_modified,
        is_partial=hit.partial,
        is_fetched=hit.fetched,
        similar=hit.similar,
        explanation=hit.explanation,
        more_on_host=hit.more_on_host,
    )


def _respelt(searcher: Searcher, results: Results, text: str) -> str:
    """Return the query with a better spelling of unknown and rare words, empty if there is none."""
    from crawlctl.pipeline.search.suggestions.suggest import respelt

    return respelt(searcher, text, results.unknown, results.rare)
