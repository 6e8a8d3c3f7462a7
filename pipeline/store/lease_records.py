"""The records a lease is made of: `lease/00000017.json`, of which the one with the highest number counts."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.errors import CorruptFile, MissingFile, StoreBusy
from crawlctl.pipeline.store.layout import LEASE, lease_name, number_of
from crawlctl.pipeline.store.processes import ProcessMark, has_ended

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlctl.pipeline.store.base import Store

KEPT = 8  # newest records that are never deleted
LOOKS = 10  # at the newest record, each lost only to eight changes of the lease in between
CLOCK_SKEW = 10.0  # seconds by which the clocks of two machines may differ


class LeaseRecord(msgspec.Struct, frozen=True):
    """Who holds the lease and until when, in seconds since 1970."""

    owner: str
    process: ProcessMark
    command: str
    acquired: float
    expires: float
    released: bool = False

    def is_free(self, now: float) -> bool:
        """Tell whether another process may take the lease."""
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
        raise CorruptFile(store.locate(name), 0, f"not a record of a lease: {err}") from err


def record_numbers(store: Store) -> tuple[int, ...]:
    """Return the numbers of all records, the highest last."""
    numbers = (number_of(file.name) for file in store.list(f"{LEASE}/"))
    return tuple(sorted(number for number in numbers if number is not None))


def old_records(numbers: Iterable[int]) -> tuple[int, ...]:
    """Return the numbers of the records that may be deleted."""
    return tuple(sorted(numbers)[:-KEPT])


def latest_record(store: Store) -> tuple[int, LeaseRecord | None]:
    """Return the record that counts and its number, 0 and None where there is none."""
    for _ in range(LOOKS):
        numbers = record_numbers(store)
        if not numbers:
            return 0, None
        with suppress(MissingFile):  # superseded and deleted since
            return numbers[-1], read_record(store, numbers[-1])
    raise too_fast(store)


def busy(store: Store, record: LeaseRecord) -> StoreBusy:
    """Return the error that names who has the lease."""
    process = record.process
    return StoreBusy(
        f"{store.uri} is in use by `crawlctl {record.command}` (process {process.pid} on {process.host}) "
        f"since {_utc(record.acquired)}, until {_utc(record.expires)} unless it renews; "
        "wait for it to end, or stop that process"
    )


def too_fast(store: Store) -> StoreBusy:
    """Return the error for a lease that others keep taking."""
    return StoreBusy(f"{store.uri}: the lease changes hands too fast; run the command again later")


def _utc(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(seconds))
