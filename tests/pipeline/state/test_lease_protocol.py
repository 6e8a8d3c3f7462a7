"""The lease under every interleaving hypothesis can think of: never two holders.

Each contender runs the real Lease in a thread of its own, which stops before every call to the store, and
every look at the clock, until the machine lets it go on. A listing is two calls: what was there at the first
and is gone at the second, or the other way round, is left out, which is all that a directory scan promises.
Contenders sleep, crash (seen by the others or not), get no answer to calls that were carried out, and have
clocks that differ.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from crawlctl.pipeline.errors import StoreError, StoreUnavailable
from crawlctl.pipeline.processes.process_mark import ProcessMark
from crawlctl.pipeline.state.leases import lease_records
from crawlctl.pipeline.state.leases.lease import Lease
from crawlctl.pipeline.state.leases.lease_records import CLOCK_SKEW
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.tests.effort import examples

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from crawlctl.pipeline.store.base import StoredFile

TTL = 30.0
CONTENDERS = 3
PATIENCE = 30  # seconds a step of the machine may take before we call it stuck

STEPS_OF_TAKING = 9
TO_THE_END = 99  # steps, more than anything takes

EVENTS = [
    *["take"] * 4,
    *["go on"] * 4,
    *["keep renewing"] * 2,
    *["time"] * 2,
    "renew",
    "release",
    "lost answer",
    "seen crash",
    "unseen crash",
]

contenders = st.integers(0, CONTENDERS - 1)
steps_to_go = st.integers(0, 9) | st.just(TO_THE_END)
durations = st.sampled_from([0.5, TTL / 3, TTL - CLOCK_SKEW / 2, TTL, TTL + CLOCK_SKEW + 0.5])


class Crashed(BaseException):
    """Ends the thread of a contender at the call it was about to make."""


class SteppedStore(LocalStore):
    """A store whose calls wait until the contender is let go on."""

    def __init__(self, root: Path, contender: Contender) -> None:
        super().__init__(root)
        self._contender = contender

    def create(self, name: str, data: bytes) -> bool:
        self._contender.pause()
        won = super().create(name, data)
        if won:
            self._contender.machine.made[name] = self._contender.machine.now
        self._contender.answer()
        return won

    def _read(self, name: str, start: int, length: int | None) -> bytes:
        self._contender.pause()
        return super()._read(name, start, length)

    def _list(self, prefix: str) -> Iterator[StoredFile]:
        self._contender.pause()
        first = set(super()._list(prefix))
        self._contender.pause()
        made = self._contender.machine.made
        yield from (f._replace(modified=made[f.name]) for f in super()._list(prefix) if f in first)

    def _delete(self, names: Iterable[str]) -> None:
        for name in names:
            self._contender.pause()
            super()._delete([name])


class Contender:
    """A process that wants the lease, in a thread that runs only when it is told to."""

    def __init__(self, machine: LeaseMachine, number: int, skew: float) -> None:
        self.machine = machine
        self.skew = skew
        self.process = ProcessMark("host", f"machine {number}", machine.next_pid(), "1")
        self.store = SteppedStore(machine.root, self)
        self.lease: Lease | None = None
        self.lose_answer = False
        self._crashed = False
        self._may_go = threading.Semaphore(0)
        self._has_stopped = threading.Semaphore(0)
        self._thread: threading.Thread | None = None

    def clock(self) -> float:
        self.pause()
        return self.machine.now + self.skew

    @property
    def is_working(self) -> bool:
        return self._thread is not None

    @property
    def holds(self) -> bool:
        """Whether it would go ahead, believing that the store is its own."""
        if self.lease is None or self.lease._held is None:
            return False
        return self.machine.now + self.skew < self.lease._held.expires

    def begin(self, work: Callable[[], None]) -> None:
        self._thread = threading.Thread(target=self._run, args=(work,))
        self._thread.start()
        self._wait()

    def step(self) -> None:
        self._may_go.release()
        self._wait()

    def crash(self) -> None:
        self._crashed = True
        while self.is_working:
            self.step()
        self.lease = None

    def pause(self) -> None:
        self._has_stopped.release()
        assert self._may_go.acquire(timeout=PATIENCE)
        if self._crashed:
            raise Crashed

    def answer(self) -> None:
        if self.lose_answer:
            self.lose_answer = False
            raise StoreUnavailable("the answer was lost")

    def _wait(self) -> None:
        assert self._has_stopped.acquire(timeout=PATIENCE)
        thread = self._thread
        if thread is not None and self._finished:
            thread.join()
            self._thread = None

    def _run(self, work: Callable[[], None]) -> None:
        self._finished = False
        try:
            work()
        except (StoreError, Crashed):
            pass
        finally:
            self._finished = True
            self._has_stopped.release()


class LeaseMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.root = Path(tempfile.mkdtemp(prefix="lease"))
        self.now = 1_800_000_000.0
        self.dead: set[int] = set()
        self.made: dict[str, float] = {}  # when each record was, by the clock of the store
        self._pids = 0
        self._patch = pytest.MonkeyPatch()
        self._patch.setattr(lease_records, "has_ended", lambda process: process.pid in self.dead)
        self._patch.setattr(lease_records, "REMEMBERED", TTL)  # the least that is safe
        self._patch.setattr(os, "fsync", lambda _: None)  # nothing here is about the disk
        self.contenders: list[Contender] = []

    @initialize(skews=st.lists(st.floats(0, CLOCK_SKEW), min_size=CONTENDERS, max_size=CONTENDERS))
    def start(self, skews: list[float]) -> None:
        self.contenders = [Contender(self, number, skew) for number, skew in enumerate(skews)]

    def next_pid(self) -> int:
        self._pids += 1
        return self._pids

    # One rule: hypothesis leaves some rules out of each run, and here every run needs most of them.
    @rule(what=st.sampled_from(EVENTS), number=contenders, steps=steps_to_go, seconds=durations)
    def happen(self, what: str, number: int, steps: int, seconds: float) -> None:
        if what in {"take", "go on", "renew", "release"}:
            self.work(what, number, steps)
        elif what == "keep renewing":
            for _ in range(3):
                self.now += TTL * 0.9
                self.work("renew", number, TO_THE_END)
        elif what == "time":
            self.now += seconds
        elif what == "lost answer":
            self.contenders[number].lose_answer = True
        else:
            self.crash(number, seen=what == "seen crash")

    def work(self, what: str, number: int, steps: int) -> None:
        contender = self.contenders[number]
        if not contender.is_working:
            if what == "take" and not contender.holds:
                contender.lease = Lease(contender.store, TTL, "run", contender.clock, contender.process)
                contender.begin(contender.lease.acquire)
            elif what in {"renew", "release"} and contender.lease is not None:
                contender.begin(getattr(contender.lease, what))
        for _ in range(steps):
            if contender.is_working:
                contender.step()
                self.check()

    def crash(self, number: int, *, seen: bool) -> None:
        crashed = self.contenders[number]
        crashed.crash()
        if seen:
            self.dead.add(crashed.process.pid)
        self.contenders[number] = Contender(self, number, crashed.skew)

    @invariant()
    def check(self) -> None:
        assert len(self.holders()) <= 1, f"two holders: {self.holders()}"

    def holders(self) -> list[int]:
        return [number for number, contender in enumerate(self.contenders) if contender.holds]

    def teardown(self) -> None:
        for contender in self.contenders:
            contender.crash()
        self._patch.undo()
        shutil.rmtree(self.root, ignore_errors=True)


LeaseMachine.TestCase.settings = settings(
    max_examples=examples(40),
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestNeverTwoHolders = LeaseMachine.TestCase


@pytest.fixture
def machine() -> Iterator[LeaseMachine]:
    made = LeaseMachine()
    made.start([0.0, 5.0, CLOCK_SKEW])
    yield made
    made.teardown()


def test_a_free_a_held_an_expired_and_a_dead_lease(machine: LeaseMachine) -> None:
    machine.work("take", 0, TO_THE_END)
    assert machine.holders() == [0]
    machine.work("take", 1, TO_THE_END)
    assert machine.holders() == [0]
    machine.now += TTL + CLOCK_SKEW + 1
    assert machine.holders() == []
    machine.work("take", 1, TO_THE_END)
    assert machine.holders() == [1]
    machine.crash(1, seen=True)
    machine.work("take", 2, TO_THE_END)
    assert machine.holders() == [2]


@pytest.mark.parametrize("slept_at", range(STEPS_OF_TAKING))
def test_who_sleeps_at_any_step_until_its_number_was_used_and_deleted_does_not_hold(
    machine: LeaseMachine, slept_at: int
) -> None:
    machine.work("take", 0, slept_at)
    machine.now += TTL + CLOCK_SKEW + 1
    machine.work("take", 1, TO_THE_END)
    for _ in range(4):
        machine.now += TTL * 0.9
        machine.work("renew", 1, TO_THE_END)
    assert len(machine.made) > len(list(LocalStore(machine.root).list())), "nothing was deleted"
    machine.work("go on", 0, TO_THE_END)
    assert machine.holders() == [1]


@pytest.mark.parametrize("slept_at", range(STEPS_OF_TAKING))
@pytest.mark.parametrize("slept_again", range(STEPS_OF_TAKING))
def test_who_sleeps_twice_while_records_come_and_go_does_not_hold(
    machine: LeaseMachine, slept_at: int, slept_again: int
) -> None:
    machine.work("take", 0, slept_at)
    machine.now += TTL + CLOCK_SKEW + 1
    machine.work("take", 1, TO_THE_END)
    for _ in range(4):
        machine.now += TTL * 0.9
        machine.work("renew", 1, TO_THE_END)
    machine.work("go on", 0, slept_again)
    for _ in range(3):
        machine.work("renew", 1, TO_THE_END)
    machine.work("go on", 0, TO_THE_END)
    assert machine.holders() == [1]
