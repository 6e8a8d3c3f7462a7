from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from crawlctl.pipeline.errors import ConfigError, CorruptFile, StoreBusy, StoreUnavailable
from crawlctl.pipeline.processes.process_mark import ProcessMark, this_process
from crawlctl.pipeline.state.leases.lease import Lease, hold_lease, running_time
from crawlctl.pipeline.state.leases.lease_records import CLOCK_SKEW, LONGEST_TTL, REMEMBERED, latest_record
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.tests.pipeline.store.conftest import ATOMIC_STORES

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlctl.pipeline.store.base import Store
    from crawlctl.tests.pipeline.store.conftest import Racer

ELSEWHERE = ProcessMark("other-host", "other boot", 4711, "1")
TTL = 100.0
RACER = Path(__file__).parents[2] / "store" / "racer.py"


class Clock:
    """A clock that stands still until it is set."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def folder(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "store")


def lease_of(store: Store, clock: Clock, process: ProcessMark = ELSEWHERE) -> Lease:
    return Lease(store, TTL, "run --iterations 3", clock, process)


def record_numbers(store: Store) -> tuple[int, ...]:
    return tuple(int(file.name[-13:-5]) for file in store.list("lease/0"))


def age(store: LocalStore, seconds: float) -> None:
    """Make every record of the lease older."""
    for file in store.list("lease/"):
        os.utime(store.root / file.name, (file.modified - seconds, file.modified - seconds))


def test_a_lease_is_taken_and_given_back(store: Store) -> None:
    with hold_lease(store, 60, "run") as lease:
        lease.check()
        with pytest.raises(StoreBusy), hold_lease(store, 60, "inject"):
            pass
        lease.check()
    with hold_lease(store, 60, "inject"):
        pass


def test_a_busy_store_says_who_since_when_until_when_and_what_to_do(folder: LocalStore, clock: Clock) -> None:
    lease_of(folder, clock).acquire()
    with pytest.raises(StoreBusy) as caught:
        lease_of(folder, clock).acquire()
    assert str(caught.value) == (
        f"{folder.uri} is in use by `crawlctl run --iterations 3` (process 4711 on other-host) "
        "since 2027-01-15 08:00:00 UTC, until 2027-01-15 08:01:40 UTC unless it renews; "
        "wait for it to end, or stop that process"
    )
    assert caught.value.exit_code == 75


def test_a_crashed_owner_elsewhere_is_waited_for(folder: LocalStore, clock: Clock) -> None:
    lease_of(folder, clock).acquire()
    clock.now += TTL + CLOCK_SKEW
    with pytest.raises(StoreBusy):
        lease_of(folder, clock).acquire()
    clock.now += 0.001
    lease_of(folder, clock).acquire()


def test_a_crashed_owner_on_this_machine_is_not_waited_for(folder: LocalStore, clock: Clock) -> None:
    dead = msgspec.structs.replace(this_process(), started="0")
    lease_of(folder, clock, dead).acquire()
    lease_of(folder, clock).acquire()


def test_a_living_owner_on_this_machine_is_respected(folder: LocalStore, clock: Clock) -> None:
    lease_of(folder, clock, this_process()).acquire()
    with pytest.raises(StoreBusy, match=f"process {os.getpid()} on"):
        lease_of(folder, clock).acquire()


def test_renewing_moves_the_end_and_keeps_the_beginning(folder: LocalStore, clock: Clock) -> None:
    lease = lease_of(folder, clock)
    lease.acquire()
    clock.now += 60
    lease.renew()
    clock.now += 60
    lease.check()
    _, record = latest_record(folder)
    assert record is not None
    assert (record.acquired, record.expires) == (1_800_000_000.0, 1_800_000_160.0)


def test_a_lease_that_ran_out_goes_on_if_nobody_took_it(folder: LocalStore, clock: Clock) -> None:
    lease = lease_of(folder, clock)
    lease.acquire()
    clock.now += 1000 * TTL
    lease.check()
    assert lease.is_held and record_numbers(folder) == (1, 2)
    with pytest.raises(StoreBusy, match="is in use by"):
        lease_of(folder, clock).acquire()


@pytest.mark.parametrize("gives_it_back", [False, True])
def test_a_lease_that_ran_out_is_lost_for_good_if_another_run_took_it(
    folder: LocalStore, clock: Clock, gives_it_back: bool
) -> None:
    lease, other = lease_of(folder, clock), lease_of(folder, clock)
    lease.acquire()
    clock.now += TTL + CLOCK_SKEW + 1
    other.acquire()
    if gives_it_back:
        other.release()
    with pytest.raises(StoreBusy, match=r"no longer has the lease: another run.*run the command again"):
        lease.check()
    before = record_numbers(folder)
    lease.renew()
    assert not lease.is_held and record_numbers(folder) == before


def test_a_process_that_was_stopped_in_the_middle_of_a_renewal_goes_on(
    folder: LocalStore, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    lease, create = lease_of(folder, clock), LocalStore.create
    lease.acquire()

    def create_and_sleep(store: LocalStore, name: str, data: bytes) -> bool:
        is_created = create(store, name, data)
        monkeypatch.setattr(LocalStore, "create", create)
        clock.now += 2 * TTL
        return is_created

    monkeypatch.setattr(LocalStore, "create", create_and_sleep)
    lease.renew()
    lease.check()
    assert record_numbers(folder) == (1, 2, 3)


def test_renewing_finds_out_who_else_has_it(folder: LocalStore, clock: Clock) -> None:
    slow_clock = Clock()
    lease = lease_of(folder, slow_clock)
    lease.acquire()
    clock.now += TTL + CLOCK_SKEW + 1
    other = lease_of(folder, clock)
    other.acquire()
    lease.renew()
    with pytest.raises(StoreBusy, match="another run has taken it"):
        lease.check()
    lease.release()
    other.check()
    other.renew()
    other.check()


def test_a_number_used_before_does_not_count(folder: LocalStore, clock: Clock) -> None:
    sleeper = lease_of(folder, slow_clock := Clock())
    sleeper.acquire()
    clock.now += TTL + CLOCK_SKEW + 1
    other = lease_of(folder, clock)
    other.acquire()
    other.renew()
    age(folder, REMEMBERED + 1)
    other.renew()
    other.renew()
    assert 2 not in record_numbers(folder)
    slow_clock.now += 1
    sleeper.renew()  # creates number 2 again
    assert 2 in record_numbers(folder)
    with pytest.raises(StoreBusy, match="another run has taken it"):
        sleeper.check()
    other.check()


def test_records_followed_long_ago_are_deleted(folder: LocalStore, clock: Clock) -> None:
    lease = lease_of(folder, clock)
    lease.acquire()
    for _ in range(5):
        lease.renew()
    assert record_numbers(folder) == (1, 2, 3, 4, 5, 6)
    age(folder, REMEMBERED + 1)
    lease.renew()
    assert record_numbers(folder) == (6, 7)  # 6 was followed just now
    lease.renew()
    assert record_numbers(folder) == (6, 7, 8)


@pytest.mark.parametrize("ttl", [0, -1, LONGEST_TTL + 1])
def test_a_lease_longer_than_records_are_remembered_is_refused(folder: LocalStore, ttl: float) -> None:
    with pytest.raises(ConfigError, match=r"lease\.ttl"):
        Lease(folder, ttl, "run")


def test_a_renewal_that_worked_though_the_store_said_no_is_ours(
    folder: LocalStore, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    lease = lease_of(folder, clock)
    lease.acquire()
    create = LocalStore.create

    def create_and_fail(self: LocalStore, name: str, data: bytes) -> bool:
        create(self, name, data)
        raise StoreUnavailable("no answer")

    with monkeypatch.context() as patch:
        patch.setattr(LocalStore, "create", create_and_fail)
        with pytest.raises(StoreUnavailable):
            lease.renew()
    clock.now += 1
    lease.renew()
    lease.check()
    clock.now += 1
    lease.renew()
    assert record_numbers(folder) == (1, 2, 3)
    lease.check()


def test_a_take_slower_than_the_lease_lasts_does_not_count(
    folder: LocalStore, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    create = LocalStore.create

    def create_slowly(self: LocalStore, name: str, data: bytes) -> bool:
        clock.now += TTL
        return create(self, name, data)

    monkeypatch.setattr(LocalStore, "create", create_slowly)
    lease = lease_of(folder, clock)
    with pytest.raises(StoreBusy, match="too fast"):
        lease.acquire()
    with pytest.raises(StoreBusy, match="it was not taken"):
        lease.check()


def test_a_record_that_is_none_is_named(folder: LocalStore, clock: Clock) -> None:
    folder.put("lease/00000001.json", b"{}")
    with pytest.raises(CorruptFile, match=r"lease/00000001\.json.*not a record of a lease.*; remove it if"):
        lease_of(folder, clock).acquire()


def test_other_files_in_the_folder_do_no_harm(folder: LocalStore, clock: Clock) -> None:
    folder.put("lease/README", b"")
    lease_of(folder, clock).acquire()


@pytest.mark.slow
def test_the_lease_is_renewed_in_the_background(folder: LocalStore) -> None:
    with hold_lease(folder, 3, "run") as lease:
        until = time.monotonic() + 30
        while record_numbers(folder)[-1] < 3 and time.monotonic() < until:
            time.sleep(0.02)
        assert record_numbers(folder)[-1] >= 3
        lease.check()
    assert not [thread for thread in threading.enumerate() if thread.name == "lease"]
    _, record = latest_record(folder)
    assert record is not None
    assert record.released


@pytest.mark.slow
def test_a_store_that_fails_for_a_while_does_not_cost_the_lease(
    folder: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    create = LocalStore.create
    failures: list[str] = []

    def fail_twice(self: LocalStore, name: str, data: bytes) -> bool:
        if len(failures) < 2:
            failures.append(name)
            raise StoreUnavailable("try again")
        return create(self, name, data)

    with hold_lease(folder, 6, "run") as lease:
        monkeypatch.setattr(LocalStore, "create", fail_twice)
        until = time.monotonic() + 30
        while record_numbers(folder)[-1] < 2 and time.monotonic() < until:
            time.sleep(0.02)
        lease.check()
    assert len(failures) == 2


def test_a_store_that_fails_for_good_is_named_and_does_not_bar_the_way_out(
    folder: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_self: LocalStore, _name: str, _data: bytes) -> bool:
        raise StoreUnavailable("never")

    with hold_lease(folder, 1, "run") as lease:
        monkeypatch.setattr(LocalStore, "create", fail)
        time.sleep(1.1)
        with pytest.raises(StoreUnavailable, match="never"):
            lease.check()


def test_the_lease_is_given_back_after_an_error(folder: LocalStore) -> None:
    with pytest.raises(KeyboardInterrupt), hold_lease(folder, 60, "run"):
        raise KeyboardInterrupt
    with hold_lease(folder, 60, "run"):
        pass


def test_a_fork_neither_gives_the_lease_back_nor_judges_it(folder: LocalStore) -> None:
    program = [sys.executable, str(RACER), "fork-lease", folder.uri]
    done = subprocess.run(program, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["child", "left", "parent", "holds"]


@pytest.mark.slow
@pytest.mark.parametrize("store", ATOMIC_STORES, indirect=True)
def test_of_two_processes_exactly_one_takes_the_lease(
    store: Store, start_racers: Callable[[str, int], list[Racer]]
) -> None:
    racers = start_racers("lease", 2)
    assert [racer.answer() for racer in racers] == ["ready", "ready"]
    winners = []
    for number in range(60 if isinstance(store, LocalStore) or store.uri[:2] == "s3" else 20):
        for racer in racers if number % 2 else reversed(racers):
            racer.tell("take")
        answers = [racer.answer() for racer in racers]
        assert sorted(answers) == ["busy", "held"]
        winners.append(answers.index("held"))
        racers[winners[-1]].tell("drop")
        assert racers[winners[-1]].answer() == "dropped"
    assert set(winners) == {0, 1}, "one process was always first: nothing was raced"


DAY = 86_400.0


@pytest.mark.parametrize("jump", [DAY, -DAY, 30 * DAY])
def test_a_holder_goes_on_when_the_time_of_day_is_set(folder: LocalStore, clock: Clock, jump: float) -> None:
    elapsed = Clock()
    lease = Lease(folder, TTL, "run", clock, ELSEWHERE, elapsed=elapsed)
    lease.acquire()
    clock.now += jump
    lease.check()
    elapsed.now += TTL - 1
    clock.now += TTL - 1
    lease.renew()
    lease.check()
    _, record = latest_record(folder)
    assert record is not None
    assert record.expires == clock.now + TTL
    with pytest.raises(StoreBusy):
        lease_of(folder, clock).acquire()


def test_a_holder_whose_lease_was_taken_after_a_jump_of_the_clock_notices_at_once(
    folder: LocalStore, clock: Clock
) -> None:
    lease = Lease(folder, TTL, "run", clock, ELSEWHERE, elapsed=Clock())
    lease.acquire()
    clock.now += DAY
    lease_of(folder, clock).acquire()
    with pytest.raises(StoreBusy, match="another run has taken it"):
        lease.check()


def test_a_lease_runs_out_though_the_time_of_day_was_set_back(folder: LocalStore, clock: Clock) -> None:
    elapsed = Clock()
    lease = Lease(folder, TTL, "run", clock, ELSEWHERE, elapsed=elapsed)
    lease.acquire()
    clock.now -= DAY
    elapsed.now += TTL
    lease.check()  # it is renewed
    assert record_numbers(folder) == (1, 2)


def test_the_clock_of_a_lease_goes_on() -> None:
    before = running_time()
    time.sleep(0.01)
    assert running_time() > before
