"""WorkLane: a few threads that do the work of requests, with limits on how many requests wait, and how long.

If more requests come than the threads can do, a lane keeps waiting times short and refuses the rest at once:
a request is refused if it would wait longer than PATIENCE seconds, estimated by the duration of recent work.
ALWAYS_WAITING requests per thread may wait longer, so that a slow store alone does not refuse visitors.
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

PATIENCE = 0.025  # seconds that a request may be expected to wait
ALWAYS_WAITING = 4  # requests per thread that may wait however long it takes
_NEWEST = 0.05  # the weight of the newest duration in the mean
_RETRY_AFTER = 2.0  # seconds after which a refused client is told to ask again


class WorkLane:
    """Threads that live as long as the process; they are daemons, so that no long search delays its end.

    `waiting` is the largest number of requests in the queue, `seconds` how long a client waits for an answer.
    (At its end, Python waits for a thread pool of the standard library; and the queue of such a pool has no
    limit.)
    """

    def __init__(self, name: str, *, threads: int, waiting: int, seconds: float) -> None:
        self._seconds = seconds
        self._threads = threads
        self._mean = 0.0  # the mean duration of work, in seconds
        self._work: Queue[tuple[Callable[[], Any], Future[Any]]] = Queue(waiting)
        self._lock = Lock()
        self._left = threads
        self._name = name

    async def run(self, work: Callable[[], _Result]) -> _Result:
        """Return the result of `work`, which runs in a thread; raise a Problem if that takes too long.

        Work that has not begun by that time is never begun.
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
