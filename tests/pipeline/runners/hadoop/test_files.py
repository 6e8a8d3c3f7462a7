"""Where WebHDFS cannot be used, mrjob's way over the program `hadoop` is left; tests/hadoop has the rest."""

from __future__ import annotations

import json
import socket
from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.runners.hadoop.files import WebHdfsFiles
from crawlctl.pipeline.store import retry_limits
from crawlctl.tests.pipeline.store.played_namenode import HTML_404, PlayedNamenode, refusal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.tests.pipeline.store.played_namenode import Answer


@pytest.fixture(autouse=True)
def no_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HADOOP_CONF_DIR", "HADOOP_HOME", "CRAWLCTL_WEBHDFS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(retry_limits, "NEW_SERVICE_SECONDS", 0)


@pytest.fixture
def closed_port() -> Iterator[int]:
    with socket.socket() as taken:  # bound but not listening
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


def can_be_used(answer: Answer, monkeypatch: pytest.MonkeyPatch) -> bool:
    namenode = PlayedNamenode(answer)
    monkeypatch.setenv("CRAWLCTL_WEBHDFS", namenode.address)
    try:
        return WebHdfsFiles().can_handle_path("hdfs:///folder")
    finally:
        namenode.close()


def sent_to(port: int) -> Answer:
    return 200, json.dumps({"Location": f"http://127.0.0.1:{port}/webhdfs/v1/x?op=CREATE"})


def test_a_cluster_whose_datanodes_can_be_reached_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as datanode:
        assert can_be_used(sent_to(datanode.getsockname()[1]), monkeypatch)


def test_datanodes_behind_a_wall_are_left_to_the_program(
    closed_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not can_be_used(sent_to(closed_port), monkeypatch)


def test_kerberos_and_what_is_not_webhdfs_are_left_to_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not can_be_used((401, "<html>Authentication required</html>"), monkeypatch)
    assert not can_be_used(refusal(403, "AccessControlException", "SIMPLE is not enabled"), monkeypatch)
    assert not can_be_used(HTML_404, monkeypatch)


def test_no_answer_and_no_address_are_left_to_the_program(
    closed_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not WebHdfsFiles().can_handle_path("hdfs:///folder")
    monkeypatch.setenv("CRAWLCTL_WEBHDFS", f"http://127.0.0.1:{closed_port}")
    assert not WebHdfsFiles().can_handle_path("hdfs:///folder")
    with pytest.raises(OSError, match="cannot be reached over WebHDFS"):
        WebHdfsFiles().exists("hdfs:///folder")
