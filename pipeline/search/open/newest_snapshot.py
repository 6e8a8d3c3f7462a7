"""Finds the current snapshot of a remote store.

The store is asked for the number of the snapshot, and the cache for everything else.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import CorruptFile, MissingFile
from crawlctl.pipeline.state.layout import SNAPSHOTS, number_of
from crawlctl.pipeline.state.snapshots import decode_snapshot, load_current

if TYPE_CHECKING:
    from crawlctl.pipeline.search.open.disk_cache import DiskCache
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store

_LAST = "the snapshot last used"  # the name in the cache of the key of that snapshot
_LAST_BYTES = 256


def newest_snapshot(store: Store, cache: DiskCache) -> Snapshot:
    """Return the snapshot with the highest number, from the cache if the cache has it."""
    numbered = ((number_of(file.name), file) for file in store.list(f"{SNAPSHOTS}/"))
    newest = max(((number, file) for number, file in numbered if number is not None), default=None)
    if newest is None:
        return load_current(store)
    file = newest[1]
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


def last_snapshot(store: Store, cache: DiskCache) -> Snapshot | None:
    """Return the newest snapshot of the last time the store was asked, None if the cache does not have it."""
    key = cache.get(_LAST, 0, _LAST_BYTES)
    return None if key is None else _kept(store, cache, key.decode(errors="replace").rstrip())


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
