"""An import of web archives: a round whose pages come out of files."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawlctl.pipeline.crawl.indexing import IndexStep
from crawlctl.pipeline.crawl.round_steps import desk, kept_files, manifest_of, merge
from crawlctl.pipeline.errors import NotACrawl, StoreError
from crawlctl.pipeline.fetch.order import FetchOrder
from crawlctl.pipeline.fetch.select.survey import seed_hosts
from crawlctl.pipeline.imports.archive_file import absolute, open_archive
from crawlctl.pipeline.imports.order import ImportOrder
from crawlctl.pipeline.index.merge.order import with_index
from crawlctl.pipeline.orders import encode_order
from crawlctl.pipeline.processes.signals import exit_on_signals
from crawlctl.pipeline.runners.job import run_job
from crawlctl.pipeline.state.journal import FETCH, finished_step, partitions_with_runs
from crawlctl.pipeline.state.lease import hold_lease
from crawlctl.pipeline.state.snapshots import commit, create_crawl, load_current
from crawlctl.pipeline.webdb.part import with_parts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from crawlctl.pipeline.crawl.round_steps import Crew
    from crawlctl.pipeline.runners.job_result import JobResult
    from crawlctl.pipeline.state.snapshots import Snapshot


@dataclass(frozen=True)
class ImportReport:
    """What an import has done; without a page that was new, there is no round."""

    round: int | None
    counts: Mapping[str, int]
    seconds: float


def import_archives(crew: Crew, archives: Sequence[str], *, partitions: int | None = None) -> ImportReport:
    """Import archives as the next round and commit it; killed before that, it leaves no page behind.

    With a number of partitions, an empty store becomes a crawl of so many.
    """
    for name in archives:
        open_archive(name)  # before anything is done: a name among many may be misspelt
    if partitions is None:
        load_current(crew.store)  # where there is no crawl, leave not even a lease behind
    started = time.monotonic()
    with exit_on_signals(), hold_lease(crew.store, crew.config.lease.ttl, "import-warc") as lease:
        snapshot = _current_or_new(crew, partitions)
        _refuse_open_round(crew, snapshot)
        done = _read(crew, snapshot, archives)
        found = manifest_of(done)
        counts = dict(done.counters.group("import"))
        if not found:
            return ImportReport(None, counts, time.monotonic() - started)
        files = (*with_parts(snapshot, merge(crew, snapshot, found)), *kept_files(found))
        step = IndexStep(files, snapshot.partitions, snapshot.round + 1)
        if step.plan.partitions:
            files = with_index(files, step.changed, step.run(crew))
        lease.check()
        committed = commit(crew.store, snapshot, files=files, round_number=snapshot.round + 1)
    return ImportReport(committed.round, counts, time.monotonic() - started)


def _current_or_new(crew: Crew, partitions: int | None) -> Snapshot:
    try:
        return load_current(crew.store)
    except NotACrawl:
        if partitions is None:
            raise
        crew.display.say(f"making a crawl of {partitions} partitions in {crew.store.uri}")
        return create_crawl(crew.store, partitions)


def _refuse_open_round(crew: Crew, snapshot: Snapshot) -> None:
    """A round that was begun has pages in its journal, which would be lost if another took its number."""
    number = snapshot.round + 1
    if partitions_with_runs(crew.store, number) or finished_step(crew.store, number, FETCH) is not None:
        raise StoreError(
            f"{crew.store.uri}: round {number} was begun and not finished; "
            "finish it with `crawlctl run`, then import"
        )


def _read(crew: Crew, snapshot: Snapshot, archives: Sequence[str]) -> JobResult:
    from crawlctl.jobs.import_warc import ImportWarc

    number = snapshot.round + 1
    with desk(crew.config.runner) as place:
        orders = list(_orders(crew, snapshot, [absolute(name) for name in archives], place.progress))
        lines = place.write("orders", map(encode_order, orders))
        with crew.display.step(f"round {number}, import", len(archives), "archives", place.progress):
            return run_job(ImportWarc, [lines], settings=crew.config.runner)


def _orders(crew: Crew, snapshot: Snapshot, archives: list[str], progress: Path) -> Iterator[ImportOrder]:
    """Yield the orders of the tasks: enough to keep the workers busy, few enough to leave few runs.

    Each task writes a run for nearly every partition, so as many tasks as archives could mean millions.
    """
    needs_hosts = not crew.config.scope.include
    template = FetchOrder(
        store=crew.store.uri,
        snapshot=snapshot.number,
        round=snapshot.round + 1,
        partition=0,
        partitions=snapshot.partitions,
        deadline=0.0,
        max_pages=0,
        max_bytes=0,
        config=crew.config,
        seed_hosts=tuple(sorted(seed_hosts(crew.store, snapshot))) if needs_hosts else None,
        progress=str(progress),
    )
    tasks = min(len(archives), max(snapshot.partitions, crew.config.runner.workers or os.cpu_count() or 1))
    for number in range(tasks):
        yield ImportOrder(number=number, archives=tuple(archives[number::tasks]), fetch=template)
