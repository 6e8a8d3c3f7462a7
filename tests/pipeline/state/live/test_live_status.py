"""The live status of a command: readable while its owner holds the lease, never afterwards."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from crawlctl.pipeline.processes.process_mark import this_process
from crawlctl.pipeline.progress.task_file import HostProgress, UrlProgress
from crawlctl.pipeline.state.garbage import collect
from crawlctl.pipeline.state.layout import lease_name, live_name
from crawlctl.pipeline.state.leases.lease import Lease, hold_lease
from crawlctl.pipeline.state.leases.lease_records import LeaseRecord, encode_record
from crawlctl.pipeline.state.live.live_status import (
    LiveStatus,
    LiveView,
    drop_left_over,
    drop_live,
    look,
    put_live,
    read_live,
)
from crawlctl.pipeline.state.snapshots import create_crawl
from crawlctl.pipeline.store.local.store import LocalStore

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.pipeline.store.base import Store

STATUS = LiveStatus(
    command="run",
    published=5.0,
    every=1.0,
    step="round 1, fetch",
    done=3,
    total=9,
    failures={"timeout": 2},
    hosts=(HostProgress("a.example", left=3, reason="timeout", seconds=4.0),),
    urls=(UrlProgress("https://a.example/", 4.0),),
)


@pytest.fixture
def folder(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "store")


def names(where: Store) -> list[str]:
    return [file.name for file in where.list("live/")]


def test_the_newest_status_is_read_and_the_older_one_is_gone(store: Store) -> None:
    assert read_live(store, "ab") is None
    for number in (1, 2, 3):
        put_live(store, number, "ab", STATUS)
    assert read_live(store, "ab") == STATUS
    assert names(store) == [live_name(3, "ab")]
    assert read_live(store, "cd") is None
    put_live(store, 1, "cd", STATUS)
    store.put("live/stream.m3u8", b"of another program")
    drop_left_over(store, "ab")
    assert names(store) == [live_name(3, "ab"), "live/stream.m3u8"]
    drop_live(store, 3, "ab")
    assert names(store) == ["live/stream.m3u8"]


def test_a_status_counts_while_its_owner_holds_the_lease(folder: LocalStore) -> None:
    assert look(folder, time.time()) == LiveView()
    with hold_lease(folder, 60, "run") as lease:
        view = look(folder, time.time())
        assert (view.is_running, view.status) == (True, None)
        put_live(folder, 1, lease.owner, STATUS)
        put_live(folder, 1, "cd" * 16, STATUS)  # of a command that was killed before
        view = look(folder, time.time())
        assert (view.is_running, view.status) == (True, STATUS)
    assert look(folder, time.time()) == LiveView()  # given back: what is left means nothing


def test_a_lease_of_another_machine_that_ran_out_is_of_a_command_that_died(folder: LocalStore) -> None:
    elsewhere, now = replace(this_process(), host="other"), time.time()
    folder.create(lease_name(1), encode_record(LeaseRecord("ef", elsewhere, "run", now, now + 60)))
    put_live(folder, 1, "ef", STATUS)
    later = look(folder, now + 600)
    assert (later.is_running, later.has_died, later.status) == (False, True, STATUS)


def test_a_process_that_lives_with_a_lease_that_ran_out_is_suspended(folder: LocalStore) -> None:
    lease = Lease(folder, 60, "run")
    lease.acquire()
    put_live(folder, 1, lease.owner, STATUS)
    later = look(folder, time.time() + 600)
    assert (later.is_running, later.has_died, later.is_suspended) == (True, False, True)


def test_statuses_come_and_go_without_waiting_for_the_disk(
    folder: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_live(folder, 1, "ab", STATUS)  # makes the folder
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    put_live(folder, 2, "ab", STATUS)
    drop_live(folder, 2, "ab")
    assert (names(folder), synced) == ([], [])


def test_a_dead_holder_on_this_machine_is_known_at_once(folder: LocalStore) -> None:
    dead = replace(this_process(), started="long ago")
    now = time.time()
    folder.create(lease_name(1), encode_record(LeaseRecord("ef", dead, "run", now, now + 600)))
    assert look(folder, now) == LiveView()  # it has published nothing
    put_live(folder, 1, "ef", STATUS)
    assert look(folder, now).has_died


def test_a_status_that_cannot_be_read_is_none(folder: LocalStore) -> None:
    folder.put_passing(live_name(1, "ab"), b'{"command": 7')
    assert read_live(folder, "ab") is None


def test_gc_deletes_what_a_killed_command_has_left(folder: LocalStore) -> None:
    create_crawl(folder, 1)
    put_live(folder, 7, "ab", STATUS)
    assert not collect(folder, keep=1, min_age=60, now=time.time()).files
    assert [file.name for file in collect(folder, keep=1, min_age=0, now=time.time() + 9).files] == [
        live_name(7, "ab")
    ]
    assert names(folder) == []
