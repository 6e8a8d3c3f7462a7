"""Which pages of archives count, and what is kept of them: for imports, and for replays.

An import takes all pages of which the crawl has no newer version. A replay (replay_choice.py) reads what the
crawl has archived itself, so the WebDB knows most of its pages.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Protocol

from crawlctl.pipeline.imports.import_mark import marked_entry, marked_outcome
from crawlctl.pipeline.imports.open_partitions import new_entry
from crawlctl.pipeline.scope.belonging import archive_source

if TYPE_CHECKING:
    from crawlctl.pipeline.fetch.pages.discovered import DiscoveredUrls
    from crawlctl.pipeline.fetch.pages.page_reader import Visit
    from crawlctl.pipeline.http.exchange import Answer
    from crawlctl.pipeline.imports.open_partitions import OpenPartition
    from crawlctl.pipeline.index.segment.stored_documents import Document
    from crawlctl.pipeline.webdb.records import Outcome, WebEntry


class LeftOut(Enum):
    """Why a page of an archive does not count, in the words of the counters."""

    OLDER = "pages known as fresh"
    REMOVED = "pages left out because the crawl has forgotten them"


class PageChoice(Protocol):
    """Which pages of the archives count, and what is kept of them."""

    def begin_archive(self, name: str) -> None:
        """Take note that the pages of another archive follow."""

    def entry_for(self, target: OpenPartition, key: bytes, answer: Answer) -> WebEntry | LeftOut:
        """Return the WebDB entry that a page is judged by, or why the page does not count."""

    def fresh_of(self, target: OpenPartition) -> DiscoveredUrls:
        """Return where the links of pages are collected."""

    def keep(self, target: OpenPartition, visit: Visit, outcome: Outcome, document: Document | None) -> None:
        """Keep the outcome of a page that counts, and its document if it has one."""


class NewsOnly:
    """The choice of an import: pages of which the crawl has no newer version, with their links."""

    def __init__(self) -> None:
        self._newest: dict[bytes, int] = {}
        self._source = ""

    def begin_archive(self, name: str) -> None:
        """Mark the pages that follow with the name of their archive."""
        self._source = archive_source(name)

    def entry_for(self, target: OpenPartition, key: bytes, answer: Answer) -> WebEntry | LeftOut:
        """Return the marked entry of a page, unless there is a newer version or the user has removed it."""
        started = int(answer.started)
        entry = target.entry(key) or new_entry(started)
        if started <= max(entry.last_tried, self._newest.get(key, 0)):
            return LeftOut.OLDER
        marked = marked_entry(target.scope, answer.url, entry, self._source)
        if marked is None:
            return LeftOut.REMOVED
        self._newest[key] = started
        return marked

    def fresh_of(self, target: OpenPartition) -> DiscoveredUrls:
        """Return the URLs of the run."""
        return target.run.fresh

    def keep(self, target: OpenPartition, visit: Visit, outcome: Outcome, document: Document | None) -> None:
        """Keep the outcome and the document."""
        target.run.add(visit, marked_outcome(visit.entry, outcome), document)
