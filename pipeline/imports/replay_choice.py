"""ReplayChoice: what a replay of the crawl's own archive keeps of its pages.

Files are read from the newest to the oldest. So the first capture of a page that says something about its
content counts: its last content or, if the page is not in the index, its last answer of any kind. A revisit
(304) only confirms an earlier answer, and a failure does not change a page: after both, the search for the
capture goes on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from crawlctl.pipeline.fetch.pages.discovered import DiscoveredUrls, Origin
from crawlctl.pipeline.fetch.pages.outcomes import has_content, outcome_of
from crawlctl.pipeline.imports.archive_file import open_own_archive
from crawlctl.pipeline.imports.lost_seeds import lost_seeds
from crawlctl.pipeline.imports.open_partitions import new_entry
from crawlctl.pipeline.imports.page_choice import LeftOut, NewsOnly
from crawlctl.pipeline.index.indexed_pages import IndexedPages
from crawlctl.pipeline.state.snapshots import load_snapshot
from crawlctl.pipeline.urls.hosts import host_in_key
from crawlctl.pipeline.webdb.merge.update import SEED_SCORE
from crawlctl.pipeline.webdb.records import Kind, Status

if TYPE_CHECKING:
    from collections.abc import Set

    from crawlctl.pipeline.fetch.pages.page_reader import Visit
    from crawlctl.pipeline.http.exchange import Answer
    from crawlctl.pipeline.imports.open_partitions import OpenPartition
    from crawlctl.pipeline.imports.order import ImportOrder, ReplayWants
    from crawlctl.pipeline.imports.page_choice import PageChoice
    from crawlctl.pipeline.index.segment.stored_documents import Document
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.webdb.records import Outcome, WebEntry


def choice_of(store: Store, order: ImportOrder) -> PageChoice:
    """Return what the task of an order keeps of the pages in its archives."""
    if order.replay is None:
        return NewsOnly()
    snapshot = order.fetch.draft or load_snapshot(store, order.fetch.snapshot)
    archives = (open_own_archive(name, order.sizes) for name in order.archives)
    seeds = lost_seeds(store, snapshot, archives, order.replay.seeds)
    return ReplayChoice(store, snapshot, order.replay, seeds)


class ReplayChoice:
    """The choice of one replay task; `seeds` are the keys of pages that were seeds and are not known."""

    def __init__(
        self, store: Store, snapshot: Snapshot, wants: ReplayWants, seeds: Set[bytes] = frozenset()
    ) -> None:
        self._store = store
        self._snapshot = snapshot
        self._wants = wants
        self._seeds = seeds
        self._done: set[bytes] = set()
        self._indexed: dict[int, IndexedPages] = {}
        self._unused = DiscoveredUrls()

    def begin_archive(self, name: str) -> None:
        """Do nothing: all archives are the crawl's own."""

    def entry_for(self, target: OpenPartition, key: bytes, answer: Answer) -> WebEntry | LeftOut:
        """Return the entry of a page if this capture counts and has something that the replay must keep."""
        return self._entry_for(target, key, answer) or LeftOut.OLDER

    def _entry_for(self, target: OpenPartition, key: bytes, answer: Answer) -> WebEntry | None:
        if key in self._done:
            return None
        known = target.entry(key)
        if not _counts(known, answer):
            return None
        self._done.add(key)
        if known is None:
            return self._new_entry(key, int(answer.started)) if self._wants.entries else None
        if self._wants.links and target.scope.verdict(answer.url, known.depth) is None:
            return replace(known, links_taken=0)  # links before this index may have been left out too
        return known if self._needs_document(target, key, known, answer) else None

    def fresh_of(self, target: OpenPartition) -> DiscoveredUrls:
        """Return the URLs of the run, if links are wanted."""
        if self._wants.links:
            return target.run.fresh
        self._unused.clear()
        return self._unused

    def keep(self, target: OpenPartition, visit: Visit, outcome: Outcome, document: Document | None) -> None:
        """Keep the document if the index lacks it, and the outcome if the WebDB does not know the page."""
        is_new = visit.entry.last_tried == 0 and target.entry(visit.key) is None
        known = None if is_new else visit.entry
        wanted = document if self._needs_document(target, visit.key, known, visit.answer) else None
        if is_new:
            target.run.add(visit._replace(capture=None), outcome, wanted)
            self._keep_seed(target, visit)
        elif wanted is not None:
            target.run.index(wanted)

    def _new_entry(self, key: bytes, started: int) -> WebEntry:
        return new_entry(started, depth=0) if key in self._seeds else new_entry(started)

    def _keep_seed(self, target: OpenPartition, visit: Visit) -> None:
        if visit.key in self._seeds:
            origin = Origin("", int(visit.answer.started), 0, SEED_SCORE)
            target.run.fresh.add(origin, host_in_key(visit.key), [(visit.key, "")])

    def _needs_document(
        self, target: OpenPartition, key: bytes, known: WebEntry | None, answer: Answer
    ) -> bool:
        """Return whether a capture is the content that a live page has now, and the index has lost it."""
        if not (self._wants.documents and has_content(answer)) or (known and not known.live):
            return False
        since = known.last_changed if known else int(answer.started)
        return int(answer.started) >= since and not self._indexed_of(target.number).has(key, since)

    def _indexed_of(self, partition: int) -> IndexedPages:
        if partition not in self._indexed:
            files = (entry for entry in self._snapshot.files if entry.partition == partition)
            self._indexed[partition] = IndexedPages(self._store, files)
        return self._indexed[partition]


def _counts(known: WebEntry | None, answer: Answer) -> bool:
    """Return whether a capture decides what its page is now."""
    if has_content(answer):
        return True
    if outcome_of(answer, 0).kind in (Kind.FAILED, Kind.NOT_MODIFIED):
        return False
    # A page with a document may answer 404 once by mistake; its content stays.
    return known is None or not (known.live or known.status is Status.DUPLICATE)
