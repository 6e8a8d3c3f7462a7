"""Imports web archives: a round whose pages are read from files instead of hosts."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawlctl.pipeline.crawl.indexing import IndexStep
from crawlctl.pipeline.crawl.leased_crawl import leased_crawl
from crawlctl.pipeline.crawl.round_steps import kept_files, merge_webdb
from crawlctl.pipeline.crawl.work import files_of, step_folder
from crawlctl.pipeline.errors import StoreError
from crawlctl.pipeline.fetch.order import FetchOrder
from crawlctl.pipeline.imports.archive_file import absolute, open_archive
from crawlctl.pipeline.imports.archive_kind import require_archive
from crawlctl.pipeline.imports.order import ImportOrder
from crawlctl.pipeline.orders import encode_order
from crawlctl.pipeline.processes.cores import usable_cores
from crawlctl.pipeline.progress.display import ShownStep
from crawlctl.pipeline.state.journal import is_round_open
from crawlctl.pipeline.webdb.part import with_parts
from crawlctl.pipeline.webdb.seed_hosts import seed_hosts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from crawlctl.pipeline.crawl.leased_crawl import LeasedCrawl
    from crawlctl.pipeline.crawl.work import Work
    from crawlctl.pipeline.runners.job_result import JobResult
    from crawlctl.pipeline.state.snapshots import Snapshot


@dataclass(frozen=True)
class ImportReport:
    """The result of an import; `round` is None if no page was new."""

    round: int | None
    counts: Mapping[str, int]
    seconds: float


def import_archives(work: Work, archives: Sequence[str], *, partitions: int | None = None) -> ImportReport:
    """Import archives as the next round and commit it; an import that is killed adds no page.

    With `partitions`, an empty store becomes a crawl with this number of partitions.
    """
    # Checked before anything is written: a name may be misspelt, or be a file of another kind.
    for name in archives:
        if not require_archive(open_archive(name)):
            work.display.say(f"{name} is empty: it has no records")
    started = time.monotonic()
    with leased_crawl(work, "import-warc", partitions=partitions) as crawl:
        _refuse_open_round(crawl)
        work, snapshot, times = crawl.work, crawl.snapshot, crawl.times
        with times.step("import"):
            done = _read(work, snapshot, archives)
        found = files_of(done)
        counts = dict(done.counters.group("import"))
        if not found:
            return ImportReport(None, counts, time.monotonic() - started)
        with times.step("webdb"):
            files = (*with_parts(snapshot, merge_webdb(work, snapshot, found)), *kept_files(found))
        step = IndexStep(files, snapshot.partitions, crawl.next_round)
        if step.plan.partitions:
            with times.step("index"):
                files = step.merged_files(step.run(work))
        committed = crawl.commit(files, round_number=crawl.next_round, fetched=found)
    return ImportReport(committed.round, counts, time.monotonic() - started)


def _refuse_open_round(crawl: LeasedCrawl) -> None:
    """Raise an error if a round is open: its journal has pages, which would be lost if we took its number."""
    if is_round_open(crawl.store, crawl.next_round):
        raise StoreError(
            f"{crawl.store.uri}: round {crawl.next_round} was begun and not finished; "
            "finish it with `crawlctl run`, then import"
        )


def _read(work: Work, snapshot: Snapshot, archives: Sequence[str]) -> JobResult:
    from crawlctl.jobs.import_warc import ImportWarc

    number = snapshot.round + 1
    with step_folder(work.config.runner) as folder:
        orders = _orders(work, snapshot, [absolute(name) for name in archives], folder.progress)
        lines = folder.write("orders", map(encode_order, orders))
        with work.display.step(
            ShownStep(f"round {number}, import", len(archives), "archives", folder.progress)
        ):
            return work.run(ImportWarc, [lines])


def _orders(work: Work, snapshot: Snapshot, archives: list[str], progress: Path) -> Iterator[ImportOrder]:
    """Yield the task orders: enough tasks to keep all workers busy, but not more, since each writes runs.

    Each task writes a run for nearly every partition, so one task per archive could mean millions of runs.
    """
    template = fetch_order(work, snapshot, progress)
    tasks = min(len(archives), max(snapshot.partitions, work.config.runner.workers or usable_cores()))
    for number in range(tasks):
        yield ImportOrder(number=number, archives=tuple(archives[number::tasks]), fetch=template)


def fetch_order(work: Work, snapshot: Snapshot, progress: Path) -> FetchOrder:
    """Return the order by which tasks treat the pages of archives as pages of the next round."""
    needs_hosts = not work.config.scope.include
    return FetchOrder(
        store=work.store.uri,
        snapshot=snapshot.number,
        round=snapshot.round + 1,
        partition=0,
        partitions=snapshot.partitions,
        deadline=0.0,
        max_pages=0,
        max_bytes=0,
        config=work.config,
        seed_hosts=tuple(sorted(seed_hosts(work.store, snapshot))) if needs_hosts else None,
        progress=str(progress),
    )
