"""Completes what a person has begun to type: with words, titles of pages, and headings in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from crawlctl.pipeline.errors import QueryError
from crawlctl.pipeline.search.answer.find import SearchOptions, find
from crawlctl.pipeline.search.query.grammar import parse
from crawlctl.pipeline.text.words.tokens import tokens

if TYPE_CHECKING:
    from crawlctl.pipeline.search.open.searcher import Searcher


class Completion(msgspec.Struct, frozen=True):
    """What a query may become."""

    text: str  # the whole query, completed
    kind: Literal["word", "title", "heading"]
    url: str = ""  # of the page with this title or heading; empty for a word
    pages: int = 0  # of a word: how many pages have it


def complete(searcher: Searcher, text: str, limit: int = 8) -> list[Completion]:
    """Return what a query that begins with `text` may become, the likeliest first."""
    words = tokens(text)
    if not words:
        return []
    try:
        query = parse(" ".join([*(f"title:{word}" for word in words[:-1]), f"title:{words[-1]}*"]))
        hits = find(searcher, query, SearchOptions(limit=limit)).hits
    except QueryError:  # too many words begin so
        return []
    return [Completion(hit.title, "title", hit.url) for hit in hits if hit.title]
