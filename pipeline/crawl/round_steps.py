"""The steps of a round: a job each, from what lies in the store to the manifest of what it added."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawlctl.pipeline.fetch.order import FetchOrder
from crawlctl.pipeline.orders import encode_order
from crawlctl.pipeline.processes.scratch import scratch_folder
from crawlctl.pipeline.runners.job import run_job
from crawlctl.pipeline.state.manifest import decode_lines
from crawlctl.pipeline.webdb.merge.order import ABSORBED, MergeOrder, mapper_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from crawlctl.pipeline.config.settings import Config, RunnerSettings
    from crawlctl.pipeline.crawl.round_plan import Plan
    from crawlctl.pipeline.mrjob_light import MRJob
    from crawlctl.pipeline.progress.display import Display
    from crawlctl.pipeline.runners.job_result import Counters, JobResult
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store


@dataclass(frozen=True)
class Crew:
    """What all steps of a run work with."""

    store: Store
    config: Config
    display: Display
    fetch_job: type[MRJob]


@dataclass(frozen=True)
class Desk:
    """A folder of this machine for the duration of a step: input for its tasks, and what they say."""

    folder: Path

    @property
    def progress(self) -> Path:
        """Where tasks say how far they are."""
        return self.folder / "progress"

    def write(self, name: str, lines: Iterable[bytes]) -> Path:
        """Write a file of lines."""
        path = self.folder / name
        path.write_bytes(b"".join(line + b"\n" for line in lines))
        return path


@contextmanager
def desk(runner: RunnerSettings) -> Iterator[Desk]:
    """Give a step its folder."""
    with scratch_folder(runner.tmp_dir) as folder:
        made = Desk(folder)
        made.progress.mkdir()
        yield made


def fetch(
    crew: Crew, snapshot: Snapshot, plan: Plan, seed_hosts: Sequence[str] | None, tail: float | None = None
) -> tuple[FileEntry, ...]:
    """Fetch what is due, a task a partition, and return the files of all runs.

    With a `tail`, tasks wait no more than so many seconds for slow hosts while others have work to come.

    All tasks run at once whatever the cores: they mostly wait for their hosts.
    """
    number = snapshot.round + 1
    with desk(crew.config.runner) as place:
        orders = place.write(
            "orders", fetch_orders(crew, snapshot, plan, seed_hosts, place.progress, tail=tail)
        )
        with crew.display.step(f"round {number}, fetch", plan.pages, "pages", place.progress):
            done = run_job(crew.fetch_job, [orders], settings=crew.config.runner, workers=len(plan.shares))
    for line in troubles(done.counters):
        crew.display.say(f"round {number}: {line}")
    return manifest_of(done)


def troubles(counters: Counters) -> Iterator[str]:
    """Yield what is to be told of fetch tasks whose processes hung or were killed."""
    from crawlctl.jobs.fetch_index import COUNTERS

    if restarts := counters.get(COUNTERS, "restarts"):
        yield (
            f"{restarts} fetching processes hung or were killed and were replaced; what they had saved is "
            "kept, and `crawlctl explain URL` tells which pages were given up"
        )
    if given_up := counters.get(COUNTERS, "given_up"):
        yield (
            f"{given_up} partitions ended early with what was saved; the rest is due: run `crawlctl run` "
            "again, with fewer fetch.connections or less round.task_memory if memory is short"
        )


def fetch_orders(
    crew: Crew,
    snapshot: Snapshot,
    plan: Plan,
    seed_hosts: Sequence[str] | None,
    progress: Path,
    *,
    tail: float | None = None,
) -> Iterator[bytes]:
    """Yield the order of each partition that takes part."""
    for share in plan.shares:
        order = FetchOrder(
            store=crew.store.uri,
            snapshot=snapshot.number,
            round=snapshot.round + 1,
            partition=share.partition,
            partitions=snapshot.partitions,
            deadline=plan.deadline,
            max_pages=share.max_pages,
            max_bytes=share.max_bytes,
            config=crew.config,
            seed_hosts=None if seed_hosts is None else tuple(seed_hosts),
            progress=str(progress),
            tasks=len(plan.shares),
            tail=tail,
        )
        yield encode_order(order)


def merge(crew: Crew, snapshot: Snapshot, fetched: Sequence[FileEntry]) -> tuple[FileEntry, ...]:
    """Merge what was heard into the WebDB and the host table, and return the files of the new parts."""
    from crawlctl.jobs.merge_webdb import WebDBMerger

    lines = mapper_lines(fetched)
    if not lines:
        return ()
    number = snapshot.round + 1
    with desk(crew.config.runner) as place:
        order = place.write("order.json", [_merge_order(crew, snapshot, place.progress)])
        files = place.write("files", lines)
        with crew.display.step(f"round {number}, merge", snapshot.partitions, "partitions", place.progress):
            done = run_job(
                WebDBMerger,
                [files],
                settings=crew.config.runner,
                args=["--order", str(order), "--reducers", str(snapshot.partitions)],
            )
    return manifest_of(done)


def _merge_order(crew: Crew, snapshot: Snapshot, progress: Path) -> bytes:
    order = MergeOrder(
        store=crew.store.uri,
        snapshot=snapshot.number,
        round=snapshot.round + 1,
        partitions=snapshot.partitions,
        now=int(time.time()),
        recrawl=crew.config.recrawl,
        progress=str(progress),
    )
    return encode_order(order)


def manifest_of(done: JobResult) -> tuple[FileEntry, ...]:
    """Return the files a job wrote, which are all its output."""
    return tuple(decode_lines((line for _, line in done.output), "the output of a job"))


def kept_files(fetched: Iterable[FileEntry]) -> tuple[FileEntry, ...]:
    """Return the files of the fetch step that outlive the round; what was merged is used up."""
    return tuple(entry for entry in fetched if entry.kind not in ABSORBED)
