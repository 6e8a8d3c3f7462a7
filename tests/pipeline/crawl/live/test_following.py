"""Following a command: until it ends or dies, and not into the next one."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from crawlctl.pipeline.crawl.live.following import follow
from crawlctl.pipeline.processes.process_mark import this_process
from crawlctl.pipeline.state.layout import lease_name
from crawlctl.pipeline.state.leases.lease import Lease
from crawlctl.pipeline.state.leases.lease_records import LeaseRecord, encode_record
from crawlctl.pipeline.state.live.live_status import LiveStatus, LiveView, drop_live, put_live
from crawlctl.pipeline.store.local.store import LocalStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "crawl")


def status(done: int) -> LiveStatus:
    return LiveStatus(command="run", published=float(done), every=1.0, step="fetch", done=done, total=9)


def followed(store: LocalStore, *events: Callable[[], object], later: float = 0.0) -> list[LiveView]:
    """The views of a follower; each time it sleeps, the next event happens."""
    left = list(events)
    passed = [0.0]

    def sleep(_: float) -> None:
        if left:
            left.pop(0)()
        else:
            passed[0] = later

    return list(follow(store, clock=lambda: time.time() + passed[0], sleep=sleep))


def test_without_a_command_there_is_one_empty_view(store: LocalStore) -> None:
    assert followed(store) == [LiveView()]


def test_a_command_is_followed_to_its_end(store: LocalStore) -> None:
    lease = Lease(store, 60, "run")
    lease.acquire()
    views = followed(
        store,
        lambda: put_live(store, 1, lease.owner, status(1)),
        lambda: put_live(store, 2, lease.owner, status(2)),
        lambda: drop_live(store, 2, lease.owner),
        lease.release,
    )
    assert [view.status and view.status.done for view in views] == [None, 1, 2, None, None]
    assert [view.is_running for view in views] == [True, True, True, True, False]
    assert not views[-1].has_died


def test_a_command_that_dies_is_told_from_one_that_ends(store: LocalStore) -> None:
    elsewhere, now = replace(this_process(), host="other"), time.time()
    store.create(lease_name(1), encode_record(LeaseRecord("ef", elsewhere, "run", now, now + 60)))
    put_live(store, 1, "ef", status(4))
    views = followed(store, later=600.0)
    assert (views[-1].has_died, views[-1].status) == (True, status(4))


def test_the_next_command_is_not_followed(store: LocalStore) -> None:
    lease = Lease(store, 60, "run")
    lease.acquire()

    def hand_over() -> None:
        lease.release()
        Lease(store, 60, "rank").acquire()

    views = followed(store, hand_over)
    assert (len(views), views[-1]) == (2, LiveView())
