"""Opens the index of a store for queries, local or remote."""

from __future__ import annotations

import time
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import CrawlctlError, StoreError
from crawlctl.pipeline.search.open.searcher import Searcher
from crawlctl.pipeline.state.kinds import DICTIONARY
from crawlctl.pipeline.state.snapshots import load_current
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.store.parallel_reads import ParallelReads, in_background

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.pipeline.search.query.tree import Query
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store


def open_index(
    store: Store, snapshot: Snapshot | None = None, *, cached: bool = True, query: Query | None = None
) -> Searcher:
    """Return a searcher for a snapshot; without one, for the current snapshot.

    If `cached`, everything that is read from a remote store is kept on disk for later queries. `query` is the
    first query that will be asked: while the store is asked which snapshot is current, its words are looked
    up and its posting lists read in the snapshot that was current the last time.
    """
    if isinstance(store, LocalStore):
        return Searcher(store, _searchable(store, load_current(store) if snapshot is None else snapshot))
    from crawlctl.pipeline.search.open.disk_cache import default_folder

    folder = default_folder() if cached else None
    if snapshot is not None:
        return _remote_searcher(store, snapshot, folder)
    return _newest_searcher(store, folder, query)


def _newest_searcher(store: Store, folder: Path | None, query: Query | None) -> Searcher:
    from crawlctl.pipeline.search.open.disk_cache import DiskCache
    from crawlctl.pipeline.search.open.newest_snapshot import last_snapshot, newest_files, newest_snapshot

    cache = DiskCache(folder, store.uri)
    last = last_snapshot(store, cache)
    if last is None:
        newest, compound = newest_files(store, cache)
        return _remote_searcher(store, newest, folder, compound)
    if query is None:
        return _remote_searcher(store, newest_snapshot(store, cache), folder)
    newest_future = in_background(lambda: newest_snapshot(store, cache))
    with ExitStack() as opened:
        searcher = None
        with suppress(CrawlctlError):  # an old snapshot may lack files; only the current one counts
            searcher = _remote_searcher(store, last, folder)
            opened.callback(searcher.close)
            searcher.look_ahead(query)
        newest = newest_future.result()
        if searcher is not None and newest.writer == last.writer:
            opened.pop_all()
            return searcher
    return _remote_searcher(store, newest, folder)


def _remote_searcher(
    store: Store, snapshot: Snapshot, folder: Path | None, compound: bytes | None = None
) -> Searcher:
    from crawlctl.pipeline.search.open.remote import RemoteFiles

    files = RemoteFiles(store, _searchable(store, snapshot).files, folder)
    parallel = ParallelReads(remote=True)
    files.read_ahead(parallel, compound)
    return Searcher(files, snapshot, parallel)


def _searchable(store: Store, snapshot: Snapshot) -> Snapshot:
    if not snapshot.files_of(DICTIONARY):
        raise _not_indexed(store)
    return snapshot


def _not_indexed(store: Store) -> StoreError:
    """Return the error for a crawl without an index, which a run under way may be about to make."""
    from crawlctl.pipeline.state.leases.lease_records import latest_record

    _, lease = latest_record(store)
    is_running = lease is not None and lease.command == "run" and not lease.is_free(time.time())
    hint = (
        "`crawlctl run` is under way, wait until its first round has ended"
        if is_running
        else "fetch pages with `crawlctl run`, or index what was fetched with `crawlctl merge`"
    )
    return StoreError(f"{store.uri} has no index to search yet; {hint}")
