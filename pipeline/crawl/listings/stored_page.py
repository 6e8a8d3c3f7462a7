"""Finds the document of a page in the index, or says why a page is not there and what to type."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

from crawlctl.pipeline.captures.capture_lookup import captures_of
from crawlctl.pipeline.captures.capture_record import has_answer
from crawlctl.pipeline.errors import NothingMatched
from crawlctl.pipeline.index.lookup import find_document
from crawlctl.pipeline.scope.scope import is_forgotten
from crawlctl.pipeline.webdb.records import Status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawlctl.pipeline.captures.capture_record import CaptureRecord
    from crawlctl.pipeline.crawl.listings.archive_search import ArchiveSearch
    from crawlctl.pipeline.crawl.reports.url_explanation import UrlExplanation
    from crawlctl.pipeline.index.segment.stored_documents import DocRecord
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store


def stored_document(store: Store, snapshot: Snapshot, explanation: UrlExplanation) -> DocRecord | None:
    """Return the indexed document of a URL; None if the index has none."""
    files = [file for file in snapshot.files if file.partition == explanation.partition]
    is_live = explanation.entry is not None and explanation.entry.live
    return find_document(store, files, explanation.url) if is_live else None


def refuse_forgotten(explanation: UrlExplanation) -> None:
    """Raise an error if the user has forgotten the page: its archived answers are kept only until gc."""
    if explanation.exclusion is not None and is_forgotten(explanation.exclusion):
        raise NothingMatched(
            f"{explanation.url} is forgotten ({explanation.exclusion}), so nothing of it is shown; "
            "`crawlctl gc` deletes what the archive still has"
        )


def not_stored(explanation: UrlExplanation, search: ArchiveSearch) -> NothingMatched:
    """Return the error for a page that is not in the index: it says why, and what to type."""
    advice = _next_command(explanation)
    if search.files and explanation.entry is not None and not explanation.entry.live:
        advice += f"; `crawlctl show --raw {quote(explanation.url)}` searches the older archives"
    return NothingMatched(f"{explanation.url} is not in the index: {explanation.why}; {advice}")


def has_text_elsewhere(store: Store, snapshot: Snapshot, explanation: UrlExplanation) -> bool:
    """Return whether a page that is not in the index has a text in the archives, by the tables of captures.

    A redirect has none. A page that should be in the index, but is not there, is damaged or was imported.
    """
    entry = explanation.entry
    if entry is None or entry.live or entry.status is Status.REDIRECTED:
        return False
    return has_answer(captures_of(store, snapshot, explanation.url))


def require_captures(
    captures: Sequence[CaptureRecord],
    search: ArchiveSearch,
    explanation: UrlExplanation,
    at: str | None = None,
) -> None:
    """Raise an error if a URL has no captures; it says what was searched, and why there is none."""
    if captures:
        return
    if at is not None:
        raise NothingMatched(
            f"{explanation.url} has no capture until {at}; "
            f"`crawlctl show --captures {quote(explanation.url)}` lists all"
        )
    searched = "the only archive was" if search.searched == 1 else f"all {search.searched:,} archives were"
    how = f" ({searched} searched)" if search.searched else ""
    raise NothingMatched(
        f"{explanation.url} is in no archive of this crawl{how}: {explanation.why}; "
        f"{_next_command(explanation)}"
    )


def _next_command(explanation: UrlExplanation) -> str:
    """Return what to type when a page is not stored."""
    entry, url = explanation.entry, quote(explanation.url)
    if entry is None:
        return f"`crawlctl explain {url}` says more"
    other = {Status.REDIRECTED: entry.redirect_to, Status.DUPLICATE: entry.canonical}.get(entry.status, "")
    if other:
        return f"type `crawlctl show {quote(other)}`"
    if entry.live:
        return "an imported page stays in the archive that it came from; `crawlctl check` looks for damage"
    if not entry.last_tried:
        return "fetch it with `crawlctl run`"
    return f"`crawlctl explain {url}` says more"
