"""The lease, which keeps two commands from writing to one store; it needs only create-if-absent.

Taking, renewing and giving back the lease each create a record, numbered one higher than the last. Only one
process can create a number, and no record is ever changed. Old records are deleted, so a process that slept
for long could create a number that was used before. Therefore a record counts only if a listing made after it
shows no higher number (lease_records.old_records explains why a listing can be trusted).

The lease saves work; it does not protect data. A run that loses the lease without noticing still cannot
commit over another run (snapshots.py).

For other processes a record says at which time of day it ends. The holder itself uses a clock that cannot be
set. If the time of day is moved forward, the lease looks expired to others. If the machine was asleep, or the
process was stopped, it has expired. In both cases the holder renews it at once and continues, unless another
process was faster.
"""

from __future__ import annotations

import os
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.errors import (
    ConfigError,
    CrawlctlError,
    MissingFile,
    StoreBusy,
    StoreError,
    StoreFull,
)
from crawlctl.pipeline.processes.process_mark import ProcessMark, this_process
from crawlctl.pipeline.state.layout import LEASE, lease_name
from crawlctl.pipeline.state.leases.lease_records import (
    LONGEST_TTL,
    LeaseRecord,
    busy,
    encode_record,
    highest_number,
    latest_record,
    list_records,
    old_records,
    read_record,
    too_fast,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crawlctl.pipeline.store.base import Store

TRIES = 10
RENEWALS = 3  # the lease is renewed every ttl / RENEWALS seconds
RETRIES = 10  # after a failed renewal, it is tried again every ttl / RETRIES seconds

_BOOT_TIME: int | None = getattr(time, "CLOCK_BOOTTIME", None)  # of Linux


@contextmanager
def hold_lease(store: Store, ttl: float, command: str, *, on_full_disk: bool = False) -> Iterator[Lease]:
    """Take the lease of a store for `ttl` seconds, renew it meanwhile, and give it back at the end.

    With `on_full_disk` it can be taken on a full disk too, in space that is reserved for `crawlctl gc`.
    """
    lease = Lease(store, ttl, command, on_full_disk=on_full_disk)
    lease.acquire()
    lease.keep_spare()
    ended = threading.Event()
    renewer = threading.Thread(target=_keep_renewing, args=(lease, ttl, ended), name="lease", daemon=True)
    try:
        renewer.start()
        yield lease
    finally:
        if lease.is_own:  # otherwise this is a forked process that is about to exit
            ended.set()
            renewer.join(ttl / RENEWALS)
            if not renewer.is_alive():  # if the store does not answer, the lease expires by itself
                lease.keep_spare()
                lease.release()


def _keep_renewing(lease: Lease, ttl: float, ended: threading.Event) -> None:
    pause = ttl / RENEWALS
    while lease.is_held and not ended.wait(pause):
        try:
            lease.renew()
            pause = ttl / RENEWALS
        except CrawlctlError:  # the renewal is tried again until another process takes the lease
            pause = ttl / RETRIES


def running_time() -> float:
    """Return the seconds of a clock that cannot be set and also runs while the machine sleeps."""
    return time.monotonic() if _BOOT_TIME is None else time.clock_gettime(_BOOT_TIME)


class Lease:
    """The claim of one process to a store; see hold_lease for its use.

    `clock` is the time of day, `elapsed` the clock that cannot be set; a test may give one clock for both.
    """

    def __init__(
        self,
        store: Store,
        ttl: float,
        command: str,
        clock: Callable[[], float] | None = None,
        process: ProcessMark | None = None,
        *,
        elapsed: Callable[[], float] | None = None,
        on_full_disk: bool = False,
    ) -> None:
        if not 0 < ttl <= LONGEST_TTL:
            raise ConfigError(f"a lease cannot last {ttl:g} s; set lease.ttl to at most {LONGEST_TTL:g}s")
        self._store = store
        self._ttl = ttl
        self._command = command
        self._on_full_disk = on_full_disk
        self._clock = clock or time.time
        self._elapsed = elapsed or clock or running_time
        self._process = process or this_process()
        self._pid = os.getpid()
        self._owner = os.urandom(16).hex()
        self._lock = threading.Lock()  # between the renewing thread and release()
        self._number = 0
        self._held: LeaseRecord | None = None
        self._fresh_until = 0.0  # by the clock that cannot be set
        self._lost = "it was not taken"

    @property
    def owner(self) -> str:
        """The name in all records of this lease."""
        return self._owner

    @property
    def is_held(self) -> bool:
        """Whether the lease was taken and is not known to be lost; check() looks at the clock as well."""
        return self._held is not None

    @property
    def is_own(self) -> bool:
        """Whether this process made the lease; a process forked from it did not."""
        return os.getpid() == self._pid

    def acquire(self) -> None:
        """Take the lease, or raise StoreBusy that names the holder."""
        for _ in range(TRIES):
            number, record = latest_record(self._store)
            if record and record.owner != self._owner and not record.is_free(self._clock()):
                raise busy(self._store, record)
            if self._advance(number + 1, self._record(self._clock())):
                return
        raise too_fast(self._store)

    def renew(self) -> None:
        """Extend the lease to its full length from now; if another process has it, it is lost."""
        with self._lock:
            if self._held is None:
                return
            since = self._held.acquired
            if not self._advance(self._number + 1, self._record(self._clock(), since)):
                self._renew_late(since)

    def _renew_late(self, since: float) -> None:
        """Renew a lease that ran out while this process could not renew it, unless another one has taken it.

        The process was stopped, or the machine was asleep, perhaps in the middle of a renewal. As long as
        the newest record is ours, nobody has written to the store meanwhile.
        """
        for _ in range(TRIES):
            number, record = latest_record(self._store)
            if record is None or record.owner != self._owner:
                self._lose("another run has taken it")
                return
            if self._advance(number + 1, self._record(self._clock(), since)):
                return
        self._lose("it could not be renewed in time")

    def release(self) -> None:
        """Give the lease back now; if that fails, it expires by itself."""
        with self._lock:
            if self._held is not None:
                record = msgspec.structs.replace(self._held, expires=self._clock(), released=True)
                self._lose("it was given back")
                with suppress(StoreError):
                    self._create(lease_name(self._number + 1), encode_record(record))

    def check(self) -> None:
        """Raise StoreBusy if the lease is no longer ours; call it before anything that must not happen twice.

        In a process forked from the holder it does nothing: only the holder knows.
        """
        if not self.is_own:
            return
        held = self._held
        if held is not None and (self._elapsed() >= self._fresh_until or self._clock() >= held.expires):
            # This process was stopped for long, or the time of day was moved forward: the lease has expired,
            # or looks so to others.
            self.renew()
        if self._held is None:
            raise StoreBusy(
                f"{self._store.uri}: this run no longer has the lease: {self._lost}; what was saved before "
                "is kept, nothing more is written: run the command again"
            )

    def _record(self, now: float, acquired: float | None = None) -> LeaseRecord:
        since = now if acquired is None else acquired
        return LeaseRecord(self._owner, self._process, self._command, since, now + self._ttl)

    def _lose(self, reason: str) -> None:
        self._held, self._lost = None, reason

    def keep_spare(self) -> None:
        """Reserve space for the record of a `crawlctl gc` on a full disk."""
        with suppress(StoreError):  # the disk is full now; next time
            self._store.keep_spare(LEASE)

    def _create(self, name: str, data: bytes) -> bool:
        try:
            return self._store.create(name, data)
        except StoreFull as full:
            if not self._on_full_disk:
                raise
            try:
                return self._store.create_from_spare(name, data)
            except MissingFile:
                raise full from None

    def _advance(self, number: int, record: LeaseRecord) -> bool:
        """Create a record with the next number; return whether it gives us the lease."""
        fresh_until = self._elapsed() + self._ttl
        if not self._create(lease_name(number), encode_record(record)):
            try:
                record = read_record(self._store, number)
            except MissingFile:
                return False
            # The record is also ours if an earlier try succeeded although the store reported a failure.
            if record.owner != self._owner:
                return False
            fresh_until = min(fresh_until, self._elapsed() + record.expires - self._clock())
        records = list_records(self._store)
        if highest_number(records) != number or self._elapsed() >= fresh_until:
            return False
        self._number, self._held, self._fresh_until = number, record, fresh_until
        with suppress(StoreError):  # the next renewal tries again
            self._store.delete(file.name for file in old_records(records))
        return True
