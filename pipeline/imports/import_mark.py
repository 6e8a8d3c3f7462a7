"""The mark of an imported page: its entry names the archive, and a page outside the scope is never due.

The importer judges a page by an entry with the mark, and the outcome carries it into the WebDB.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from crawlctl.pipeline.scope.belonging import belonging, is_imported
from crawlctl.pipeline.webdb.records import NEVER

if TYPE_CHECKING:
    from crawlctl.pipeline.scope.scope import Scope
    from crawlctl.pipeline.webdb.records import Outcome, WebEntry


def marked_entry(scope: Scope, url: str, entry: WebEntry, source: str) -> WebEntry | None:
    """Return the entry by which a page of an archive is judged; None if the user has removed the page."""
    exclusion, stays = belonging(scope, url, entry.depth, lambda: source)
    if exclusion is not None and not stays:
        return None
    return replace(entry, source=source, next_due=entry.first_seen if exclusion is None else NEVER)


def marked_outcome(entry: WebEntry, outcome: Outcome) -> Outcome:
    """Return the outcome of a page with the mark of its entry, if the entry has a mark."""
    if not is_imported(entry.source):
        return outcome
    return replace(outcome, imported=entry.source, is_outside=entry.next_due == NEVER)
