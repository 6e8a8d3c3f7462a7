"""A real HDFS in trouble: in safe mode, full, forbidden, or stopped in the middle."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest

from crawlctl.pipeline.errors import StoreUnavailable
from crawlctl.pipeline.store import retry_limits
from crawlctl.pipeline.store.open import open_store
from crawlctl.tests.pipeline.store.own_hdfs import OwnHdfs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.tests.hadoop.cluster import Cluster

pytestmark = [pytest.mark.integration, pytest.mark.hadoop, pytest.mark.timeout(300)]

MEGABYTE = os.urandom(1 << 20)


@pytest.fixture(scope="module")
def started(hadoop: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnHdfs]:
    own = OwnHdfs(tmp_path_factory.mktemp("own"), hadoop.java_home)
    try:
        own.start()
        yield own
    finally:
        own.stop()


@pytest.fixture
def own(started: OwnHdfs, monkeypatch: pytest.MonkeyPatch) -> OwnHdfs:
    monkeypatch.setenv("HADOOP_CONF_DIR", started.environment["HADOOP_CONF_DIR"])
    return started


@pytest.fixture
def crawl(own: OwnHdfs, request: pytest.FixtureRequest) -> Any:
    made: Any = open_store(f"hdfs:///{request.node.name}")
    made.put("docs/a", b"content")
    return made


def crawlctl(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "crawlctl.cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def create_b(store: Any) -> None:
    store.put("docs/b", b"")


def last_line(done: subprocess.CompletedProcess[str]) -> str:
    """Return what a command says in the end, after any word that it tries again."""
    return done.stderr.splitlines()[-1]


def assert_one_line(message: str, said: str, remedy: str) -> None:
    assert said in message
    assert remedy in message
    assert "\n" not in message


def test_in_safe_mode_a_crawl_can_be_read_and_not_written(own: OwnHdfs, crawl: Any) -> None:
    own.admin("-safemode", "enter")
    try:
        assert crawl.read("docs/a") == b"content"
        for change, argument in ((crawl.delete, ["docs/a"]), (create_b, crawl)):
            with pytest.raises(StoreUnavailable) as caught:
                change(argument)
            assert_one_line(str(caught.value), "Name node is in safe mode", "dfsadmin -safemode leave")
        done = crawlctl("init", "--store", "hdfs:///safe")
        assert done.returncode == 1
        assert_one_line(last_line(done), "Name node is in safe mode", "dfsadmin -safemode leave")
    finally:
        own.admin("-safemode", "leave")
    crawl.put("docs/b", b"")


def test_a_folder_of_somebody_else_is_refused(
    own: OwnHdfs, crawl: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HADOOP_USER_NAME", "somebody")
    theirs: Any = open_store(crawl.uri)
    assert theirs.read("docs/a") == b"content"
    for change, argument in ((theirs.delete, ["docs/a"]), (create_b, theirs)):
        with pytest.raises(StoreUnavailable) as caught:
            change(argument)
        assert_one_line(
            str(caught.value), "Permission denied: user=somebody", "set HADOOP_USER_NAME to the owner"
        )


@pytest.mark.parametrize(("option", "limit"), [("-setSpaceQuota", "1m"), ("-setQuota", "1")])
@pytest.mark.parametrize("content", [b"short", MEGABYTE * 3], ids=["short", "long"])
def test_a_quota_that_is_reached_is_explained(own: OwnHdfs, option: str, limit: str, content: bytes) -> None:
    folder = f"/quota-{os.urandom(4).hex()}"
    store: Any = open_store(f"hdfs://{folder}")
    store.client.ask("PUT", "MKDIRS", folder)
    own.admin(option, limit, folder)
    with pytest.raises(StoreUnavailable) as caught, store.write("a") as sink:
        sink.write(content)
    assert_one_line(str(caught.value), "quota", "ask for a larger quota")
    assert list(store.list()) == []


def test_a_restart_of_the_namenode_is_waited_for(
    own: OwnHdfs, crawl: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retry_limits, "KNOWN_SERVICE_SECONDS", 200)  # this machine may be busy
    own.stop("namenode")
    restart = threading.Timer(2, own.start, ["namenode"])
    restart.start()
    try:
        assert crawl.read("docs/a") == b"content"
        assert crawl.create("docs/b", b"mine")
    finally:
        restart.join()


def test_a_datanode_that_dies_under_a_writer_fails_the_write_and_nothing_else(
    own: OwnHdfs, crawl: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(retry_limits, "KNOWN_SERVICE_SECONDS", 3)
        with pytest.raises(StoreUnavailable) as caught, crawl.write("pages/a") as sink:
            for _ in range(20):
                sink.write(MEGABYTE)
            own.kill("datanode")
            for _ in range(20):
                sink.write(MEGABYTE)
    assert_one_line(str(caught.value), f"{crawl.uri}/pages/a: ", "run the command again")
    own.start("datanode")
    assert [file.name for file in crawl.list()] == ["docs/a"]
    with crawl.write("pages/a") as sink:  # it is not there at once, and waited for
        sink.write(MEGABYTE)
    assert crawl.read("pages/a") == MEGABYTE


def test_a_cluster_that_is_stopped_is_explained_by_every_command(own: OwnHdfs, crawl: Any) -> None:
    own.stop()
    try:
        for command in (["status"], ["query", "word"], ["gc"], ["run", "--iterations", "1"]):
            done = crawlctl(*command, "--store", crawl.uri)
            assert done.returncode == 1
            assert_one_line(last_line(done), "the connection is refused", "check that the cluster runs")
            assert last_line(done).startswith("crawlctl: hdfs://")
    finally:
        own.start()
    assert crawl.read("docs/a") == b"content"
