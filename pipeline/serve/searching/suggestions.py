"""Suggestions: what a query that is being typed may become; the titles, headings and words of the best pages.

The last word of the text may be unfinished, so pages are looked for whose titles or headings have a word that
begins like it, and all words before it. Their titles, their headings and the unfinished word as these pages
write it are offered. To replace the way in which suggestions are found, replace `suggestions`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from crawlctl.pipeline.errors import QueryError
from crawlctl.pipeline.search.answer.find import SearchOptions, find
from crawlctl.pipeline.search.query.grammar import parse
from crawlctl.pipeline.terminal.printable import blanked
from crawlctl.pipeline.text.words.tokens import tokens

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.search.answer.results import Hit
    from crawlctl.pipeline.search.open.searcher import Searcher

MIN_CHARACTERS = 2  # nearly every page has a word that begins with a given letter
MAX_SUGGESTIONS = 8

_PAGES = 12  # that are looked at
_MAX_LENGTH = 100  # characters of a title or heading; a longer one is no query
_ORDER = ("word", "title", "heading")

Kind = Literal["title", "heading", "word"]


class Suggestion(msgspec.Struct, frozen=True):
    """A text to search for, and what it is in the pages that have it."""

    text: str
    kind: Kind


def suggestions(searcher: Searcher, text: str, limit: int = MAX_SUGGESTIONS) -> list[Suggestion]:
    """Return what a query that begins with `text` may become; words first, then titles and headings."""
    words = tokens(text)
    if len(text.strip()) < MIN_CHARACTERS or not words:
        return []
    found: dict[str, Suggestion] = {}
    for hit in _hits(searcher, words):
        for one in _of_page(hit, text, words):
            found.setdefault(one.text.casefold(), one)
    found.pop(text.strip().casefold(), None)
    return sorted(found.values(), key=lambda one: _ORDER.index(one.kind))[:limit]


def _hits(searcher: Searcher, words: list[str]) -> tuple[Hit, ...]:
    """Return the best pages with these words, the last of them unfinished and in a title or heading.

    If too many words begin like the last one, they are the best pages with the words before it.
    """
    *whole, begun = words
    before = " ".join(f'"{word}"' for word in whole)
    for query in (f"{before} (title:{begun}* OR heading:{begun}*)", before):
        try:
            return find(searcher, parse(query), SearchOptions(_PAGES, strict=True)).hits if query else ()
        except QueryError:
            continue
    return ()


def _of_page(hit: Hit, text: str, words: list[str]) -> Iterator[Suggestion]:
    """Yield the suggestions that one page gives."""
    at = text.lower().rfind(words[-1])
    before = text[:at] if at >= 0 else "".join(f"{word} " for word in words[:-1])
    named: tuple[tuple[Kind, str], ...] = (("title", hit.title), *(("heading", one) for one in hit.headings))
    for kind, name in named:
        shown = " ".join(blanked(name).split())
        cut = tokens(shown)
        begun = [word for word in cut if word.startswith(words[-1])]
        yield from (Suggestion(before + word, "word") for word in begun)
        if begun and len(shown) <= _MAX_LENGTH and set(words[:-1]) <= set(cut):
            yield Suggestion(shown, kind)
