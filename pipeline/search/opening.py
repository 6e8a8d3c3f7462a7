"""Opens the index of a store for queries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import StoreError
from crawlctl.pipeline.index.dictionary import DICTIONARY
from crawlctl.pipeline.search.index import Index
from crawlctl.pipeline.store.local import LocalStore
from crawlctl.pipeline.store.snapshots import load_current

if TYPE_CHECKING:
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.store.snapshots import Snapshot


def open_index(store: Store, snapshot: Snapshot | None = None, *, cached: bool = True) -> Index:
    """Return the index of a snapshot, of the current one where none is given.

    What is read of a remote store is kept on disk for the next query, unless that is not wanted.
    """
    if isinstance(store, LocalStore):
        return Index(store, _searchable(store, load_current(store) if snapshot is None else snapshot))
    from crawlctl.pipeline.search.diskcache import DiskCache, default_folder
    from crawlctl.pipeline.search.newest import newest_snapshot
    from crawlctl.pipeline.search.remote import RemoteFiles

    folder = default_folder() if cached else None
    if snapshot is None:
        kept = None if folder is None else DiskCache(folder, store.uri)
        snapshot = load_current(store) if kept is None else newest_snapshot(store, kept)
    files = RemoteFiles(store, _searchable(store, snapshot).files, folder)
    return Index(files, snapshot, remote=True)


def _searchable(store: Store, snapshot: Snapshot) -> Snapshot:
    if not snapshot.files_of(DICTIONARY):
        raise StoreError(
            f"{store.uri} has no index to search yet; fetch pages with `crawlctl run`, "
            "or index what was fetched with `crawlctl merge`"
        )
    return snapshot
