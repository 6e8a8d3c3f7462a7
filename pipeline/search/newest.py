"""The current snapshot of a remote store, which is asked for its number and, once that is known, no more."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import CorruptFile, MissingFile
from crawlctl.pipeline.store.layout import SNAPSHOTS, number_of
from crawlctl.pipeline.store.snapshots import decode_snapshot, load_current

if TYPE_CHECKING:
    from crawlctl.pipeline.search.diskcache import DiskCache
    from crawlctl.pipeline.store.base import Store, StoredFile
    from crawlctl.pipeline.store.snapshots import Snapshot


def newest_snapshot(store: Store, cache: DiskCache) -> Snapshot:
    """Return the snapshot with the highest number, from the cache if it is kept there."""
    numbered = ((number_of(file.name), file) for file in store.list(f"{SNAPSHOTS}/"))
    newest = max(((number, file) for number, file in numbered if number is not None), default=None)
    if newest is not None:
        with suppress(MissingFile):  # superseded and collected since
            return _load(store, newest[1], cache)
    return load_current(store)


def _load(store: Store, file: StoredFile, cache: DiskCache) -> Snapshot:
    # With its time: a crawl that was made anew in the same place has the same numbers.
    key = f"{file.name} {file.modified}"
    kept = cache.get(key, 0, file.bytes)
    if kept is not None:
        with suppress(CorruptFile):
            return decode_snapshot(kept, store.locate(file.name))
    data = store.read(file.name)
    snapshot = decode_snapshot(data, store.locate(file.name))
    cache.put(key, 0, data)
    return snapshot
