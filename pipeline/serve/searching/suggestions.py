"""Suggestions: completions of a query that is being typed, as clients of the server get them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from crawlctl.pipeline.search.suggestions.completions import complete
from crawlctl.pipeline.terminal.printable import blanked

if TYPE_CHECKING:
    from crawlctl.pipeline.search.open.searcher import Searcher

MIN_CHARACTERS = 2  # nearly every page has a word that begins with a given letter
MAX_SUGGESTIONS = 8

_MAX_LENGTH = 100  # the most characters of a title or heading; longer texts are no useful queries


class Suggestion(msgspec.Struct, frozen=True):
    """A text to search for, and whether it is a word, a title or a heading."""

    text: str
    kind: Literal["title", "heading", "word"]


def suggestions(searcher: Searcher, text: str, limit: int = MAX_SUGGESTIONS) -> list[Suggestion]:
    """Return completions of `text`, without the text itself and without very long texts."""
    typed = text.strip().casefold()
    if len(typed) < MIN_CHARACTERS:
        return []
    found = (
        Suggestion(" ".join(blanked(one.text).split()), one.kind) for one in complete(searcher, text, limit)
    )
    return [one for one in found if len(one.text) <= _MAX_LENGTH and one.text.casefold() != typed]
