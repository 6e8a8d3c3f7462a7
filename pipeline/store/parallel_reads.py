"""Runs reads of a remote store at the same time: several in threads, or one in the background."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from concurrent.futures import Future, ThreadPoolExecutor

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

THREADS = 20  # as many connections as our client of S3 keeps open; a query rarely reads more at once


class ParallelReads:
    """Maps a function over items: in threads for a remote store, else one by one.

    The threads start with the first use and live until `close`.
    """

    def __init__(self, *, remote: bool) -> None:
        self._remote = remote
        self._pool: ThreadPoolExecutor | None = None

    def __bool__(self) -> bool:
        return self._remote

    def map(self, function: Callable[[_Item], _Result], items: Iterable[_Item]) -> list[_Result]:
        """Return the results in the order of the items; the first error is raised."""
        items = list(items)
        if not self._remote or len(items) < 2:
            return list(map(function, items))
        return list(self._threads().map(function, items))

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    def _threads(self) -> ThreadPoolExecutor:
        if self._pool is None:
            from concurrent.futures import ThreadPoolExecutor

            self._pool = ThreadPoolExecutor(THREADS, "crawlctl-read")
        return self._pool


def in_background(function: Callable[[], _Result]) -> Future[_Result]:
    """Run a function in a thread and return its future; with a thread pool, Ctrl-C would wait for it."""
    from concurrent.futures import Future
    from threading import Thread

    result = Future[_Result]()

    def run() -> None:
        try:
            result.set_result(function())
        except BaseException as err:
            result.set_exception(err)

    Thread(target=run, name="crawlctl-background", daemon=True).start()
    return result
