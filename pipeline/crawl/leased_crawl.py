"""LeasedCrawl: a crawl that a command may write to, from taking the lease until giving it back."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import NotACrawl
from crawlctl.pipeline.processes.signals import exit_on_signals
from crawlctl.pipeline.runners.switches import require_conf
from crawlctl.pipeline.state.journal import finish_step, finished_step
from crawlctl.pipeline.state.lease import hold_lease
from crawlctl.pipeline.state.snapshots import commit, create_crawl, load_current

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crawlctl.pipeline.crawl.work import Work
    from crawlctl.pipeline.state.lease import Lease
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store


@dataclass
class LeasedCrawl:
    """The lease of a crawl, and the snapshot that the command has reached; each commit moves it on."""

    work: Work
    lease: Lease
    snapshot: Snapshot

    @property
    def store(self) -> Store:
        """The store of the crawl."""
        return self.work.store

    @property
    def next_round(self) -> int:
        """The number of the round that is open, or would be the next."""
        return self.snapshot.round + 1

    def kept_step(self, step: str, run: Callable[[], tuple[FileEntry, ...]]) -> tuple[FileEntry, ...]:
        """Return the files of a step that the journal of the next round has as done, or run the step."""
        files = finished_step(self.store, self.next_round, step)
        if files is None:
            files = run()
            self.lease.check()
            finish_step(self.store, self.next_round, step, files)
        return files

    def commit(self, files: tuple[FileEntry, ...], *, round_number: int | None = None) -> Snapshot:
        """Make these files the current snapshot; without a number it stays in the round of the last one."""
        self.lease.check()
        number = self.snapshot.round if round_number is None else round_number
        self.snapshot = commit(self.store, self.snapshot, files=files, round_number=number)
        return self.snapshot


@contextmanager
def leased_crawl(
    work: Work,
    command: str,
    *,
    partitions: int | None = None,
    runs_jobs: bool = True,
    on_full_disk: bool = False,
) -> Iterator[LeasedCrawl]:
    """Take the lease of the crawl in a store, and give it back at the end, also after SIGTERM or Ctrl-C.

    With `partitions` an empty store becomes a crawl. Otherwise a store without a crawl stays empty: not even
    a lease is written. For a command that `runs_jobs`, the conf file of the runner is checked before anything
    is written. `on_full_disk` takes the lease in the space that is kept for that (`crawlctl gc`).
    """
    if runs_jobs:
        require_conf(work.config.runner)
    if partitions is None:
        load_current(work.store)
    ttl = work.config.lease.ttl
    with exit_on_signals(), hold_lease(work.store, ttl, command, on_full_disk=on_full_disk) as lease:
        yield LeasedCrawl(work, lease, _current_or_new(work, partitions))


def _current_or_new(work: Work, partitions: int | None) -> Snapshot:
    try:
        return load_current(work.store)
    except NotACrawl:
        if partitions is None:
            raise
        work.display.say(f"making a crawl of {partitions} partitions in {work.store.uri}")
        return create_crawl(work.store, partitions)
