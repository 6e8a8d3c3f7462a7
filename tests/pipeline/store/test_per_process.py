from __future__ import annotations

import os
import pickle
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TYPE_CHECKING

from crawlctl.pipeline.store.per_process import PerProcess

if TYPE_CHECKING:
    import pytest


def test_threads_that_start_together_share_one_object() -> None:
    made: list[object] = []
    start = Barrier(4)

    def make() -> object:
        made.append(object())
        return made[-1]

    def first_use(_: int) -> object:
        start.wait(10)
        return holder()

    holder = PerProcess(make)
    with ThreadPoolExecutor(4) as threads:
        assert len(set(threads.map(first_use, range(4)))) == len(made) == 1


def test_a_forked_process_makes_its_own_object_whoever_held_the_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    holder = PerProcess(object)
    ours = holder()
    with holder._lock:  # as a thread of the parent might at the time of a fork
        monkeypatch.setattr(os, "getpid", lambda: -1)
        assert holder() is not ours


def test_a_pickled_copy_makes_its_own_object() -> None:
    holder = PerProcess(dict[str, int])
    holder()["a"] = 1
    assert pickle.loads(pickle.dumps(holder))() == {}
