"""The publisher: what a command shows is in the store, and the store can never hurt the command."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from crawlctl.pipeline.crawl.live import publisher as publishers
from crawlctl.pipeline.crawl.live.publisher import LivePublisher, PublishingDisplay, publishing
from crawlctl.pipeline.errors import StoreUnavailable
from crawlctl.pipeline.progress.display import Display, ShownStep
from crawlctl.pipeline.progress.task_file import HostProgress, Progress, ProgressFile, UrlProgress
from crawlctl.pipeline.state.leases.lease import Lease
from crawlctl.pipeline.state.live.live_status import LiveStatus, put_live, read_live
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.tests.pipeline.crawl.said_lines import SaidLines

if TYPE_CHECKING:
    from pathlib import Path

OWNER = "ab" * 16


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "crawl")


@pytest.fixture
def progress(tmp_path: Path) -> Path:
    folder = tmp_path / "progress"
    folder.mkdir()
    return folder


def published(store: LocalStore) -> LiveStatus:
    status = read_live(store, OWNER)
    assert status is not None
    return status


def test_a_step_is_published_with_its_hosts_and_urls(store: LocalStore, progress: Path) -> None:
    said = SaidLines()
    publisher = LivePublisher(store, OWNER, "run")
    display = PublishingDisplay(said, publisher)
    display.say("injected 3 new URLs")
    publisher.publish()
    assert (published(store).step, published(store).said) == ("", "injected 3 new URLs")
    with display.step(ShownStep("round 1, fetch", 10, "pages", progress)):
        publisher.publish()
        assert published(store).is_silent
        hosts, urls = (HostProgress("a.example", 3),), (UrlProgress("https://a.example/", 1.0),)
        task = ProgressFile(str(progress), 0)
        task.write(Progress(done=4, total=12, errors=1, failures={"dns": 1}, hosts=hosts, urls=urls))
        publisher.publish()
        task.close()
    found = published(store)
    assert (found.command, found.step, found.done, found.total) == ("run", "round 1, fetch", 4, 10)
    assert (found.failures, found.hosts, found.urls) == ({"dns": 1}, hosts, urls)
    assert not found.is_silent
    publisher.publish()
    assert published(store).step == ""
    assert said.lines == ["injected 3 new URLs"]


def test_the_first_status_deletes_those_of_killed_commands(store: LocalStore) -> None:
    put_live(store, 9, "cd", LiveStatus(command="run", published=1.0, every=1.0))
    LivePublisher(store, OWNER, "run").publish()
    assert [file.name for file in store.list("live/")] == [f"live/00000001-{OWNER}.json"]


@pytest.mark.parametrize("failing", ["put_passing", "delete_passing"])
def test_after_failures_no_older_status_is_left(
    store: LocalStore, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    publisher = LivePublisher(store, OWNER, "run")
    publisher.publish()
    with monkeypatch.context() as patch:
        patch.setattr(store, failing, _away)
        for _ in range(3):
            with pytest.raises(StoreUnavailable):
                publisher.publish()
    publisher.publish()
    assert [file.name for file in store.list("live/")] == [f"live/00000005-{OWNER}.json"]


def _away(*_: Any) -> None:
    raise StoreUnavailable("the store is away; try again")


def test_at_the_end_nothing_is_left(store: LocalStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publishers, "FIRST_SECONDS", 0.0)
    monkeypatch.setattr(publishers, "DISK_SECONDS", 0.001)
    lease = Lease(store, 60, "run")
    lease.acquire()
    seen = threading.Event()
    monkeypatch.setattr(publishers, "put_live", _noting(seen))
    with publishing(store, lease, "run", Display()):
        assert seen.wait(30)
    assert list(store.list("live/")) == []


def _noting(seen: threading.Event) -> Any:
    def put(*arguments: Any) -> None:
        put_live(*arguments)
        seen.set()

    return put


def test_a_store_that_is_away_or_hangs_neither_fails_nor_holds_the_command(
    store: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publishers, "FIRST_SECONDS", 0.0)
    monkeypatch.setattr(publishers, "DISK_SECONDS", 0.001)
    monkeypatch.setattr(publishers, "PATIENCE", 0.01)
    lease = Lease(store, 60, "run")
    lease.acquire()
    tries, hangs, released = threading.Semaphore(0), threading.Event(), threading.Event()

    def away(*_: Any) -> None:
        tries.release()
        if hangs.is_set():
            released.wait(30)
        raise StoreUnavailable("the store is away; try again")

    monkeypatch.setattr(publishers, "put_live", away)
    with publishing(store, lease, "run", Display()):
        for _ in range(3):
            assert tries.acquire(timeout=30)
        hangs.set()
        assert tries.acquire(timeout=30)
    released.set()  # reached although the thread hung


def test_a_remote_store_is_asked_more_seldom(store: LocalStore) -> None:
    remote = LocalStore(store.uri)
    remote.uri = "s3://bucket/crawl"
    assert LivePublisher(store, OWNER, "run").status().every == publishers.DISK_SECONDS
    assert LivePublisher(remote, OWNER, "run").status().every == publishers.REMOTE_SECONDS
