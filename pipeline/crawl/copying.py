"""Copies a crawl: its files as they are, or by a job into another number of partitions.

The current snapshot is copied. An open round is not: its journal belongs to the partitions of the source, and
the copy fetches those pages again when it is crawled.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.copies.copy_files import transfer
from crawlctl.pipeline.copies.copy_records import copy_state, forget_steps, put_record
from crawlctl.pipeline.copies.repartition.order import CopyOrder
from crawlctl.pipeline.copies.repartition.unchanged_files import whole_files
from crawlctl.pipeline.copies.require_apart import require_apart
from crawlctl.pipeline.crawl.work import Shown, run_ordered, step_folder
from crawlctl.pipeline.errors import NotACrawl
from crawlctl.pipeline.index.statistics import expected_shards
from crawlctl.pipeline.processes.signals import exit_on_signals
from crawlctl.pipeline.progress.display import ShownStep
from crawlctl.pipeline.progress.task_file import Progress, ProgressFile
from crawlctl.pipeline.runners.switches import require_conf
from crawlctl.pipeline.search.open.gathering import with_compound
from crawlctl.pipeline.search.rules.rules_file import with_rules
from crawlctl.pipeline.state.journal import is_round_open
from crawlctl.pipeline.state.kinds import COMPOUND, RULES
from crawlctl.pipeline.state.leases.lease import hold_lease
from crawlctl.pipeline.state.leases.probe import require_exclusive_create
from crawlctl.pipeline.state.snapshots import load_current, publish

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawlctl.pipeline.copies.copy_files import Transferred
    from crawlctl.pipeline.copies.copy_records import CopyRecord
    from crawlctl.pipeline.crawl.work import Work
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store


@dataclass(frozen=True)
class CopyReport:
    """The result of a copy: how many files it copied, found already copied, and wrote anew."""

    snapshot: int
    partitions: int
    copied: int
    bytes: int
    present: int
    rewritten: int
    seconds: float


def copy_crawl(
    work: Work, destination: Store, *, partitions: int | None = None, verify: bool = False
) -> CopyReport:
    """Copy the crawl of the work's store; after a stop, the next call copies what is missing."""
    started = time.monotonic()
    require_conf(work.config.runner)
    require_apart(work.store, destination)
    snapshot = _current(work.store)
    # checked first, so that an error leaves nothing behind, not even a lease
    copy_state(work.store, snapshot, destination, partitions)
    if is_round_open(work.store, snapshot.round + 1):
        work.display.say(f"round {snapshot.round + 1} of {work.store.uri} is not finished and is not copied")
    with exit_on_signals(), hold_lease(destination, work.config.lease.ttl, "copy") as lease:
        standing = copy_state(work.store, snapshot, destination, partitions)
        if not standing.is_begun:
            require_exclusive_create(destination)
            put_record(destination, standing.record)
        copy = _Copy(work, destination, snapshot, standing.record, verify=verify)
        copied, made = copy.run(is_committed=standing.is_committed)
        if not standing.is_committed:
            made = _searchable(destination, made)
            lease.check()
            publish(destination, made)
        forget_steps(destination, snapshot.number)
    seconds = time.monotonic() - started
    anew = 0 if standing.is_committed or copy.is_plain else len(made.files) - len(copy.whole)
    return CopyReport(made.number, made.partitions, copied.files, copied.bytes, copied.present, anew, seconds)


def _searchable(destination: Store, made: Snapshot) -> Snapshot:
    """Return the snapshot of a copy with the files that a commit adds for queries, if the copy lacks them."""
    files = made.files
    if not made.files_of(RULES):
        files = with_rules(destination, made, files)
    if not made.files_of(COMPOUND):
        files = with_compound(destination, made, files)
    return msgspec.structs.replace(made, files=files)


def _current(source: Store) -> Snapshot:
    try:
        return load_current(source)
    except NotACrawl as err:
        raise NotACrawl(f"{source.uri} holds no crawl, so there is nothing to copy; check SRC") from err


class _Copy:
    """One copy, from its record to the snapshot that it commits."""

    def __init__(
        self, work: Work, destination: Store, snapshot: Snapshot, record: CopyRecord, *, verify: bool
    ) -> None:
        self._work = work
        self._destination = destination
        self._snapshot = snapshot
        self._record = record
        self._verify = verify
        self.is_plain = record.partitions == snapshot.partitions
        self.whole = snapshot.files if self.is_plain else whole_files(snapshot, record.partitions)

    def run(self, *, is_committed: bool) -> tuple[Transferred, Snapshot]:
        """Copy, and return what was copied and the snapshot to commit, or the one that is committed."""
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
        with step_folder(self._work.config.runner) as folder:
            said = ProgressFile(str(folder.progress), 0)

            def tell(done: int, size: int) -> None:
                said.write(Progress(done=done, total=len(files), bytes=size))

            with self._work.display.step(ShownStep("copy", len(files), "files", folder.progress)):
                done = transfer(self._work.store, self._destination, files, verify=self._verify, tell=tell)
            said.close()
        return done

    def _rewrite(self) -> tuple[FileEntry, ...]:
        """Run the job that makes the new partitions, and return all files it wrote."""
        from crawlctl.jobs.upkeep.repartition import Repartition

        config, partitions = self._work.config, self._record.partitions
        order = CopyOrder(
            store=self._work.store.uri,
            destination=self._destination.uri,
            snapshot=self._snapshot.number,
            partitions=partitions,
            shards=expected_shards(self._snapshot.files),
            memory=int(config.index.memory),
        )
        lines = (b"%d" % number for number in range(partitions))
        shown = Shown("copy, new partitions", partitions, "partitions")
        return run_ordered(self._work, Repartition, order, lines, reducers=order.shards, shown=shown)
