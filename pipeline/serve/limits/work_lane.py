"""WorkLane: a few threads that do the work of requests, with limits on how many requests wait, and how long.

Under more load than it can bear, a lane does what it can as soon as ever, and refuses the rest at once: work
that would wait longer than PATIENCE seconds, by what the last work took, is not taken. A few may always wait,
so that no visitor of a slow store is refused.
"""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import Future
from http import HTTPStatus
from queue import Full, Queue
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, TypeVar

from crawlctl.pipeline.serve.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Callable

_Result = TypeVar("_Result")

PATIENCE = 0.05  # seconds
ALWAYS_WAITING = 8  # requests a thread that may wait however long it takes
_NEWEST = 0.05  # the share of the last work in the mean
_RETRY_AFTER = 2.0  # seconds


class WorkLane:
    """Threads that live as long as the process; they are daemons, so that no long search delays its end.

    `waiting` is the largest number of requests in the queue, `seconds` how long a client waits for an answer.
    A thread pool of the standard library would be waited for at the end, and has no limit for its queue.
    """

    def __init__(self, name: str, *, threads: int, waiting: int, seconds: float) -> None:
        self._seconds = seconds
        self._threads = threads
        self._mean = 0.0  # seconds that work takes
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
        self._put(work, future)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self._seconds)
        except TimeoutError:
            raise _too_busy(f"this took longer than {self._seconds:g} seconds") from None

    def _put(self, work: Callable[[], Any], future: Future[Any]) -> None:
        waiting = self._work.qsize() / self._threads
        is_late = waiting >= ALWAYS_WAITING and waiting * self._mean > PATIENCE
        try:
            if is_late:
                raise Full
            self._work.put_nowait((work, future))
        except Full:
            raise _too_busy("too many searches wait already") from None

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
            began = time.perf_counter()
            try:
                future.set_result(work())
            except BaseException as err:
                future.set_exception(err)
            self._mean += _NEWEST * (time.perf_counter() - began - self._mean)


def _too_busy(why: str) -> Problem:
    return Problem(HTTPStatus.SERVICE_UNAVAILABLE, f"{why}; ask again soon", retry_after=_RETRY_AFTER)
