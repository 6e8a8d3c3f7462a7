"""Keeps an index open for hours, as the prompt does, and follows the crawl from snapshot to snapshot."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from crawlctl.pipeline.errors import MissingFile
from crawlctl.pipeline.search.open.open_index import open_index
from crawlctl.pipeline.state.layout import SNAPSHOTS, number_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlctl.pipeline.search.open.searcher import Searcher
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
        """The snapshot that the last query was asked."""
        return self._searcher.snapshot

    @property
    def documents(self) -> int:
        """The number of documents that can be found in this snapshot."""
        return self._searcher.documents

    def ask(self, query: Callable[[Searcher], _Result], *, stay: bool = False) -> _Result:
        """Return the result of a query; with `stay`, from the snapshot asked before, if its files exist."""
        if not stay:
            self._follow()
        try:
            return query(self._searcher)
        except MissingFile:  # gc has deleted files of this snapshot, perhaps while we read them
            if not self._follow():
                raise
            return query(self._searcher)

    def close(self) -> None:
        """Close the searcher."""
        self._searcher.close()

    def _follow(self) -> bool:
        """Open the newest snapshot if it is not the open one, and return whether it was opened."""
        newest = _newest(self._store)
        if newest == self._seen:
            return False
        searcher = open_index(self._store)  # if this fails, the next query can still use the old one
        self._searcher.close()
        self._searcher, self._seen = searcher, newest
        return True


def _newest(store: Store) -> StoredFile | None:
    """Return the file of the newest snapshot; its time shows if a new crawl was made in the same store."""
    files = (file for file in store.list(f"{SNAPSHOTS}/") if number_of(file.name) is not None)
    return max(files, key=lambda file: number_of(file.name) or 0, default=None)
