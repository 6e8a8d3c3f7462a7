"""An index for someone who asks for hours: it follows the crawl from snapshot to snapshot."""

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
    """The index of the newest snapshot; before each query the store is asked for its list of snapshots."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._seen = _newest(store)
        self._index = open_index(store)

    @property
    def snapshot(self) -> Snapshot:
        """The snapshot that was asked last."""
        return self._index.snapshot

    def ask(self, query: Callable[[Searcher], _Result], *, stay: bool = False) -> _Result:
        """Return what a query finds; with `stay` in the snapshot asked before, while its files are there."""
        if not stay:
            self._follow()
        try:
            return query(self._index)
        except MissingFile:  # gc has taken files of this snapshot, perhaps while we looked into them
            if not self._follow():
                raise
            return query(self._index)

    def close(self) -> None:
        """Close the index."""
        self._index.close()

    def _follow(self) -> bool:
        """Open the newest snapshot if it is another one than before, and return whether it is."""
        newest = _newest(self._store)
        if newest == self._seen:
            return False
        index = open_index(self._store)  # where that fails, the old one may still do for the next query
        self._index.close()
        self._index, self._seen = index, newest
        return True


def _newest(store: Store) -> StoredFile | None:
    """Return the file of the newest snapshot: its time tells a crawl made anew in the same place."""
    files = (file for file in store.list(f"{SNAPSHOTS}/") if number_of(file.name) is not None)
    return max(files, key=lambda file: number_of(file.name) or 0, default=None)
