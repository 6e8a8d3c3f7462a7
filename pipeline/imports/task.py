"""The import task: the pages of some archives become runs of the partitions they belong to.

A page is treated like a fetched page: it is parsed in a helper process that may die, judged by the same
reader, indexed, and its links are followed inside the scope of the crawl. It is not archived again: its
capture says in which archive of the user it lies. No run is recorded in the journal of the round, because an
import that was killed simply starts again. Which pages count and what is kept of them is a PageChoice
(page_choice.py).
"""

from __future__ import annotations

import logging
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

from crawlctl.pipeline.fetch.loop.answer_handler import to_parse
from crawlctl.pipeline.fetch.loop.internal_errors import is_ours, reason_of
from crawlctl.pipeline.fetch.pages.outcomes import has_content, outcome_of
from crawlctl.pipeline.fetch.pages.page_reader import Visit
from crawlctl.pipeline.imports.answer_reader import AnswerReader
from crawlctl.pipeline.imports.archive_file import open_own_archive
from crawlctl.pipeline.imports.open_partitions import OpenPartitions
from crawlctl.pipeline.imports.page_choice import LeftOut, NewsOnly
from crawlctl.pipeline.text.documents.document import ParseRules
from crawlctl.pipeline.text.guarded.guard import Guard
from crawlctl.pipeline.urls.hosts import webdb_key

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Mapping

    from crawlctl.pipeline.captures.capture_record import CaptureRecord
    from crawlctl.pipeline.fetch.order import FetchOrder
    from crawlctl.pipeline.fetch.save.run_buffer import Builder
    from crawlctl.pipeline.http.exchange import Answer
    from crawlctl.pipeline.imports.open_partitions import OpenPartition
    from crawlctl.pipeline.imports.page_choice import PageChoice
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.text.documents.document import Parsed
    from crawlctl.pipeline.webdb.records import Outcome

log = logging.getLogger(__name__)

PAGES, FAULTY = "pages", "pages left out for an internal error"

_MAX_BACKLOG = 32 << 20  # bytes of bodies that wait for the helper
_MAX_WAITING = 64


class Importer:
    """Imports archives one after the other; `saved` has the files of all runs, `counts` counts records."""

    def __init__(
        self,
        order: FetchOrder,
        store: Store,
        new_builder: Callable[[], Builder],
        choice: PageChoice | None = None,
    ) -> None:
        self.saved: list[FileEntry] = []
        self._choice = choice or NewsOnly()
        self._config = order.config
        self._reader = AnswerReader(self._config)
        self.counts: Counter[str] = self._reader.counts
        self._partitions = OpenPartitions(order, store, new_builder)
        self._backlog = 0  # bytes of bodies that wait for the helper

    def run(
        self,
        archives: tuple[str, ...],
        done: Callable[[int], None] = lambda _count: None,
        sizes: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        """Import the archives and save their runs; call `done` with the number of archives that are done.

        An archive that `sizes` names must have that size, in bytes.
        """
        config = self._config
        rules = ParseRules(config.parse, config.urls.strip_parameters, config.fetch.agent, sites=config.sites)
        with Guard(rules) as guard:
            for count, name in enumerate(archives, 1):
                self._choice.begin_archive(name)
                for answer, capture in self._reader.answers(open_own_archive(name, sizes), name):
                    self._take(answer, capture, guard)
                    self._collect(guard, _MAX_WAITING)
                done(count)
            self._collect(guard, 0)
        self.saved = self._partitions.save_all()

    def _take(self, answer: Answer, capture: CaptureRecord, guard: Guard) -> None:
        key = webdb_key(answer.url)
        target = self._partitions.of(key)
        entry = self._choice.entry_for(target, key, answer)
        if isinstance(entry, LeftOut):
            self.counts[entry.value] += 1
            return
        self.counts[PAGES] += 1
        visit = Visit(key, answer.url, entry, answer, capture)
        if has_content(answer):
            self._backlog += len(answer.body)
            guard.submit(to_parse(visit, target.run.blocks), (target, visit))
        else:
            self._choice.keep(target, visit, self._outcome(target, visit), None)
            self._partitions.save_if_full(target)

    def _outcome(self, target: OpenPartition, visit: Visit) -> Outcome:
        """Return the outcome of an answer that has no page; take up the target of a redirect."""
        outcome = outcome_of(visit.answer, visit.entry.depth)
        if not outcome.target:
            return outcome
        return target.reader.redirected(visit, outcome, self._choice.fresh_of(target))

    def _collect(self, guard: Guard, most: int) -> None:
        """Take parsed pages until at most `most` wait for the helper."""
        while len(guard) > most or (len(guard) and self._backlog > _MAX_BACKLOG):
            for (target, visit), parsed, _ in guard.collect(1.0):
                self._backlog -= len(visit.answer.body)
                self._keep(target, visit, cast("Parsed", parsed))  # no sitemap was submitted
                self._partitions.save_if_full(target)

    def _keep(self, target: OpenPartition, visit: Visit, parsed: Parsed) -> None:
        """Keep a parsed page; a page that causes an error in our code is left out and counted."""
        try:
            outcome, document = target.reader.read(visit, parsed, self._choice.fresh_of(target))
            self._choice.keep(target, visit, outcome, document)
        except Exception as error:
            if is_ours(error):
                raise
            log.warning("%s is left out: %s", visit.url, reason_of(error, visit.url))
            self.counts[FAULTY] += 1
