"""The import task: the pages of some archives become runs of the partitions they belong to.

A page is treated like a fetched page: it is parsed in a helper process that may die, judged by the same
reader, indexed, and its links are followed inside the scope of the crawl. It is not archived again. No run is
recorded in the journal of the round, because an import that was killed simply starts again.

An archive has pages of any host, so a task fills one run per partition at the same time. When all of them
together hold as much memory as one run of a fetch task may, the largest is saved.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, cast

from msgspec.structs import replace

from crawlctl.pipeline.fetch.loop.answer_handler import to_parse
from crawlctl.pipeline.fetch.loop.internal_errors import is_ours, reason_of
from crawlctl.pipeline.fetch.order import FetchOrder
from crawlctl.pipeline.fetch.pages.discovery import Discovery
from crawlctl.pipeline.fetch.pages.lookalikes import Lookalikes
from crawlctl.pipeline.fetch.pages.outcomes import has_content, outcome_of
from crawlctl.pipeline.fetch.pages.page_reader import PageReader, Visit
from crawlctl.pipeline.fetch.save.run_buffer import RunBuffer
from crawlctl.pipeline.fetch.select.known_urls import KnownUrls
from crawlctl.pipeline.fetch.select.site_budgets import SiteBudgets, smallest_budget
from crawlctl.pipeline.fetch.select.survey import Survey
from crawlctl.pipeline.imports.archive_file import open_archive
from crawlctl.pipeline.imports.captures import Captures
from crawlctl.pipeline.scope.scope import Scope
from crawlctl.pipeline.state.kinds import WEBDB
from crawlctl.pipeline.state.snapshots import load_snapshot
from crawlctl.pipeline.text.documents.document import ParseRules
from crawlctl.pipeline.text.guarded.guard import Guard
from crawlctl.pipeline.urls.hosts import host_of_key, partition_of, webdb_key
from crawlctl.pipeline.webdb.part import PartRows
from crawlctl.pipeline.webdb.records import Status, WebEntry, decode_entry
from crawlctl.pipeline.webdb.seed_hosts import seed_hosts

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable

    from crawlctl.pipeline.fetch.order import FetchOrder
    from crawlctl.pipeline.fetch.save.run_buffer import Builder
    from crawlctl.pipeline.http.exchange import Answer
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.text.documents.document import Parsed
    from crawlctl.pipeline.webdb.records import Kind

log = logging.getLogger(__name__)

PAGES, OLDER, FAULTY = "pages", "pages known as fresh", "pages left out for an internal error"

# As if a seed linked to it: a page at depth 0 would be a seed and bring its whole host into scope.
_DEPTH = 1
_MAX_BACKLOG = 32 << 20  # bytes of bodies that wait for the helper
_MAX_WAITING = 64
_MEMORY_SHARE = 4  # the runs in memory may use a fourth of the task's memory
_LOOK_EVERY = 16  # pages between two checks of the memory


class Importer:
    """Imports archives one after the other; `saved` has the files of all runs, `counts` counts records."""

    def __init__(self, order: FetchOrder, store: Store, new_builder: Callable[[], Builder]) -> None:
        self.saved: list[FileEntry] = []
        self._config = order.config
        self._captures = Captures(self._config)
        self.counts: Counter[str] = self._captures.counts
        self._partitions = _OpenPartitions(order, store, new_builder)
        self._backlog = 0  # bytes of bodies that wait for the helper
        self._newest: dict[bytes, int] = {}

    def run(self, archives: tuple[str, ...], done: Callable[[int], None] = lambda _count: None) -> None:
        """Import the archives and save their runs; call `done` with the number of archives that are done."""
        config = self._config
        rules = ParseRules(config.parse, config.urls.strip_parameters, config.fetch.agent)
        with Guard(rules) as guard:
            for count, name in enumerate(archives, 1):
                for answer in self._captures.answers(open_archive(name)):
                    self._take(answer, guard)
                    self._collect(guard, _MAX_WAITING)
                done(count)
            self._collect(guard, 0)
        self.saved = self._partitions.save_all()

    def _take(self, answer: Answer, guard: Guard) -> None:
        key, started = webdb_key(answer.url), int(answer.started)
        target = self._partitions.of(key)
        entry = target.entry(key, started)
        if started <= max(entry.last_tried, self._newest.get(key, 0)):
            self.counts[OLDER] += 1
            return
        self._newest[key] = started
        self.counts[PAGES] += 1
        visit = Visit(key, answer.url, entry, answer)
        if has_content(answer):
            self._backlog += len(answer.body)
            guard.submit(to_parse(answer), (target, visit))
        else:
            target.add(visit)
            self._partitions.save_if_full(target)

    def _collect(self, guard: Guard, most: int) -> None:
        """Take parsed pages until at most `most` wait for the helper."""
        while len(guard) > most or (len(guard) and self._backlog > _MAX_BACKLOG):
            for (target, visit), parsed, _ in guard.collect(1.0):
                self._backlog -= len(visit.answer.body)
                self._keep(target, visit, cast("Parsed", parsed))  # no sitemap was submitted
                self._partitions.save_if_full(target)

    def _keep(self, target: _Partition, visit: Visit, parsed: Parsed) -> None:
        """Keep a parsed page; a page that breaks our code is left out and counted, as in a fetch task."""
        try:
            outcome, document = target.reader.read(visit, parsed, target.run.fresh)
            target.run.add(visit, outcome, document)
        except Exception as error:
            if is_ours(error):
                raise
            log.warning("%s is left out: %s", visit.url, reason_of(error, visit.url))
            self.counts[FAULTY] += 1


class _Partition:
    """One partition during an import: what the crawl knows of its URLs, and the run that is being filled."""

    def __init__(
        self,
        order: FetchOrder,
        store: Store,
        scope: Scope,
        known: KnownUrls,
        new_builder: Callable[[], Builder],
    ) -> None:
        config, snapshot = order.config, load_snapshot(store, order.snapshot)
        self.run = RunBuffer(store, order, config, new_builder, archive=_NoArchive(), note=_record_nothing)
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
        self.reader = PageReader(discovery, sites, lookalikes, max_redirects=config.fetch.max_redirects)

    def entry(self, key: bytes, now: int) -> WebEntry:
        """Return the WebDB entry of a URL, a new one if it is unknown."""
        value = self._rows.get(key) if self._known.contains([key])[0] else None
        if value is not None:
            return decode_entry(value, self._rows.name)
        return WebEntry(Status.UNFETCHED, next_due=now, score=0.0, depth=_DEPTH, first_seen=now)

    def add(self, visit: Visit) -> None:
        """Keep an answer that has no page."""
        outcome = outcome_of(visit.answer, visit.entry.depth)
        if outcome.target:
            outcome = self.reader.redirected(visit, outcome, self.run.fresh)
        self.run.add(visit, outcome)


class _OpenPartitions:
    """The partitions of an import task; each is opened when its first page comes."""

    def __init__(self, order: FetchOrder, store: Store, new_builder: Callable[[], Builder]) -> None:
        self._order = order
        self._store = store
        self._new_builder = new_builder
        self._config = order.config
        self._scope = self._find_scope()
        rows = load_snapshot(store, order.snapshot).files_of(WEBDB)
        self._known = KnownUrls(2 * sum(entry.records for entry in rows))
        self._open: dict[int, _Partition] = {}
        self._most = int(self._config.round.task_memory) // _MEMORY_SHARE
        self._added = 0

    def of(self, key: bytes) -> _Partition:
        """Return the partition of a WebDB key."""
        number = partition_of(host_of_key(key), self._order.partitions)
        if number not in self._open:
            order = replace(self._order, partition=number)
            self._open[number] = _Partition(order, self._store, self._scope, self._known, self._new_builder)
        return self._open[number]

    def save_if_full(self, target: _Partition) -> None:
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
            hosts = tuple(seed_hosts(self._store, load_snapshot(self._store, self._order.snapshot)))
        return Scope(self._config.scope, hosts or ())


class _NoArchive:
    """The archive of a run that is imported: it keeps nothing, since the pages are in an archive already."""

    def keep(self, visit: Visit, kind: Kind) -> None:
        """Keep nothing."""

    def save(self) -> FileEntry | None:
        """Return no file."""
        return None

    def abandon(self, error: BaseException) -> None:
        """Do nothing: there is no file."""


def _record_nothing(*_noted: object) -> None:
    """Do not record a run in the journal."""
