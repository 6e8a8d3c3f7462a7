"""Finds the current snapshot of a remote store.

The store is asked for the number of the snapshot, and the cache for everything else. If the cache knows no
snapshot of the store yet, the names of compound files are listed too. Then the newest compound file is read
together with the snapshot, which nearly always names it.
"""

from __future__ import annotations

from contextlib import suppress
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.errors import CorruptFile, MissingFile, StoreError
from crawlctl.pipeline.state.kinds import COMPOUND
from crawlctl.pipeline.state.layout import SNAPSHOTS, number_of
from crawlctl.pipeline.state.snapshots import decode_snapshot, load_current
from crawlctl.pipeline.store.parallel_reads import in_background

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlctl.pipeline.search.open.disk_cache import DiskCache
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store, StoredFile

_LAST = "the snapshot last used"  # under this name the cache holds the key of the snapshot last used
_LAST_BYTES = 256


class NewestFiles(NamedTuple):
    """The newest snapshot, and the bytes of its compound file, if they were read with it."""

    snapshot: Snapshot
    compound: bytes | None = None


def newest_files(store: Store, cache: DiskCache) -> NewestFiles:
    """Return the newest snapshot and its compound file by two round trips: two listings, then both files."""
    listing = in_background(lambda: list(store.list(f"{COMPOUND}/")))
    newest = newest_of(store.list(f"{SNAPSHOTS}/"))
    compound = max(listing.result(), key=attrgetter("modified", "name"), default=None)
    if newest is None or compound is None:
        return NewestFiles(_snapshot(store, cache, newest))
    reading = in_background(lambda: _compound(store, cache, compound))
    snapshot = _snapshot(store, cache, newest)
    is_named = any(entry.name == compound.name for entry in snapshot.files_of(COMPOUND))
    return NewestFiles(snapshot, reading.result() if is_named else None)


def newest_snapshot(store: Store, cache: DiskCache) -> Snapshot:
    """Return the snapshot with the highest number, from the cache if the cache has it."""
    return _snapshot(store, cache, newest_of(store.list(f"{SNAPSHOTS}/")))


def newest_of(files: Iterable[StoredFile]) -> StoredFile | None:
    """Return the file of the snapshot with the highest number, None if there is no snapshot."""
    snapshots = (file for file in files if number_of(file.name) is not None)
    return max(snapshots, key=lambda file: number_of(file.name) or 0, default=None)


def last_snapshot(store: Store, cache: DiskCache) -> Snapshot | None:
    """Return the newest snapshot of the last time the store was asked, None if the cache does not have it."""
    key = cache.get(_LAST, 0, _LAST_BYTES)
    return None if key is None else _kept(store, cache, key.decode(errors="replace").rstrip())


def _snapshot(store: Store, cache: DiskCache, file: StoredFile | None) -> Snapshot:
    if file is None:
        return load_current(store)
    # The key has the time of the file, because a new crawl in the same store has the same numbers.
    key = f"{file.bytes} {file.name} {file.modified}"
    _remember(cache, key)
    kept = _kept(store, cache, key)
    if kept is not None:
        return kept
    try:
        data = store.read(file.name)
    except MissingFile:  # a newer snapshot was committed and gc has deleted this one
        return load_current(store)
    snapshot = decode_snapshot(data, store.locate(file.name))
    cache.put(key, 0, data)
    return snapshot


def _compound(store: Store, cache: DiskCache, file: StoredFile) -> bytes | None:
    data = cache.get(file.name, 0, file.bytes)
    if data is None:
        with suppress(StoreError):  # the compound file has only copies, so a query can do without it
            data = store.read(file.name)
            cache.put(file.name, 0, data)
    return data


def _remember(cache: DiskCache, key: str) -> None:
    packed = key.encode().ljust(_LAST_BYTES)
    if cache.get(_LAST, 0, _LAST_BYTES) != packed:
        cache.put(_LAST, 0, packed)


def _kept(store: Store, cache: DiskCache, key: str) -> Snapshot | None:
    size, _, name = key.partition(" ")
    data = cache.get(key, 0, int(size)) if size.isdecimal() else None
    if data is not None:
        with suppress(CorruptFile):
            return decode_snapshot(data, store.locate(name.rpartition(" ")[0]))
    return None
