"""Garbage collection: deletes old snapshots and all files that no snapshot names.

Snapshots are deleted first and durably. So a crash leaves at worst unnamed files, never a snapshot whose
files are gone. Files that a running job has written are not named by a snapshot yet: their age and
`also_keep` protect them, and the caller holds the lease.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import ConfigError, DamagedSnapshot, NotACrawl
from crawlctl.pipeline.state.layout import (
    DATA_KINDS,
    LIVE,
    PROBE,
    SNAPSHOTS,
    TOP_FOLDERS,
    may_be_garbage,
    number_of,
    snapshot_name,
)
from crawlctl.pipeline.state.leases.lease_records import list_records, old_records
from crawlctl.pipeline.state.snapshots import load_snapshot, snapshot_numbers

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from crawlctl.pipeline.store.base import Store, StoredFile


@dataclass(frozen=True)
class Collected:
    """The deleted files (or files that would be deleted); `young` are unnamed files too new to be deleted."""

    snapshots: tuple[int, ...]
    files: tuple[StoredFile, ...]
    leftovers: tuple[StoredFile, ...]
    young: tuple[StoredFile, ...] = ()

    @property
    def bytes(self) -> int:
        """The bytes of all deleted files, without the snapshots themselves."""
        return sum(file.bytes for file in (*self.files, *self.leftovers))


def collect(
    store: Store,
    *,
    keep: int,
    min_age: float,
    now: float,
    dry_run: bool = False,
    also_keep: Iterable[str] = (),
    also_snapshots: Collection[int] = (),
    most: int | None = None,
) -> Collected:
    """Keep the newest `keep` snapshots and their files; delete other files older than `min_age` seconds.

    The snapshots in `also_snapshots` are kept too, if they are there. A damaged older snapshot is useless, so
    it is deleted. With `most`, at most `most` files are deleted; the next call deletes the rest.
    """
    if keep < 1:
        raise ConfigError(f"a crawl needs its current snapshot, so gc cannot keep {keep}; give 1 or more")
    numbers = snapshot_numbers(store)
    if not numbers:
        raise NotACrawl(f"{store.uri} holds no crawl, so there is nothing to collect; check --store")
    before = now - min_age
    old = tuple(number for number in numbers[:-keep] if number not in also_snapshots)
    old += tuple(_unreadable(store, [number for number in numbers[:-1] if number not in old]))
    live = set(also_keep) | _named(store, [number for number in numbers if number not in old])
    aged, young = _by_age(_unnamed(store, live), before, most)
    # A commit during the listing may have named some of these files.
    newer = [number for number in snapshot_numbers(store) if number > numbers[-1]]
    saved = _named(store, newer)
    young = [file for file in young if file.name not in saved]
    files = (*(file for file in aged if file.name not in saved), *old_records(list_records(store)))
    if not dry_run:
        store.delete(snapshot_name(number) for number in old)
        store.delete(file.name for file in files)
    leftovers = [swept for folder in TOP_FOLDERS for swept in store.sweep(folder, before, dry_run=dry_run)]
    return Collected(old, files, tuple(leftovers), tuple(young))


def young_snapshots(store: Store, since: float) -> frozenset[int]:
    """Return the numbers of the snapshots that were committed after a time in UTC seconds."""
    young = (number_of(file.name) for file in store.list(f"{SNAPSHOTS}/") if file.modified >= since)
    return frozenset(number for number in young if number is not None)


def _unreadable(store: Store, numbers: Iterable[int]) -> Iterator[int]:
    for number in numbers:
        try:
            load_snapshot(store, number)
        except DamagedSnapshot:
            yield number


def _named(store: Store, numbers: Iterable[int]) -> set[str]:
    return {file.name for number in numbers for file in load_snapshot(store, number).files}


def _unnamed(store: Store, live: set[str]) -> Iterator[StoredFile]:
    for kind in (*DATA_KINDS, LIVE, PROBE):
        for file in store.list(f"{kind}/"):
            if file.name not in live and may_be_garbage(file.name):
                yield file


def _by_age(
    files: Iterable[StoredFile], before: float, most: int | None
) -> tuple[list[StoredFile], list[StoredFile]]:
    """Return at most `most` files older than a time, and the younger files found before that limit."""
    aged: list[StoredFile] = []
    young: list[StoredFile] = []
    for file in files:
        (aged if file.modified < before else young).append(file)
        if len(aged) == most:
            break
    return aged, young
