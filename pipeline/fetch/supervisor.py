"""Runs a fetch task in a child process, and replaces the child if it hangs or crashes.

The parent is this process, which the runner has started; the child is a fork of it and does all the work. The
engine of the child closes connections that keep libcurl busy for too long. The parent is the second line of
defence: it watches the signs of life of the child (heartbeat.py). If the child hangs, the parent kills it
together with its helpers. Then it forks a new child, which adopts the runs that the first child has saved,
and leaves out the host on which the first child hung. If a child crashes, the parent forks a new child too.
If a SIGKILL has ended the child, the new child may use only half the memory: the kernel sends that signal
when memory runs out.

When too many children have died, or the time of the round is over, the task ends with the saved runs. This is
no error: URLs whose results are not saved stay due.
"""

from __future__ import annotations

import logging
import selectors
import signal
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from msgspec.structs import replace

from crawlctl.pipeline.clock import RunClock
from crawlctl.pipeline.config.units import Size
from crawlctl.pipeline.fetch.heartbeat import Doing, Heartbeat
from crawlctl.pipeline.fetch.loop.round_tail import RoundTail
from crawlctl.pipeline.fetch.save.adoption import adopt_runs
from crawlctl.pipeline.fetch.stop_signal import stopped_by_signals
from crawlctl.pipeline.fetch.task import fetch_partition
from crawlctl.pipeline.processes.children import (
    STOP_SIGNALS,
    Child,
    ChildDied,
    die_with_parent,
    lifeline,
    signal_name,
    signals_held,
)
from crawlctl.pipeline.store.open import open_store

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlctl.pipeline.fetch.heartbeat import Sign
    from crawlctl.pipeline.fetch.order import FetchOrder
    from crawlctl.pipeline.processes.children import Lifeline
    from crawlctl.pipeline.progress.task_file import Progress
    from crawlctl.pipeline.state.manifest import FileEntry

log = logging.getLogger(__name__)

RESTARTS = 5
CHECK_SECONDS = 0.2
# After its deadline a task stops its transfers, parses the last pages and saves. That may take this long.
GRACE_SECONDS = 60.0
# Reading due URLs and saving a run may take as long as the store needs, but not forever.
OWN_WORK_SECONDS = 1800.0
# Bytes. A quarter is for the run being filled, whose tables alone take 32 MB; with less, runs would be tiny.
LEAST_MEMORY = 192 << 20


@dataclass(frozen=True)
class Supervised:
    """The files of all runs of a partition, and how many children were replaced.

    `gave_up` says how the last child died if it was not replaced; it is empty if the child ended normally.
    """

    files: list[FileEntry]
    restarts: int = 0
    gave_up: str = ""


@dataclass(frozen=True)
class Death:
    """Why a child did not end normally, and the host it worked on, if the host caused it."""

    reason: str
    host: str = ""
    wants_less: bool = False


def fetch_supervised(
    order: FetchOrder,
    *,
    progress: Callable[[Progress], None] = lambda _progress: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> Supervised:
    """Fetch a partition in a supervised child; with `fetch.stall_time` = 0 in this process."""
    if not order.config.fetch.stall_time:
        store = open_store(order.store)
        return Supervised(fetch_partition(order, store, progress=progress, should_stop=should_stop))
    with lifeline() as line:
        return Supervisor(order, progress, should_stop, line).fetch()


@dataclass
class Supervisor:
    """Lets one child after the other fetch a partition, until one of them ends normally."""

    order: FetchOrder
    progress: Callable[[Progress], None]
    should_stop: Callable[[], bool]
    line: Lifeline
    avoid: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        config = self.order.config
        self._stall_time = float(config.fetch.stall_time)
        self._clock = RunClock()  # the system clock may be changed while the task runs
        self._deadline = self._clock.deadline(self.order.deadline, self.order.fetch_time)

    def fetch(self) -> Supervised:
        """Return the files of the partition."""
        restarts = 0
        while True:
            ended = Watch(self).until_end()
            if not isinstance(ended, Death):
                return Supervised(ended, restarts)
            if self.should_stop():
                return Supervised(self._saved(), restarts)
            if restarts == RESTARTS or self._clock.now() >= self._deadline:
                log.warning("partition %d ends with what is saved: %s", self.order.partition, ended.reason)
                RoundTail(open_store(self.order.store), self.order).ended(has_work=False)
                return Supervised(self._saved(), restarts, ended.reason)
            restarts += 1
            self._learn_from(ended)

    def _learn_from(self, death: Death) -> None:
        log.warning("partition %d goes on in a new process: %s", self.order.partition, death.reason)
        if death.host:
            self.avoid[death.host] = death.reason
        if death.wants_less:
            self.order = with_less(self.order)

    def _saved(self) -> list[FileEntry]:
        return adopt_runs(open_store(self.order.store), self.order.round, self.order.partition).files

    def work(self, heartbeat: Heartbeat) -> list[FileEntry]:
        """Fetch the partition; called in the child."""
        die_with_parent()
        with stopped_by_signals() as stop:
            return fetch_partition(
                self.order,
                open_store(self.order.store),
                progress=self.progress,
                should_stop=stop,
                avoid=self.avoid,
                heartbeat=heartbeat,
                clock=self._clock,
            )

    def verdict(self, sign: Sign, silent: float) -> Death | None:
        """Return why a child must be killed, None if not; `silent` is the seconds since its last sign."""
        if sign.doing is Doing.OWN_WORK:
            if silent < OWN_WORK_SECONDS:
                return None
            return Death(f"reading or saving took longer than {OWN_WORK_SECONDS:.0f} s")
        if silent >= self._stall_time:
            return stalled(sign.host, silent)
        if self._clock.now() >= self._deadline + GRACE_SECONDS:
            return Death(f"the task was {GRACE_SECONDS:.0f} s past its deadline")
        return None


class Watch:
    """One child, from its fork to its end."""

    def __init__(self, supervisor: Supervisor) -> None:
        self._supervisor = supervisor
        self._heartbeat = Heartbeat()
        self._silence = Silence(self._heartbeat)
        self._last = self._silence.sign
        self._asked_to_stop = False
        with signals_held() as mask:
            self._child = Child(lambda: supervisor.work(self._heartbeat), supervisor.line, mask)

    def until_end(self) -> list[FileEntry] | Death:
        """Return the result of the child, or why there is none; raise the exception that it raised."""
        try:
            death = self._until_dead()
        except BaseException:
            self._child.kill()
            raise
        finally:
            self._heartbeat.close()
        return death or self._result()

    def _until_dead(self) -> Death | None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._child.reader, selectors.EVENT_READ)
            while not self._child.has_ended():
                if selector.select(CHECK_SECONDS):
                    self._child.read_report()
                self._pass_on_stop()
                silent = self._silence.look()
                if death := self._supervisor.verdict(self._silence.sign, silent):
                    self._child.kill()
                    return death
        self._last = self._heartbeat.read()
        self._child.bury()
        return None

    def _pass_on_stop(self) -> None:
        if not self._asked_to_stop and self._supervisor.should_stop():
            self._asked_to_stop = True
            self._child.ask_to_stop()

    def _result(self) -> list[FileEntry] | Death:
        try:
            files: list[FileEntry] = self._child.result()  # type: ignore[assignment]  # of Supervisor.work
        except ChildDied as died:
            if -died.exit_code in STOP_SIGNALS and not self._asked_to_stop:
                signal.raise_signal(-died.exit_code)  # a signal that stops the child is meant for the task
            return died_of(died.exit_code, self._last)
        return files


class Silence:
    """The seconds without a new sign of life, counted only while this process runs.

    If the machine sleeps, or the process group is stopped, the supervisor stops too; that is not the child's
    fault.
    """

    def __init__(self, heartbeat: Heartbeat) -> None:
        self._heartbeat = heartbeat
        self.sign = heartbeat.read()
        self._looked = time.monotonic()
        self._seconds = 0.0

    def look(self) -> float:
        """Return the seconds since the last sign."""
        sign, now = self._heartbeat.read(), time.monotonic()
        self._seconds += min(now - self._looked, 5 * CHECK_SECONDS)
        if sign.beats != self.sign.beats:
            self._seconds = 0.0
        self.sign, self._looked = sign, now
        return self._seconds


def stalled(host: str, silent: float) -> Death:
    """Return the death of a child whose fetch loop hangs."""
    who = host or "something"
    return Death(f"{who} stalled the fetcher for {silent:.0f} s", host)


def died_of(exit_code: int, last: Sign) -> Death:
    """Return the death of a child that ended without a result; only a crash is blamed on a host."""
    if exit_code >= 0:
        return Death(f"the fetch process left with exit code {exit_code}")
    name = signal_name(-exit_code)
    if -exit_code == signal.SIGKILL:
        return Death(f"the fetch process was killed by {name}", wants_less=True)
    during = f" while it worked on {last.host}" if last.host else ""
    return Death(f"the fetch process crashed with {name}{during}", last.host)


def with_less(order: FetchOrder) -> FetchOrder:
    """Return an order for half the memory and half the connections."""
    config = order.config
    memory = Size(max(LEAST_MEMORY, config.round.task_memory // 2))
    config = replace(
        config,
        round=replace(config.round, task_memory=min(memory, config.round.task_memory)),
        fetch=replace(config.fetch, connections=max(1, config.fetch.connections // 2)),
    )
    return replace(order, config=config)
