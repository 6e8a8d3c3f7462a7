"""How a query that cannot be understood is shown: what is wrong, then the query with a caret at the place."""

from __future__ import annotations

from crawlctl.pipeline.errors import QueryError
from crawlctl.pipeline.terminal.printable import blanked
from crawlctl.pipeline.terminal.width import columns

_MAX_SHOWN = 72  # characters of the query, so that the caret stays on its line of the terminal
_BEFORE = 48  # of them before the place
_INDENT = "  "


def complaint(reason: str, source: str, at: int) -> QueryError:
    """Return the error for a query that went wrong at an index of it."""
    start = max(0, at - _BEFORE) if len(source) > _MAX_SHOWN else 0
    end = start + _MAX_SHOWN
    head = "…" if start else ""
    tail = "…" if end < len(source) else ""
    before = head + blanked(source[start:at])
    picture = before + blanked(source[at:end]) + tail
    caret = " " * columns(before) + "^"
    return QueryError(f"{blanked(reason)}\n{_INDENT}{picture}\n{_INDENT}{caret}")
