from __future__ import annotations

import os

from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.fetch.heartbeat import Doing, Heartbeat


def test_before_the_first_beat_a_task_is_at_its_own_work() -> None:
    assert Heartbeat().read() == (0, Doing.OWN_WORK, "")


def test_a_beat_forgets_the_host() -> None:
    heartbeat = Heartbeat()
    heartbeat.working_on("example.org:8080")
    assert heartbeat.read() == (1, Doing.FETCHING, "example.org:8080")
    heartbeat.beat()
    assert heartbeat.read() == (2, Doing.FETCHING, "")


def test_after_its_own_work_a_task_goes_on_with_what_it_was_at() -> None:
    heartbeat = Heartbeat()
    with heartbeat.own_work():
        assert heartbeat.read() == (1, Doing.OWN_WORK, "")
    assert heartbeat.read() == (2, Doing.OWN_WORK, ""), "it has not begun to fetch"
    heartbeat.working_on("example.org")
    with heartbeat.own_work(), heartbeat.own_work():
        assert heartbeat.read() == (5, Doing.OWN_WORK, "")
    assert heartbeat.read() == (7, Doing.FETCHING, "example.org")


@given(host=st.text(max_size=400))
def test_any_name_is_kept_up_to_255_bytes(host: str) -> None:
    heartbeat = Heartbeat()
    heartbeat.working_on(host)
    kept = host.encode("utf-8", "replace")[:255].decode("utf-8", "replace")
    assert heartbeat.read().host == kept


def test_what_a_forked_child_notes_is_read_by_its_parent() -> None:
    heartbeat = Heartbeat()
    pid = os.fork()
    if pid == 0:
        heartbeat.beat()
        heartbeat.working_on("example.org")
        os._exit(0)
    os.waitpid(pid, 0)
    assert heartbeat.read() == (2, Doing.FETCHING, "example.org")
