"""The records of the lease, `lease/00000017.json`; only the one with the highest number counts."""

from __future__ import annotations

from contextlib import suppress
from itertools import pairwise
from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.errors import CorruptLease, MissingFile, StoreBusy
from crawlctl.pipeline.processes.process_mark import ProcessMark, has_ended
from crawlctl.pipeline.state.layout import LEASE, lease_name, number_of
from crawlctl.pipeline.state.manifest import Moment
from crawlctl.pipeline.terminal.utc import utc

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlctl.pipeline.store.base import Store, StoredFile

# how often reading the newest record is tried; a try fails only if the record was deleted meanwhile
LOOKS = 10
CLOCK_SKEW = 10.0  # seconds by which the clocks of two machines may differ
LONGEST_TTL = 900.0
REMEMBERED = 2 * LONGEST_TTL  # seconds that a record is kept after the next record was created


class LeaseRecord(msgspec.Struct, frozen=True):
    """Which process holds the lease and until when, in seconds since 1970."""

    owner: str
    process: ProcessMark
    command: str
    acquired: Moment
    expires: Moment
    released: bool = False

    def is_free(self, now: float) -> bool:
        """Return whether another process may take the lease."""
        return self.released or now > self.expires + CLOCK_SKEW or has_ended(self.process)


def encode_record(record: LeaseRecord) -> bytes:
    """Return a record as indented JSON."""
    return msgspec.json.format(msgspec.json.encode(record), indent=1) + b"\n"


def read_record(store: Store, number: int) -> LeaseRecord:
    """Return the record with a number."""
    name = lease_name(number)
    try:
        return msgspec.json.decode(store.read(name), type=LeaseRecord)
    except (msgspec.DecodeError, UnicodeDecodeError) as err:
        raise CorruptLease(store.locate(name), 0, f"not a record of a lease: {err}") from err


def list_records(store: Store) -> tuple[StoredFile, ...]:
    """Return the files in the folder of the lease."""
    return tuple(store.list(f"{LEASE}/"))


def highest_number(files: Iterable[StoredFile]) -> int:
    """Return the number of the record that counts, 0 if there is none."""
    return max((number_of(file.name) or 0 for file in files), default=0)


def old_records(files: Iterable[StoredFile]) -> tuple[StoredFile, ...]:
    """Return the records that may be deleted, among the files in the folder of the lease.

    After the next record was created, a record is kept for longer than a lease can last. A process that takes
    the lease lists the records within that time. So even if records come and go during the listing, it shows
    a number at least as high as the highest at its start. Only ages of records are compared, so the clock of
    the store alone decides.
    """
    numbered = ((number_of(file.name), file) for file in files)
    records = sorted((number, file) for number, file in numbered if number is not None)
    newest = records[-1][1].modified if records else 0.0
    return tuple(
        file for (_, file), (_, following) in pairwise(records) if following.modified < newest - REMEMBERED
    )


def latest_record(store: Store) -> tuple[int, LeaseRecord | None]:
    """Return the number of the record that counts and the record, 0 and None if there is none."""
    for _ in range(LOOKS):
        number = highest_number(list_records(store))
        if number == 0:
            return 0, None
        with suppress(MissingFile):  # a newer record was created and this one deleted
            return number, read_record(store, number)
    raise too_fast(store)


def busy(store: Store, record: LeaseRecord) -> StoreBusy:
    """Return the error that names the holder of the lease."""
    process = record.process
    return StoreBusy(
        f"{store.uri} is in use by `crawlctl {record.command}` (process {process.pid} on {process.host}) "
        f"since {utc(record.acquired)}, until {utc(record.expires)} unless it renews; "
        "wait for it to end, or stop that process"
    )


def too_fast(store: Store) -> StoreBusy:
    """Return the error for a lease that other processes take again and again."""
    return StoreBusy(f"{store.uri}: the lease changes hands too fast; run the command again later")
