"""Completes what a person has begun to type: by words, and by titles and headings of pages.

Titles and headings that begin with all that was typed are ranked by the PageRank of their page. Words
complete the last word, and are ranked by the number of pages that have them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

import msgspec

from crawlctl.pipeline.text.words.tokens import tokens

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.search.open.searcher import Searcher

MAX_TYPED = 200  # the most characters of a text that is completed

_LAST_WORD = re.compile(r"\w+\Z")
_BLANKS = " \t\n"


class Completion(msgspec.Struct, frozen=True):
    """What a query may become."""

    text: str  # the whole query, completed
    kind: Literal["word", "title", "heading"]
    url: str = ""  # the page with this title or heading, and the anchor of the heading; "" for a word
    pages: int = 0  # for a word: how many pages have it


def complete(searcher: Searcher, text: str, limit: int = 8) -> list[Completion]:
    """Return what a query that begins with `text` may become, the likeliest first.

    Half of the list is for words, if there are enough words and titles. If the query has several words,
    completions of its last word come last, because that word alone says little. If a word and a title have
    the same text, only the title is returned, because it links to a page.
    """
    typed = tokens(text[: MAX_TYPED + 1])
    if limit < 1 or len(text) > MAX_TYPED or not typed:
        return []
    words = list(_words(searcher, text, limit))
    titles = list(_titles(searcher, text, limit))
    few = max(limit // 2, limit - len(titles))
    words = words[:few]
    ordered = (*words, *titles) if len(typed) == 1 else (*titles[: limit - len(words)], *words)
    different = {found.text.casefold(): found for found in ordered}
    different |= {found.text.casefold(): found for found in titles if found.text.casefold() in different}
    return list(different.values())[:limit]


def _titles(searcher: Searcher, text: str, limit: int) -> Iterator[Completion]:
    key = " ".join(tokens(text)) + (" " if text[-1] in _BLANKS else "")
    for _, entry in searcher.titles.beginning_with(key, limit):
        anchor = entry.anchor if len(entry.anchor) > 1 else ""
        yield Completion(entry.text, "heading" if entry.anchor else "title", f"{entry.url}{anchor}")


def _words(searcher: Searcher, text: str, limit: int) -> Iterator[Completion]:
    last = _LAST_WORD.search(text)
    typed = tokens(last[0]) if last else []
    if last and len(typed) == 1:
        for pages, word in searcher.words.beginning_with(typed[0], limit + 1):
            if word != typed[0]:
                yield Completion(text[: last.start()] + word, "word", pages=pages)
