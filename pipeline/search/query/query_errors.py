"""The error for a query that cannot be understood, with a caret below the fault."""

from __future__ import annotations

from crawlctl.pipeline.errors import QueryError
from crawlctl.pipeline.terminal.printable import blanked
from crawlctl.pipeline.terminal.width import columns

# the most characters of the query that are shown, so that the caret stays below its character
_MAX_SHOWN = 72
_BEFORE = 48  # the most of these characters that stand before the caret
_INDENT = "  "


def query_error(reason: str, source: str, at: int) -> QueryError:
    """Return the error for a fault in the query `source` at the character with the index `at`."""
    start = max(0, at - _BEFORE) if len(source) > _MAX_SHOWN else 0
    end = start + _MAX_SHOWN
    cut_start = "…" if start else ""
    cut_end = "…" if end < len(source) else ""
    before = cut_start + blanked(source[start:at])
    picture = before + blanked(source[at:end]) + cut_end
    caret = " " * columns(before) + "^"
    return QueryError(f"{blanked(reason)}\n{_INDENT}{picture}\n{_INDENT}{caret}")
