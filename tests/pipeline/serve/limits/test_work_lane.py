"""Work of requests in threads: results and errors come back, and what is too much is refused."""

from __future__ import annotations

import asyncio
from threading import Event, current_thread
from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.serve.limits.work_lane import ALWAYS_WAITING, WorkLane
from crawlctl.pipeline.serve.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Callable


def lane(*, waiting: int = 4, seconds: float = 30.0) -> WorkLane:
    return WorkLane("test", threads=1, waiting=waiting, seconds=seconds)


def test_work_runs_in_a_thread_that_does_not_delay_the_end() -> None:
    thread = asyncio.run(lane().run(current_thread))
    assert (thread.name, thread.daemon) == ("crawlctl-test", True)


def test_an_error_of_the_work_is_raised_where_it_was_asked_for() -> None:
    with pytest.raises(ZeroDivisionError):
        asyncio.run(lane().run(lambda: 1 // 0))


def test_work_that_takes_too_long_is_refused_and_the_next_is_done() -> None:
    async def both() -> str:
        busy, end = lane(seconds=0.05), Event()
        with pytest.raises(Problem) as refused:
            await busy.run(end.wait)
        assert (refused.value.status, refused.value.headers) == (503, {"Retry-After": "2"})
        end.set()
        return await busy.run(lambda: "done")

    assert asyncio.run(both()) == "done"


def test_more_work_than_may_wait_is_refused_at_once_and_the_rest_is_done() -> None:
    async def many() -> list[object]:
        busy, started, end = lane(waiting=2), Event(), Event()

        def first() -> int:
            started.set()
            end.wait()
            return 0

        work: list[Callable[[], int]] = [first, lambda: 1, lambda: 2, lambda: 3]
        tasks = [asyncio.create_task(busy.run(work[0]))]
        await asyncio.to_thread(started.wait)
        tasks += [asyncio.create_task(busy.run(one)) for one in work[1:]]
        with pytest.raises(Problem):
            await tasks[3]
        end.set()
        return list(await asyncio.gather(*tasks[:3]))

    assert asyncio.run(many()) == [0, 1, 2]


def test_work_that_nobody_waits_for_any_more_is_not_begun() -> None:
    async def gone() -> list[str]:
        busy, started, end, done = lane(), Event(), Event(), list[str]()

        def first() -> None:
            started.set()
            end.wait()

        holder = asyncio.create_task(busy.run(first))
        await asyncio.to_thread(started.wait)
        waiting = asyncio.create_task(busy.run(lambda: done.append("gone")))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        end.set()
        await holder
        await busy.run(lambda: done.append("last"))
        return done

    assert asyncio.run(gone()) == ["last"]


def test_work_that_would_wait_too_long_is_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    async def taken(seconds: float) -> int:
        """Return how much work waits at most behind work that takes some seconds by a clock of our own."""
        now = [0.0]
        monkeypatch.setattr(f"{WorkLane.__module__}.time.perf_counter", lambda: now[0])
        busy, started, end = lane(waiting=32), Event(), Event()

        def work() -> None:
            now[0] += seconds

        def hold() -> None:
            started.set()
            end.wait()

        for _ in range(200):
            await busy.run(work)
        tasks = [asyncio.create_task(busy.run(hold))]
        await asyncio.to_thread(started.wait)
        tasks += [asyncio.create_task(busy.run(work)) for _ in range(40)]
        await asyncio.sleep(0)  # all are taken or refused
        end.set()
        done = await asyncio.gather(*tasks, return_exceptions=True)
        return sum(not isinstance(one, Problem) for one in done) - 1

    assert asyncio.run(taken(0.0001)) == 32, "as many as the queue holds"
    assert asyncio.run(taken(0.005)) == 11, "as many as take PATIENCE, and the last"
    assert asyncio.run(taken(1.0)) == ALWAYS_WAITING
