"""Suggestions: what a query that is being typed may become, as clients of the server get it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from crawlctl.pipeline.search.suggestions.completions import complete
from crawlctl.pipeline.terminal.printable import blanked

if TYPE_CHECKING:
    from crawlctl.pipeline.search.open.searcher import Searcher

MIN_CHARACTERS = 2  # nearly every page has a word that begins with a given letter
MAX_SUGGESTIONS = 8

_MAX_LENGTH = 100  # characters of a title or heading; a longer one is no query


class Suggestion(msgspec.Struct, frozen=True):
    """A text to search for, and what it is in the pages that have it."""

    text: str
    kind: Literal["title", "heading", "word"]


def suggestions(searcher: Searcher, text: str, limit: int = MAX_SUGGESTIONS) -> list[Suggestion]:
    """Return what a query that begins with `text` may become; none that is the text itself or very long."""
    typed = text.strip().casefold()
    if len(typed) < MIN_CHARACTERS:
        return []
    found = (
        Suggestion(" ".join(blanked(one.text).split()), one.kind) for one in complete(searcher, text, limit)
    )
    return [one for one in found if len(one.text) <= _MAX_LENGTH and one.text.casefold() != typed]
