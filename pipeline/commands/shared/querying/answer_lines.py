"""Prints answers to queries: marked words in bold, lines cut to the terminal, no control characters."""

from __future__ import annotations

from itertools import takewhile
from operator import attrgetter
from typing import TYPE_CHECKING

from crawlctl.pipeline.commands.shared.output import bold, green, say, say_styled
from crawlctl.pipeline.terminal.counted import counted
from crawlctl.pipeline.terminal.printable import blanked
from crawlctl.pipeline.terminal.utc import utc_day
from crawlctl.pipeline.terminal.width import fitting, output_width
from crawlctl.pipeline.text.details.shown_details import date_remarks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crawlctl.pipeline.search.answer.answer import Answer, AnswerPage
    from crawlctl.pipeline.search.answer.find import SearchOptions
    from crawlctl.pipeline.search.answer.results import Explanation, Facet
    from crawlctl.pipeline.search.answer.snippets import MarkedText
    from crawlctl.pipeline.search.open.searcher import Searcher
    from crawlctl.pipeline.search.query.tree import Query

_INDENT = "   "
_MIN_COLUMNS = 40


def print_answer(answer: Answer, explained: Query | None = None) -> None:
    """Print the pages and, on standard error, notices and suggestions.

    `explained` is the parsed query if the user asked for an explanation; then it is printed first.
    """
    print_notices(answer.notices)
    if explained is not None:
        say(f"read as: {blanked(explained.tree.infix())}")
    width = _width()
    rest = _first_of_the_rest(answer.pages)
    for page in answer.pages:
        if page is rest:
            say("Pages that have some of the words:\n")
        for line in _lines(page, width):
            say_styled(line)
        say()
    say(_summary(answer))
    for line in _facet_lines(answer.facets):
        say(line)
    for word, better in answer.suggestions.items():
        few = "no page" if word in answer.unknown else "hardly any page"
        say(f"{few} has {blanked(word)}; did you mean {blanked(better)}?", err=True)


def _first_of_the_rest(pages: Sequence[AnswerPage]) -> AnswerPage | None:
    """Return the page from which on all pages are partial matches; earlier ones are marked one by one."""
    rest = list(takewhile(attrgetter("partial"), reversed(pages)))
    return rest[-1] if rest else None


def print_urls(searcher: Searcher, query: Query, options: SearchOptions) -> int:
    """Print only the URLs of the pages, and return their number."""
    from crawlctl.pipeline.search.answer.find import find

    results = find(searcher, query, options)
    print_notices(results.notices)
    for hit in results.hits:
        say(blanked(hit.url))
    return len(results.hits)


def print_notices(notices: Iterable[str]) -> None:
    """Print on standard error how the query was changed."""
    for notice in notices:
        say(blanked(notice), err=True)


def _lines(page: AnswerPage, width: int | None) -> Iterator[str]:
    number = f"{page.number}. "
    room = width and width - max(0, len(number) - len(_INDENT))
    first, *more = _wrapped(page.title, room) if page.title.text else (_INDENT + "(no title)",)
    yield number + first.removeprefix(_INDENT)
    yield from more
    yield _INDENT + green(blanked(f"{page.url}#{page.anchor}" if page.anchor else page.url))
    remarks = " · ".join(_remarks(page))
    if remarks:
        yield _INDENT + remarks
    if page.snippet.text:
        yield from _wrapped(page.snippet, width)
    if page.explanation is not None:
        yield from _explained(page.explanation, _INDENT)


def _remarks(page: AnswerPage) -> Iterator[str]:
    dates = date_remarks(page.details.published, page.details.modified)
    yield from dates
    if page.fetched_at and not dates:
        yield f"visited {utc_day(page.fetched_at)}"
    if not page.fetched:
        yield "not fetched yet, known by links to it"
    if page.partial:
        yield "some of the words"
    if page.similar:
        yield f"and {counted(page.similar, 'similar page')}"


def _wrapped(marked: MarkedText, width: int | None) -> Iterator[str]:
    """Yield the lines of a title or snippet; a marked phrase may begin in one line and end in the next."""
    text = blanked(marked.text)
    start = 0
    while start < len(text):
        end = len(text) if width is None else _line_end(text, start, width - len(_INDENT))
        within = [
            (max(first, start) - start, min(last, end) - start)
            for first, last in marked.spans
            if first < end and last > start
        ]
        yield _INDENT + _styled(text[start:end], within)
        start = end + 1 if text[end : end + 1] == " " else end


def _line_end(text: str, start: int, room: int) -> int:
    end = fitting(text, start, room)
    if end == len(text):
        return end
    space = text.rfind(" ", start + 1, end + 1)
    return space if space > start else end


def _styled(text: str, spans: Iterable[tuple[int, int]]) -> str:
    parts, at = [], 0
    for start, end in spans:
        parts += [text[at:start], bold(text[start:end])]
        at = end
    return "".join((*parts, text[at:]))


def _explained(part: Explanation, indent: str) -> Iterator[str]:
    yield f"{indent}{part.score:.3f} {blanked(part.label)}" + (
        f": {blanked(part.reason)}" if part.reason else ""
    )
    for inner in part.parts:
        yield from _explained(inner, indent + "  ")


def _summary(answer: Answer) -> str:
    if not answer.pages:
        return "No page matches."
    first, last = answer.pages[0].number, answer.pages[-1].number
    more = counted(answer.partial, "more has", "more have")
    some = f", {more} some of the words" if answer.partial else ""
    matches = counted(answer.total, "page matches", "pages match")
    folded = "; --all shows similar pages too" if any(page.similar for page in answer.pages) else ""
    return f"{first:,}–{last:,} shown; {matches}{some}{folded}"


def _facet_lines(facets: Sequence[Facet]) -> Iterator[str]:
    """Yield a line per facet: its values with the number of pages of each."""
    width = max((len(facet.name) for facet in facets), default=0)
    for facet in facets:
        counts = [f"{blanked(one.value) or 'unknown'} {one.count:,}" for one in facet.counts]
        yield f"{blanked(facet.name):{width}}  " + " · ".join((*counts, *([] if facet.complete else ["…"])))


def _width() -> int | None:
    """Return the columns of the output, None if it goes to a file or a pipe."""
    width = output_width()
    return width and max(_MIN_COLUMNS, width)
