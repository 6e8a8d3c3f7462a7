from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TYPE_CHECKING
from unittest.mock import Mock

from crawlctl.pipeline.store.s3 import client as s3_client
from crawlctl.pipeline.store.s3.client import ClientPerProcess, S3Settings

if TYPE_CHECKING:
    import pytest

SETTINGS = S3Settings(endpoint="http://127.0.0.1:1", region="us-east-1", access_key="a", secret_key="s")


def test_threads_that_start_together_share_one_client(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []
    start = Barrier(4)

    def make(_: S3Settings) -> object:
        made.append(Mock())
        return made[-1]

    def first_use(_: int) -> object:
        start.wait(10)
        return client()

    monkeypatch.setattr(s3_client, "make_client", make)
    client = ClientPerProcess(SETTINGS)
    with ThreadPoolExecutor(4) as threads:
        assert len(set(threads.map(first_use, range(4)))) == len(made) == 1


def test_a_forked_process_makes_its_own_client_whoever_held_the_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    client = ClientPerProcess(SETTINGS)
    ours = client()
    with client._lock:  # as a thread of the parent might at the time of a fork
        monkeypatch.setattr(os, "getpid", lambda: -1)
        assert client() is not ours
