"""The partitions that an import task has open: what the crawl knows of their URLs, and their runs.

An archive has pages of any host, so a task fills one run per partition at the same time. When all runs
together take as much memory as one run of a fetch task may take, the largest run is saved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from crawlctl.pipeline.captures.capture_table import RunCaptures
from crawlctl.pipeline.fetch.pages.discovery import Discovery
from crawlctl.pipeline.fetch.pages.lookalikes import Lookalikes
from crawlctl.pipeline.fetch.pages.page_reader import PageReader
from crawlctl.pipeline.fetch.save.run_buffer import RunBuffer
from crawlctl.pipeline.fetch.select.known_urls import KnownUrls
from crawlctl.pipeline.fetch.select.site_budgets import SiteBudgets, smallest_budget
from crawlctl.pipeline.fetch.select.survey import Survey
from crawlctl.pipeline.scope.scope import Scope
from crawlctl.pipeline.state.kinds import WEBDB
from crawlctl.pipeline.state.snapshots import load_snapshot
from crawlctl.pipeline.text.words.explicit import ExplicitLists
from crawlctl.pipeline.urls.hosts import host_of_key, partition_of
from crawlctl.pipeline.webdb.part import PartRows
from crawlctl.pipeline.webdb.records import Status, WebEntry, decode_entry
from crawlctl.pipeline.webdb.repeated.block_table import known_blocks
from crawlctl.pipeline.webdb.seed_hosts import seed_hosts

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlctl.pipeline.fetch.order import FetchOrder
    from crawlctl.pipeline.fetch.pages.page_reader import Visit
    from crawlctl.pipeline.fetch.save.run_buffer import Builder
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.webdb.records import Kind

# As if a seed linked to it: a page at depth 0 would be a seed and bring its whole host into scope.
_DEPTH = 1
_MEMORY_SHARE = 4  # the runs in memory may use a fourth of the task's memory
_LOOK_EVERY = 16  # pages between two checks of the memory


def new_entry(now: int, depth: int = _DEPTH) -> WebEntry:
    """Return the entry of a page that the crawl does not know."""
    return WebEntry(Status.UNFETCHED, next_due=now, score=0.0, depth=depth, first_seen=now)


class OpenPartition:
    """One partition during an import: what the crawl knows of its URLs, and the run that is being filled."""

    def __init__(
        self,
        order: FetchOrder,
        store: Store,
        snapshot: Snapshot,
        *,
        scope: Scope,
        known: KnownUrls,
        new_builder: Callable[[], Builder],
    ) -> None:
        config = order.config
        archive = _NoArchive(store, order)
        self.number = order.partition
        self.scope = scope
        known_of_hosts = known_blocks(store, snapshot, order.partition)
        self.run = RunBuffer(
            store, order, config, new_builder, archive=archive, known=known_of_hosts, note=_record_nothing
        )
        self._known = known
        self._rows = PartRows(store, snapshot, order.partition)
        survey = Survey(self._rows, smallest_budget(config.budgets), known)
        survey.read(self._rows)
        sites = SiteBudgets(
            config.budgets,
            self._rows,
            survey.large_hosts,
            survey.hosts,
            partition=order.partition,
            partitions=order.partitions,
            is_of_a_seed=scope.is_of_a_seed,
        )
        discovery = Discovery(config.scope, scope, sites, known, self.run.count)
        lookalikes = Lookalikes(config.parse.near_duplicate)
        self.reader = PageReader(
            discovery,
            sites,
            lookalikes,
            max_redirects=config.fetch.max_redirects,
            explicit=ExplicitLists(config.index.explicit_words, config.index.explicit_hosts),
        )

    def entry(self, key: bytes) -> WebEntry | None:
        """Return the WebDB entry of a URL, None if the URL is unknown."""
        value = self._rows.get(key) if self._known.contains([key])[0] else None
        return None if value is None else decode_entry(value, self._rows.name)


class OpenPartitions:
    """The partitions of an import task; each is opened when its first page comes."""

    def __init__(self, order: FetchOrder, store: Store, new_builder: Callable[[], Builder]) -> None:
        self._order = order
        self._store = store
        self._new_builder = new_builder
        self._config = order.config
        self._snapshot = order.draft or load_snapshot(store, order.snapshot)
        self._scope = self._find_scope()
        rows = self._snapshot.files_of(WEBDB)
        self._known = KnownUrls(2 * sum(entry.records for entry in rows))
        self._open: dict[int, OpenPartition] = {}
        self._most = int(self._config.round.task_memory) // _MEMORY_SHARE
        self._added = 0

    def of(self, key: bytes) -> OpenPartition:
        """Return the partition of a WebDB key."""
        number = partition_of(host_of_key(key), self._order.partitions)
        if number not in self._open:
            order = replace(self._order, partition=number)
            self._open[number] = OpenPartition(
                order,
                self._store,
                self._snapshot,
                scope=self._scope,
                known=self._known,
                new_builder=self._new_builder,
            )
        return self._open[number]

    def save_if_full(self, target: OpenPartition) -> None:
        """Save the run if it is full, or the largest run if all together use too much memory."""
        self._added += 1
        if target.run.is_full:
            target.run.save(())
        elif self._added % _LOOK_EVERY == 0:
            runs = [each.run for each in self._open.values()]
            if sum(run.memory for run in runs) > self._most:
                max(runs, key=lambda run: run.memory).save(())

    def save_all(self) -> list[FileEntry]:
        """Save all remaining runs and return the files of all runs."""
        for target in self._open.values():
            target.run.save(())
        return [entry for number in sorted(self._open) for entry in self._open[number].run.saved]

    def _find_scope(self) -> Scope:
        hosts = self._order.seed_hosts
        if hosts is None and not self._config.scope.include:
            hosts = tuple(seed_hosts(self._store, self._snapshot))
        return Scope(self._config.scope, hosts or ())


class _NoArchive:
    """Archives nothing, because imported pages are in an archive already; keeps only their places in it.

    A replay brings visits without captures: the tables have those of the crawl's own archives.
    """

    def __init__(self, store: Store, order: FetchOrder) -> None:
        self._store = store
        self._order = order
        self._captures = RunCaptures()

    @property
    def memory(self) -> int:
        """The bytes that the captures of the run hold, estimated."""
        return self._captures.memory

    def keep(self, visit: Visit, kind: Kind) -> None:
        """Keep where the page lies."""
        if visit.capture is not None:
            self._captures.add(visit.key, visit.capture)

    def save(self) -> tuple[FileEntry, ...]:
        """Write the captures of the run."""
        order = self._order
        return self._captures.write(self._store, partition=order.partition, round_number=order.round)

    def abandon(self, error: BaseException) -> None:
        """Do nothing: there is no file."""


def _record_nothing(*_noted: object) -> None:
    """Do not record a run in the journal."""
