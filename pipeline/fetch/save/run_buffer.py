"""The run that a task is filling: documents, links and outcomes of all pages since the last save.

To save a run, its data files are written first, and then its record in the journal of the round. A kill
before the record is written leaves files that belong to no run: their pages are fetched again. A kill later
loses nothing: the pages are not fetched again. Pages are archived before they are parsed, so the same is true
of pages that were not parsed yet (unparsed.py).
"""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING, Protocol

from msgspec.structs import replace

from crawlctl.pipeline.fetch.pages.discovered import DiscoveredUrls
from crawlctl.pipeline.fetch.save.archive import FIRST_UNPARSED, UNPARSED
from crawlctl.pipeline.politeness.failure_kinds import kind_of
from crawlctl.pipeline.state.journal import put_run
from crawlctl.pipeline.state.kinds import FRESH, HOSTS, OUTCOMES
from crawlctl.pipeline.store.local.sync_group import synced_together
from crawlctl.pipeline.urls.hosts import host_of_key
from crawlctl.pipeline.webdb.life import has_same_text
from crawlctl.pipeline.webdb.records import Kind, encode
from crawlctl.pipeline.webdb.repeated.block_table import RunBlocks
from crawlctl.pipeline.webdb.row_files import write_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from crawlctl.pipeline.config.settings import Config
    from crawlctl.pipeline.fetch.order import FetchOrder
    from crawlctl.pipeline.fetch.pages.page_reader import Visit
    from crawlctl.pipeline.index.segment.stored_documents import Document
    from crawlctl.pipeline.politeness.host_state import HostState
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.webdb.records import Outcome, WebEntry
    from crawlctl.pipeline.webdb.repeated.block_table import KnownBlocks

_OUTCOME_OVERHEAD = 150  # bytes of Python objects around an outcome, measured
# A run may fill 1/4 of the task's memory. The rest is for bodies being received and for writing the run.
_SHARE = 4

# Counters of a run, besides those of the kinds of outcomes (webdb/records.py).
PAGES = "pages"  # outcomes for which a host was asked
ANSWERED = "answered"  # pages that were answered: with 304 or 404 too, but not with 429 or 5xx
FOLLOWED = "followed"  # outcomes of URLs that the round has found itself: the last snapshot has none of them
REQUESTS = "requests"  # ended requests, for pages, robots.txt and sitemaps
REACHED = "reached"  # requests for which a connection to the host was made
BYTES = "bytes"  # received
NEW, CHANGED, UNCHANGED = "new", "changed", "unchanged"  # pages with content
FAILED_WITH = "failed with "  # the beginning of the counters of failed pages, by kind


def change_of(entry: WebEntry, outcome: Outcome) -> str | None:
    """Return whether the content of a page is new, changed or unchanged; None if there is no page to index.

    A page without words counts as changed at every visit.
    """
    if outcome.kind is Kind.NOT_MODIFIED:
        return UNCHANGED
    if outcome.kind is not Kind.FETCHED:
        return None
    if not entry.last_fetched:
        return NEW
    return UNCHANGED if has_same_text(entry, outcome) else CHANGED


class Builder(Protocol):
    """Builds the index of a run (index/building/builder.py)."""

    @property
    def memory(self) -> int:
        """The bytes it holds, estimated."""

    @property
    def full(self) -> bool:
        """Whether no further document fits."""

    def add(self, document: Document) -> int:
        """Add a document and return its number in the run."""

    def write(self, store: Store, *, partition: int, round_number: int) -> tuple[FileEntry, ...]:
        """Write the files of the run."""


class Keeper(Protocol):
    """Archives pages (fetch/save/archive.py)."""

    def keep(self, visit: Visit, kind: Kind) -> int | None:
        """Archive an exchange; return the offset of the answer in the file."""

    @property
    def memory(self) -> int:
        """The bytes it holds, estimated."""

    def save(self) -> tuple[FileEntry, ...]:
        """Commit and return the files written since the last save; the WARC file, if any, is the first."""

    def abandon(self, error: BaseException) -> None:
        """Drop the file that is not saved."""


class RunBuffer:
    """Collects the results of pages and saves them as runs; `saved` are the files of all saved runs."""

    def __init__(
        self,
        store: Store,
        order: FetchOrder,
        config: Config,
        new_builder: Callable[[], Builder],
        *,
        archive: Keeper,
        known: KnownBlocks | None = None,
        note: Callable[[Store, int, int, list[FileEntry]], object] | None = None,
    ) -> None:
        self.saved: list[FileEntry] = []
        self.totals: Counter[str] = Counter()  # counters of all saved runs of this attempt
        self.unsaved_pages = 0  # fetched since the last save, parsed or not: lost if the next save fails
        self.handled = 0  # URLs with an outcome in this attempt
        self.host_pages: Counter[str] = Counter()  # pages with content since the last save, by host
        self.fresh = DiscoveredUrls()
        self.blocks = RunBlocks(known)
        self._store = store
        self._order = order
        self._limits = config.round
        self._new_builder = new_builder
        self._builder = new_builder()
        self._archive = archive
        self._note = note or put_run
        self._outcomes: dict[bytes, bytes] = {}
        self._outcome_bytes = 0
        self._documents = 0
        # Archived pages without an outcome → their offset in the file that is being written, None if their
        # file is saved already.
        self._unparsed: dict[bytes, int | None] = {}
        self._counts: Counter[str] = Counter()
        self._since = time.monotonic()

    def archive(self, visit: Visit) -> None:
        """Archive a page before it is parsed; a call of `add` or `fail` follows."""
        self.unsaved_pages += 1
        self._unparsed[visit.key] = self._archive.keep(visit, Kind.FETCHED)
        self._counts[BYTES] += visit.answer.wire_bytes

    def adopt(self, visit: Visit) -> None:
        """Take a page that an earlier attempt has archived; a call of `add` or `fail` follows."""
        self._unparsed[visit.key] = None

    def add(self, visit: Visit, outcome: Outcome, document: Document | None = None) -> None:
        """Keep the outcome of a request, its document if it has one, and its exchange for the archive."""
        if visit.key not in self._unparsed:
            self._archive.keep(visit, outcome.kind)
            self._counts[BYTES] += visit.answer.wire_bytes
        if document is not None:
            self.index(document)
            self.blocks.add(visit.key, document.blocks)
        self.fail(visit, outcome)

    def index(self, document: Document) -> None:
        """Keep a document without an outcome, because the outcome of its page is known already."""
        self._builder.add(document)
        self._documents += 1

    def fail(self, visit: Visit, outcome: Outcome) -> None:
        """Keep the outcome of a request whose answer is not needed any more."""
        self.unsaved_pages += visit.key not in self._unparsed
        self.judge(visit.key, outcome)
        self._counts[PAGES] += 1
        if change := change_of(visit.entry, outcome):
            self._counts[change] += 1
            self.host_pages[host_of_key(visit.key)] += 1
        if outcome.kind is Kind.FAILED:
            self._counts[FAILED_WITH + kind_of(outcome.reason)] += 1
        elif outcome.code:
            self._counts[ANSWERED] += 1

    def judge(self, key: bytes, outcome: Outcome) -> None:
        """Keep an outcome that needed no request."""
        packed = encode(outcome)
        self._unparsed.pop(key, None)
        self._outcomes[key] = packed
        self.handled += 1
        self._outcome_bytes += len(key) + len(packed) + _OUTCOME_OVERHEAD
        self._counts[outcome.kind.name.lower()] += 1
        self.count(FOLLOWED, int(self.fresh.is_watched(key)))

    def count(self, name: str, amount: int = 1) -> None:
        """Increase a counter of the run; outcomes are counted already when they are kept."""
        if amount:
            self._counts[name] += amount

    @property
    def pages(self) -> int:
        """Pages fetched in this attempt, saved or not."""
        return self.totals[PAGES] + self._counts[PAGES]

    @property
    def received(self) -> int:
        """Bytes received in this attempt."""
        return self.totals[BYTES] + self._counts[BYTES]

    @property
    def errors(self) -> int:
        """URLs of this attempt that failed."""
        name = Kind.FAILED.name.lower()
        return self.totals[name] + self._counts[name]

    @property
    def failures(self) -> dict[str, int]:
        """Failed pages of this attempt by cause."""
        found = self.totals + self._counts
        return {name.removeprefix(FAILED_WITH): found[name] for name in found if name.startswith(FAILED_WITH)}

    @property
    def memory(self) -> int:
        """The bytes that the run holds, estimated."""
        held = self._archive.memory + self.blocks.memory
        return self._builder.memory + self._outcome_bytes + self.fresh.memory + held

    @property
    def is_full(self) -> bool:
        """Whether it is time to save the run."""
        limits = self._limits
        if time.monotonic() - self._since >= limits.flush_time:
            return self._has_outcomes_or_pages or bool(self.fresh)
        return bool(self._outcomes or self.fresh or self._documents) and (
            self._builder.full
            or self._counts[PAGES] >= limits.flush_pages
            or self.memory >= limits.task_memory // _SHARE
        )

    def save(self, hosts: Iterable[tuple[str, HostState]]) -> None:
        """Save the run with the states of hosts, if there is anything to save."""
        self._since = time.monotonic()
        pages = self.host_pages
        states = {
            host.encode("ascii"): encode(replace(state, saved_pages=pages[host])) for host, state in hosts
        }
        if not (self._has_outcomes_or_pages or self.fresh or states):
            return
        with synced_together():
            written = self._write_all(states)
        self._note(self._store, self._order.round, self._order.partition, written)
        self._begin_next(written)

    def _write_all(self, states: dict[bytes, bytes]) -> list[FileEntry]:
        """Write the files of the run."""
        order = self._order
        files: list[FileEntry | None] = [*self._save_archive(), *self._write_index()]
        files += self.blocks.write(self._store, partition=order.partition, round_number=order.round)
        files += [
            self._write(FRESH, self.fresh.packed()) if self.fresh else None,
            self._write(HOSTS, states) if states else None,
        ]
        # Always written, because it carries the counters of the run.
        files.append(replace(self._write(OUTCOMES, self._outcomes), counters=dict(self._counts)))
        return [entry for entry in files if entry is not None]

    @property
    def _has_outcomes_or_pages(self) -> bool:
        has_archived = any(offset is not None for offset in self._unparsed.values())
        return bool(self._outcomes or self._documents) or has_archived

    def _save_archive(self) -> tuple[FileEntry, ...]:
        saved = self._archive.save()
        offsets = [offset for offset in self._unparsed.values() if offset is not None]
        if not saved or not offsets:
            return saved
        unparsed = {UNPARSED: len(offsets), FIRST_UNPARSED: min(offsets)}
        return replace(saved[0], counters={**saved[0].counters, **unparsed}), *saved[1:]

    def _write_index(self) -> tuple[FileEntry, ...]:
        order = self._order
        return self._builder.write(self._store, partition=order.partition, round_number=order.round)

    def _write(self, kind: str, rows: dict[bytes, bytes]) -> FileEntry:
        order = self._order
        return write_rows(self._store, kind, rows, partition=order.partition, round_number=order.round)

    def abandon(self, error: BaseException) -> None:
        """Drop all results that are not saved."""
        self._archive.abandon(error)

    def _begin_next(self, files: list[FileEntry]) -> None:
        self.saved += files
        self.totals += self._counts
        self.unsaved_pages = 0
        self.host_pages.clear()
        self._counts = Counter()
        self._outcomes = {}
        self._outcome_bytes = 0
        self._documents = 0
        self._unparsed = dict.fromkeys(self._unparsed)
        self.fresh.clear()
        self._builder = self._new_builder()
