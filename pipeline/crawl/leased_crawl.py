"""LeasedCrawl: a crawl that a command may write to, as long as it has the lease."""

from __future__ import annotations

import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.config.own_layer import own_values
from crawlctl.pipeline.config.settings import SearchSettings
from crawlctl.pipeline.crawl.history.estimated_cost import estimated_dollars
from crawlctl.pipeline.crawl.history.history_files import with_row
from crawlctl.pipeline.crawl.history.history_row import HistoryRow, StepCost
from crawlctl.pipeline.crawl.history.row_figures import figures_of_files, figures_of_round
from crawlctl.pipeline.crawl.history.timesheet import Timesheet
from crawlctl.pipeline.crawl.live.publisher import publishing
from crawlctl.pipeline.errors import CommitConflict, NotACrawl, StoreError
from crawlctl.pipeline.processes.signals import exit_on_signals
from crawlctl.pipeline.runners.switches import require_conf
from crawlctl.pipeline.search.open.gathering import with_compound
from crawlctl.pipeline.search.rules.rules_file import with_rules
from crawlctl.pipeline.state.journal import FETCH, finish_step, finished_step, put_spent, spent_by_others
from crawlctl.pipeline.state.leases.lease import hold_lease
from crawlctl.pipeline.state.own_settings import settings_entry, write_own_settings
from crawlctl.pipeline.state.snapshots import commit, create_crawl, load_current
from crawlctl.pipeline.store.local.sync_group import synced_together
from crawlctl.pipeline.terminal.counted import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from crawlctl.pipeline.config.settings import Config
    from crawlctl.pipeline.crawl.work import Work
    from crawlctl.pipeline.state.leases.lease import Lease
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store

_NAMES_PAGES = ("forget", "refresh")  # commands whose line names pages; the history must not keep URLs
# how the names of journal steps begin; the number of the snapshot may follow
ROUND_STEPS = (FETCH, "webdb", "index")


@dataclass
class LeasedCrawl:
    """The lease of a crawl and its current snapshot, which each commit replaces; kept with it."""

    work: Work
    lease: Lease
    snapshot: Snapshot
    command: str = ""
    remark: str = ""  # a remark for the history row of the next commit
    times: Timesheet = field(init=False)

    def __post_init__(self) -> None:
        self.times = Timesheet(self.work.task_cpu)

    @property
    def store(self) -> Store:
        """The store of the crawl."""
        return self.work.store

    @property
    def next_round(self) -> int:
        """The number of the round that is open, or would be the next."""
        return self.snapshot.round + 1

    def kept_step(self, step: str, run: Callable[[], tuple[FileEntry, ...]]) -> tuple[FileEntry, ...]:
        """Return the files of a step if the journal of the next round has them; otherwise run the step."""
        files = finished_step(self.store, self.next_round, step)
        if files is None:
            with self._timed_step(step.partition("-")[0]):
                files = run()
            self.lease.check()
            finish_step(self.store, self.next_round, step, files)
        return files

    @contextmanager
    def _timed_step(self, name: str) -> Iterator[None]:
        """Measure a step; costs of a round are also kept in its journal, for a run that resumes it."""
        try:
            with self.times.step(name):
                yield
        finally:
            if name in ROUND_STEPS and self.lease.is_own:  # not in a forked process that is about to exit
                cost = self.times.cost_of(name)
                # a failure to store the cost must not hide the error that has stopped the
                # step
                with suppress(StoreError):
                    put_spent(
                        *(self.store, self.next_round, self.times.owner, name),
                        seconds=cost.seconds,
                        cpu=cost.cpu,
                    )

    def part_of_command(self, part: str) -> str:
        """Return the text `made_by` of a snapshot that is made by a part of the command."""
        return f"{self.command}, {part}"

    def commit(
        self,
        files: tuple[FileEntry, ...],
        *,
        round_number: int | None = None,
        made_by: str = "",
        fetched: Sequence[FileEntry] | None = None,
    ) -> Snapshot:
        """Make these files the current snapshot; without a number the round stays the same.

        `made_by` tells people what has made it; the default is the command and the round that ends. The
        commit adds a row to the history; if a round ends, `fetched` are the files of all its runs.
        """
        self.lease.check()
        number = self.snapshot.round if round_number is None else round_number
        maker = made_by or (self.command if round_number is None else self.part_of_command(f"round {number}"))
        with synced_together():
            files = with_rules(self.store, self.snapshot, files)
            files = with_compound(self.store, self.snapshot, files)
            row = self._row(files, number, maker, fetched)
            files = with_row(self.store, files, row)
        self.remark = ""
        self.snapshot = commit(
            self.store,
            self.snapshot,
            files=files,
            round_number=number,
            now=row.committed,
            made_by=maker,
        )
        return self.snapshot

    def _row(
        self, files: tuple[FileEntry, ...], number: int, maker: str, fetched: Sequence[FileEntry] | None
    ) -> HistoryRow:
        """Return the row of a commit; the costs of a round include those of runs that were stopped."""
        costs = self.times.close()
        if fetched is not None:
            for step, seconds, cpu in spent_by_others(self.store, number, self.times.owner):
                costs[step] = costs.get(step, StepCost()) + StepCost(seconds, cpu)
        runner = self.work.config.runner
        return HistoryRow(
            snapshot=self.snapshot.number + 1,
            committed=time.time(),
            round=number,
            command=self.command,
            made_by=self.command if self.command in _NAMES_PAGES else maker,
            runner=runner.name,
            steps={step: cost.rounded() for step, cost in costs.items()},
            remark=self.remark,
            dollars=estimated_dollars(runner, sum(cost.seconds for cost in costs.values())),
            **(figures_of_round(fetched) if fetched is not None else {}),
            **figures_of_files(files),
        )


@contextmanager
def leased_crawl(
    work: Work,
    command: str,
    *,
    partitions: int | None = None,
    runs_jobs: bool = True,
    on_full_disk: bool = False,
    current: Callable[[Store], Snapshot] = load_current,
) -> Iterator[LeasedCrawl]:
    """Take the lease of the crawl in a store, and give it back at the end, also after SIGTERM or Ctrl-C.

    With `partitions` an empty store becomes a crawl, with the settings of `work` as its own. Otherwise a
    store without a crawl stays empty: not even a lease is written. With `runs_jobs`, the conf file of the
    runner is checked before anything is written. `on_full_disk` (`crawlctl gc`) writes the lease into disk
    space that is reserved for it. `current` finds the snapshot that the command works on. Steps that use the
    work of the LeasedCrawl publish their progress in the store (live/publisher.py).
    """
    if runs_jobs:
        require_conf(work.config.runner)
    if partitions is None:
        current(work.store)
    ttl = work.config.lease.ttl
    with (
        exit_on_signals(),
        hold_lease(work.store, ttl, command, on_full_disk=on_full_disk) as lease,
        publishing(work.store, lease, command, work.display) as display,
    ):
        work = replace(work, display=display)
        yield LeasedCrawl(work, lease, _current_or_new(work, partitions, current), command)


def new_crawl(store: Store, partitions: int, config: Config) -> Snapshot:
    """Commit the first snapshot of a crawl; it names only the file of the crawl's own settings."""
    require_sound_rules(config)
    return create_crawl(store, partitions, lambda: (write_own_settings(store, own_values(config), 0),))


def require_sound_rules(config: Config) -> None:
    """Raise ConfigError if a rule, such as one of the scope or of a site, cannot be used."""
    from crawlctl.pipeline.scope.scope import Scope

    Scope(config.scope)
    if config.sites:
        from crawlctl.pipeline.text.details.site_check import check_sites

        check_sites(config.sites)
    if config.index.explicit_words or config.index.explicit_hosts:
        from crawlctl.pipeline.text.words.explicit import check_lists

        check_lists(config.index.explicit_words, config.index.explicit_hosts)
    if config.search != SearchSettings():
        from crawlctl.pipeline.search.rules.rule_set import RuleSet
        from crawlctl.pipeline.search.rules.rule_targets import check_rules

        check_rules(RuleSet(**msgspec.structs.asdict(config.search)))


def _current_or_new(work: Work, partitions: int | None, current: Callable[[Store], Snapshot]) -> Snapshot:
    try:
        snapshot = current(work.store)
    except NotACrawl:
        if partitions is None:
            raise
        work.display.say(f"making a crawl of {counted(partitions, 'partition')} in {work.store.uri}")
        return new_crawl(work.store, partitions, work.config)
    _require_same_settings(work, snapshot)
    return snapshot


def _require_same_settings(work: Work, snapshot: Snapshot) -> None:
    """Raise if the crawl's own settings were changed after this command has read them."""
    entry = settings_entry(snapshot)
    if work.own_file is not None and work.own_file != (entry.name if entry else ""):
        raise CommitConflict(
            f"{work.store.uri}: another command changed the crawl's own settings meanwhile; nothing was "
            "done: run the command again to use the new settings"
        )
