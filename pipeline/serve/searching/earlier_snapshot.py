"""EarlierSnapshot: the index of a snapshot that is not the newest, for clients that page through it."""

from __future__ import annotations

import time
from http import HTTPStatus
from typing import TYPE_CHECKING, TypeVar

from crawlctl.pipeline.errors import MissingFile
from crawlctl.pipeline.search.open.open_index import open_index
from crawlctl.pipeline.serve.problem import Problem
from crawlctl.pipeline.state.snapshots import load_snapshot

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlctl.pipeline.search.open.searcher import Searcher
    from crawlctl.pipeline.store.base import Store

_Result = TypeVar("_Result")

# an index that was not used for this time is closed, because it holds posting lists in memory
IDLE_SECONDS = 60.0


class EarlierSnapshot:
    """Holds at most one searcher, until it was idle for IDLE_SECONDS; only the search thread may use it."""

    def __init__(self, store: Store, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._clock = clock
        self._searcher: Searcher | None = None
        self._asked = 0.0

    def ask(self, number: int, writer: str, search: Callable[[Searcher], _Result]) -> _Result:
        """Return the result of a search in a snapshot; raise a Problem if `crawlctl gc` has deleted it."""
        self._asked = self._clock()
        try:
            return search(self._opened(number, writer))
        except MissingFile:
            self.close()
            raise _gone() from None

    def close_if_idle(self) -> None:
        """Close the searcher if it was not asked for a while."""
        if self._searcher is not None and self._clock() - self._asked > IDLE_SECONDS:
            self.close()

    def close(self) -> None:
        """Close the searcher, if there is one."""
        if self._searcher is not None:
            self._searcher.close()
            self._searcher = None

    def _opened(self, number: int, writer: str) -> Searcher:
        if self._searcher is not None and self._searcher.snapshot.writer.startswith(writer):
            return self._searcher
        snapshot = load_snapshot(self._store, number)
        if not snapshot.writer.startswith(writer):  # the store now has another crawl
            raise _gone()
        self.close()
        self._searcher = open_index(self._store, snapshot)
        return self._searcher


def _gone() -> Problem:
    return Problem(
        HTTPStatus.GONE,
        "the crawl has moved on, and the results that this cursor leads to are gone: search again without it",
    )
