"""WorkLane: a few threads that do the work of requests, with a limit on how many requests wait for them."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from http import HTTPStatus
from queue import Full, Queue
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, TypeVar

from crawlctl.pipeline.serve.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Callable

_Result = TypeVar("_Result")

_RETRY_AFTER = 2.0  # seconds


class WorkLane:
    """Threads that live as long as the process; they are daemons, so that no long search delays its end.

    A thread pool of the standard library would be waited for at the end, and has no limit for its queue.
    """

    def __init__(self, name: str, *, threads: int, waiting: int, seconds: float) -> None:
        self._seconds = seconds
        self._work: Queue[tuple[Callable[[], Any], Future[Any]]] = Queue(waiting)
        self._lock = Lock()
        self._left = threads
        self._name = name

    async def run(self, work: Callable[[], _Result]) -> _Result:
        """Return the result of `work`, which runs in a thread; raise a Problem if that takes too long.

        Work that has not begun by then is not begun any more.
        """
        future: Future[_Result] = Future()
        self._start_thread()
        try:
            self._work.put_nowait((work, future))
        except Full:
            raise _too_busy("too many searches wait already") from None
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self._seconds)
        except TimeoutError:
            raise _too_busy(f"this took longer than {self._seconds:g} seconds") from None

    def _start_thread(self) -> None:
        """Start a thread with each of the first requests, until all run."""
        with self._lock:
            if self._left:
                self._left -= 1
                Thread(target=self._serve, name=f"crawlctl-{self._name}", daemon=True).start()

    def _serve(self) -> None:
        while True:
            work, future = self._work.get()
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(work())
            except BaseException as err:
                future.set_exception(err)


def _too_busy(why: str) -> Problem:
    return Problem(HTTPStatus.SERVICE_UNAVAILABLE, f"{why}; ask again soon", retry_after=_RETRY_AFTER)
