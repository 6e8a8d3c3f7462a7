"""A copy of a crawl: its files as they are, or by a job into another number of partitions.

What is copied is the current snapshot. A round that was begun and not committed stays behind: its journal
belongs to the partitions and the run of the source, and what it has fetched is fetched again where the crawl
goes on.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.copies.copy_files import transfer
from crawlctl.pipeline.copies.copy_records import forget_steps, put_record, standing_of
from crawlctl.pipeline.copies.repartition.order import CopyOrder
from crawlctl.pipeline.copies.repartition.unchanged_files import whole_files
from crawlctl.pipeline.copies.require_apart import require_apart
from crawlctl.pipeline.crawl.round_steps import desk, manifest_of
from crawlctl.pipeline.errors import NotACrawl
from crawlctl.pipeline.index.statistics import expected_shards
from crawlctl.pipeline.orders import encode_order
from crawlctl.pipeline.processes.signals import exit_on_signals
from crawlctl.pipeline.progress.task_file import Progress, ProgressFile
from crawlctl.pipeline.runners.job import run_job
from crawlctl.pipeline.state.journal import FETCH, finished_step, partitions_with_runs
from crawlctl.pipeline.state.lease import hold_lease
from crawlctl.pipeline.state.probe import require_exclusive_create
from crawlctl.pipeline.state.snapshots import load_current, publish

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawlctl.pipeline.copies.copy_files import Transferred
    from crawlctl.pipeline.copies.copy_records import CopyRecord
    from crawlctl.pipeline.crawl.round_steps import Crew
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store


@dataclass(frozen=True)
class CopyReport:
    """What a copy has done: files that were copied, those that were there before, and those made anew."""

    snapshot: int
    partitions: int
    copied: int
    bytes: int
    present: int
    rewritten: int
    seconds: float


def copy_crawl(
    crew: Crew, destination: Store, *, partitions: int | None = None, verify: bool = False
) -> CopyReport:
    """Copy the crawl of the crew's store; one that was stopped goes on with what is missing."""
    started = time.monotonic()
    require_apart(crew.store, destination)
    snapshot = _current(crew.store)
    standing_of(crew.store, snapshot, destination, partitions)  # before even a lease is left behind
    if _has_open_round(crew.store, snapshot):
        crew.display.say(f"round {snapshot.round + 1} of {crew.store.uri} is not finished and is not copied")
    with exit_on_signals(), hold_lease(destination, crew.config.lease.ttl, "copy") as lease:
        standing = standing_of(crew.store, snapshot, destination, partitions)
        if not standing.is_begun:
            require_exclusive_create(destination)
            put_record(destination, standing.record)
        copy = _Copy(crew, destination, snapshot, standing.record, verify=verify)
        copied, made = copy.run(is_committed=standing.is_committed)
        lease.check()
        if not standing.is_committed:
            publish(destination, made)
        forget_steps(destination, snapshot.number)
    seconds = time.monotonic() - started
    anew = 0 if standing.is_committed or copy.is_plain else len(made.files) - len(copy.whole)
    return CopyReport(made.number, made.partitions, copied.files, copied.bytes, copied.present, anew, seconds)


def _current(source: Store) -> Snapshot:
    try:
        return load_current(source)
    except NotACrawl as err:
        raise NotACrawl(f"{source.uri} holds no crawl, so there is nothing to copy; check SRC") from err


def _has_open_round(source: Store, snapshot: Snapshot) -> bool:
    number = snapshot.round + 1
    return bool(partitions_with_runs(source, number)) or finished_step(source, number, FETCH) is not None


class _Copy:
    """A copy at work."""

    def __init__(
        self, crew: Crew, destination: Store, snapshot: Snapshot, record: CopyRecord, *, verify: bool
    ) -> None:
        self._crew = crew
        self._destination = destination
        self._snapshot = snapshot
        self._record = record
        self._verify = verify
        self.is_plain = record.partitions == snapshot.partitions
        self.whole = snapshot.files if self.is_plain else whole_files(snapshot, record.partitions)

    def run(self, *, is_committed: bool) -> tuple[Transferred, Snapshot]:
        """Copy, and return what was copied and the snapshot to commit, or that is committed."""
        copied = self._transfer(self.whole)
        if self.is_plain:
            return copied, self._snapshot
        if is_committed:
            return copied, load_current(self._destination)
        made = msgspec.structs.replace(
            self._snapshot,
            writer=self._record.becomes,
            created=self._record.created,
            partitions=self._record.partitions,
            files=(*self.whole, *self._rewrite()),
        )
        return copied, made

    def _transfer(self, files: Sequence[FileEntry]) -> Transferred:
        with desk(self._crew.config.runner) as place:
            said = ProgressFile(str(place.progress), 0)

            def tell(done: int, size: int) -> None:
                said.write(Progress(done=done, total=len(files), bytes=size))

            with self._crew.display.step("copy", len(files), "files", place.progress):
                done = transfer(self._crew.store, self._destination, files, verify=self._verify, tell=tell)
            said.close()
        return done

    def _rewrite(self) -> tuple[FileEntry, ...]:
        """Run the job that makes the new partitions, and return all files it wrote."""
        from crawlctl.jobs.repartition import Repartition

        config, partitions = self._crew.config, self._record.partitions
        with desk(config.runner) as place:
            order = CopyOrder(
                store=self._crew.store.uri,
                destination=self._destination.uri,
                snapshot=self._snapshot.number,
                partitions=partitions,
                shards=expected_shards(self._snapshot.files),
                memory=int(config.index.memory),
                progress=str(place.progress),
            )
            file = place.write("order.json", [encode_order(order)])
            lines = place.write("partitions", (b"%d" % number for number in range(partitions)))
            args = ["--order", str(file), "--reducers", str(order.shards)]
            with self._crew.display.step("copy, new partitions", partitions, "partitions", place.progress):
                return manifest_of(run_job(Repartition, [lines], settings=config.runner, args=args))
