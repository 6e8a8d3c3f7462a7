"""Keeps an index open for hours, as the prompt does, and follows the crawl from snapshot to snapshot."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from crawlctl.pipeline.errors import CrawlctlError, MissingFile
from crawlctl.pipeline.search.open.newest_snapshot import newest_of
from crawlctl.pipeline.search.open.open_index import open_index
from crawlctl.pipeline.state.layout import SNAPSHOTS
from crawlctl.pipeline.store.parallel_reads import in_background

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlctl.pipeline.search.open.searcher import Searcher
    from crawlctl.pipeline.search.query.tree import Query
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store, StoredFile

_Result = TypeVar("_Result")


class FollowingSearcher:
    """Holds a searcher of the newest snapshot; before each query it asks the store for its snapshots."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._seen = _newest(store)
        self._searcher = open_index(store)

    @property
    def snapshot(self) -> Snapshot:
        """The snapshot that answered the last query."""
        return self._searcher.snapshot

    @property
    def documents(self) -> int:
        """The number of documents that can be found in this snapshot."""
        return self._searcher.documents

    def ask(
        self, query: Callable[[Searcher], _Result], *, stay: bool = False, ahead: Query | None = None
    ) -> _Result:
        """Return the result of a query; with `stay`, from the snapshot used before, if its files still exist.

        While a remote store is asked for its snapshots, the posting lists of the query `ahead` are read.
        """
        if not stay:
            self._follow(ahead)
        try:
            return query(self._searcher)
        except MissingFile:  # gc has deleted files of this snapshot, perhaps while we read them
            if not self._follow():
                raise
            return query(self._searcher)

    def close(self) -> None:
        """Close the searcher."""
        self._searcher.close()

    def _follow(self, ahead: Query | None = None) -> bool:
        """Open the newest snapshot if it is not the open one, and return whether it was opened."""
        newest = _newest(self._store) if ahead is None else self._newest_meanwhile(ahead)
        if newest == self._seen:
            return False
        searcher = open_index(self._store)  # if this fails, the next query can still use the old one
        self._searcher.close()
        self._searcher, self._seen = searcher, newest
        return True

    def _newest_meanwhile(self, query: Query) -> StoredFile | None:
        if not self._searcher.parallel:
            return _newest(self._store)
        newest = in_background(lambda: _newest(self._store))
        with suppress(CrawlctlError):  # the answer to the query itself will say what is wrong
            self._searcher.look_ahead(query)
        return newest.result()


def _newest(store: Store) -> StoredFile | None:
    """Return the file of the newest snapshot; its time shows if a new crawl was made in the same store."""
    return newest_of(store.list(f"{SNAPSHOTS}/"))
