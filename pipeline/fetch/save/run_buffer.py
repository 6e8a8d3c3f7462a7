"""The run a task is filling: all it has of the pages fetched since the last time it saved.

Saving writes the data files and then, as the last thing, the record of the run in the journal of the round.
Whatever happens before that leaves files nobody knows, and the pages are fetched again; whatever happens
after it, they are not. Pages are archived before they are parsed, so this goes for those too that were not
parsed yet (fetch/save/unparsed.py).
"""

from __future__ import annotations

import re
import time
from collections import Counter
from typing import TYPE_CHECKING, Protocol

from msgspec.structs import replace

from crawlctl.pipeline.fetch.pages.discovered import DiscoveredUrls
from crawlctl.pipeline.fetch.save.archive import FIRST_UNPARSED, UNPARSED
from crawlctl.pipeline.state.journal import put_run
from crawlctl.pipeline.state.kinds import FRESH, HOSTS, OUTCOMES
from crawlctl.pipeline.webdb.records import Kind, encode
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
    from crawlctl.pipeline.webdb.records import Outcome

# Bytes of Python objects around a row of outcomes, measured; and the share of the task's memory that a run
# may fill, the rest being for bodies under way and for writing the run.
_OUTCOME_OVERHEAD = 150
_SHARE = 4

FAILED_WITH = "failed with "  # what counters of pages that were asked for in vain begin with
_CAUSE = re.compile(r"status [45]\d\d\b|(?:status \d+: )?([a-z_]{1,30})(?::|$)")


def failure(outcome: Outcome) -> str:
    """Return the kind of a failure in a word or two; there are few, whatever strangers send."""
    cause = _CAUSE.match(outcome.reason)
    return (cause[1] or cause[0]) if cause else "other errors"


class Builder(Protocol):
    """What builds the index of a run (index/building/builder.py)."""

    @property
    def memory(self) -> int:
        """About how many bytes it holds."""

    @property
    def full(self) -> bool:
        """Whether it takes no further document."""

    def add(self, document: Document) -> int:
        """Take a document and return its number in the run."""

    def write(self, store: Store, *, partition: int, round_number: int) -> tuple[FileEntry, ...]:
        """Write the files of the run."""


class Keeper(Protocol):
    """What archives pages (fetch/save/archive.py)."""

    def keep(self, visit: Visit, kind: Kind) -> int | None:
        """Keep what was asked and answered, and return where the answer lies."""

    def save(self) -> FileEntry | None:
        """Return the file of what was kept since the last time, if anything was."""

    def abandon(self, error: BaseException) -> None:
        """Drop what is not saved."""


class RunBuffer:
    """Gathers what pages give and saves it as runs; `saved` are the files of those saved."""

    def __init__(
        self,
        store: Store,
        order: FetchOrder,
        config: Config,
        new_builder: Callable[[], Builder],
        *,
        archive: Keeper,
        note: Callable[[Store, int, int, list[FileEntry]], object] | None = None,
    ) -> None:
        self.saved: list[FileEntry] = []
        self.runs = 0
        self.totals: Counter[str] = Counter()  # of all runs of this attempt
        self.fresh = DiscoveredUrls()
        self._store = store
        self._order = order
        self._limits = config.round
        self._new_builder = new_builder
        self._builder = new_builder()
        self._archive = archive
        self._note = note or put_run
        self._outcomes: dict[bytes, bytes] = {}
        self._outcome_bytes = 0
        # Pages that are archived and have no outcome yet: where they lie in the file that is being written,
        # None for those that lie in a file that is saved.
        self._unparsed: dict[bytes, int | None] = {}
        self._counts: Counter[str] = Counter()
        self._since = time.monotonic()

    def archive(self, visit: Visit) -> None:
        """Archive a page that is to be parsed; `add` or `fail` then says what became of it."""
        self._unparsed[visit.key] = self._archive.keep(visit, Kind.FETCHED)
        self._counts["bytes"] += visit.answer.wire_bytes

    def adopt(self, visit: Visit) -> None:
        """Take up a page that an earlier attempt has archived."""
        self._unparsed[visit.key] = None

    def add(self, visit: Visit, outcome: Outcome, document: Document | None = None) -> None:
        """Keep what came of a request."""
        if visit.key not in self._unparsed:
            self._archive.keep(visit, outcome.kind)
            self._counts["bytes"] += visit.answer.wire_bytes
        if document is not None:
            self._builder.add(document)
        self.fail(visit, outcome)

    def fail(self, visit: Visit, outcome: Outcome) -> None:
        """Keep the outcome of a request whose answer is of no further use."""
        self.judge(visit.key, outcome)
        self._counts["pages"] += 1
        if outcome.kind is Kind.FAILED:
            self._counts[FAILED_WITH + failure(outcome)] += 1

    def judge(self, key: bytes, outcome: Outcome) -> None:
        """Keep an outcome that was reached without a request."""
        packed = encode(outcome)
        self._unparsed.pop(key, None)
        self._outcomes[key] = packed
        self._outcome_bytes += len(key) + len(packed) + _OUTCOME_OVERHEAD
        self._counts[outcome.kind.name.lower()] += 1

    def count(self, name: str, amount: int = 1) -> None:
        """Count something that is no outcome."""
        if amount:
            self._counts[name] += amount

    @property
    def pages(self) -> int:
        """Pages fetched in this attempt, saved or not."""
        return self.totals["pages"] + self._counts["pages"]

    @property
    def received(self) -> int:
        """Bytes received in this attempt."""
        return self.totals["bytes"] + self._counts["bytes"]

    @property
    def errors(self) -> int:
        """URLs of this attempt that gave no usable answer."""
        name = Kind.FAILED.name.lower()
        return self.totals[name] + self._counts[name]

    @property
    def memory(self) -> int:
        """About how many bytes the run holds."""
        return self._builder.memory + self._outcome_bytes + self.fresh.memory

    @property
    def is_full(self) -> bool:
        """Whether it is time to save the run."""
        limits = self._limits
        if time.monotonic() - self._since >= limits.flush_time:
            return self._has_outcomes_or_pages or bool(self.fresh)
        return bool(self._outcomes or self.fresh) and (
            self._builder.full
            or self._counts["pages"] >= limits.flush_pages
            or self.memory >= limits.task_memory // _SHARE
        )

    def save(self, hosts: Iterable[tuple[str, HostState]]) -> None:
        """Save the run, if there is anything in it, with the states of the hosts it touched."""
        self._since = time.monotonic()
        states = {host.encode("ascii"): encode(state) for host, state in hosts}
        if not (self._has_outcomes_or_pages or self.fresh or states):
            return
        files = [self._save_archive(), *self._write_index()]
        files += [
            self._write(FRESH, self.fresh.packed()) if self.fresh else None,
            self._write(HOSTS, states) if states else None,
        ]
        # Always there, for it carries the counters of the run.
        files.append(replace(self._write(OUTCOMES, self._outcomes), counters=dict(self._counts)))
        written = [entry for entry in files if entry is not None]
        self._note(self._store, self._order.round, self._order.partition, written)
        self._begin_next(written)

    @property
    def _has_outcomes_or_pages(self) -> bool:
        return bool(self._outcomes) or any(place is not None for place in self._unparsed.values())

    def _save_archive(self) -> FileEntry | None:
        saved = self._archive.save()
        places = [place for place in self._unparsed.values() if place is not None]
        if saved is None or not places:
            return saved
        return replace(saved, counters={UNPARSED: len(places), FIRST_UNPARSED: min(places)})

    def _write_index(self) -> tuple[FileEntry, ...]:
        order = self._order
        return self._builder.write(self._store, partition=order.partition, round_number=order.round)

    def _write(self, kind: str, rows: dict[bytes, bytes]) -> FileEntry:
        order = self._order
        return write_rows(self._store, kind, rows, partition=order.partition, round_number=order.round)

    def abandon(self, error: BaseException) -> None:
        """Drop what is not saved."""
        self._archive.abandon(error)

    def _begin_next(self, files: list[FileEntry]) -> None:
        self.saved += files
        self.runs += 1
        self.totals += self._counts
        self._counts = Counter()
        self._outcomes = {}
        self._outcome_bytes = 0
        self._unparsed = dict.fromkeys(self._unparsed)
        self.fresh.clear()
        self._builder = self._new_builder()
