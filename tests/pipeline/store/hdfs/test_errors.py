"""Each error as Hadoop words it, played by a server, becomes one line with a remedy."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.errors import MissingFile, StoreUnavailable
from crawlctl.pipeline.store import retry_limits
from crawlctl.pipeline.store.hdfs.address import HdfsAddress
from crawlctl.pipeline.store.hdfs.errors import problem_of
from crawlctl.pipeline.store.hdfs.store import HdfsStore
from crawlctl.tests.pipeline.store.played_namenode import (
    FOUND,
    HTML_404,
    IPC_PORT,
    PlayedNamenode,
    refusal,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crawlctl.tests.pipeline.store.played_namenode import Answer


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retry_limits, "LONGEST_PAUSE", 0.02)
    monkeypatch.setattr(retry_limits, "NEW_SERVICE_SECONDS", 60)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give up soon, where nothing will come right."""
    monkeypatch.setattr(retry_limits, "NEW_SERVICE_SECONDS", 0.2)
    monkeypatch.setattr(retry_limits, "KNOWN_SERVICE_SECONDS", 0.2)


@pytest.fixture
def play() -> Iterator[Callable[..., PlayedNamenode]]:
    started: list[PlayedNamenode] = []

    def start(*answers: Answer) -> PlayedNamenode:
        started.append(PlayedNamenode(*answers))
        return started[-1]

    yield start
    for played in started:
        played.close()


def store_at(*addresses: str) -> HdfsStore:
    return HdfsStore(HdfsAddress("hdfs://nn/crawl", "/crawl", addresses, "ann"))


DENIED = refusal(
    403,
    "AccessControlException",
    'Permission denied: user=ann, access=WRITE, inode="/":hdfs:supergroup:drwxr-xr-x',
)
SAFE_MODE = refusal(
    403,
    "SafeModeException",
    "Cannot create file/crawl/.tmp-1. Name node is in safe mode.\nIt was turned on manually. "
    'Use "hdfs dfsadmin -safemode leave" to turn safe mode off. NamenodeHostName:localhost',
)
STARTING = refusal(
    403,
    "SafeModeException",
    "Cannot create file/crawl/.tmp-1. Name node is in safe mode.\nThe reported blocks 0 needs additional 1 "
    "blocks to reach the threshold 0.9990 of total blocks 2. Safe mode will be turned off automatically once "
    "the thresholds have been reached. NamenodeHostName:localhost",
)
NO_SPACE = refusal(
    403,
    "IOException",
    "File /a could only be written to 0 of the 1 minReplication nodes. There are 1 datanode(s) running and "
    "1 node(s) are excluded in this operation.",
)
NO_OTHER = refusal(403, "IOException", "No active nodes contain this block")
NO_DATANODE = refusal(
    403, "IOException", "Failed to find datanode, suggest to check cluster health. excludeDatanodes=null"
)


@pytest.mark.parametrize(
    ("answer", "said", "remedy"),
    [
        (DENIED, "Permission denied: user=ann", "asked as ann.*chown"),
        (SAFE_MODE, "Name node is in safe mode", "dfsadmin -safemode leave"),
        (NO_SPACE, "could only be written to 0", "all are full or down"),
        (NO_OTHER, "No active nodes", "that hold it are down"),
        (NO_DATANODE, "Failed to find datanode", "no datanode runs"),
        (refusal(403, "NSQuotaExceededException", "The NameSpace quota is exceeded"), "quota", "crawlctl gc"),
        (refusal(403, "DSQuotaExceededException", "The DiskSpace quota is exceeded"), "quota", "crawlctl gc"),
        (refusal(403, "StandbyException", "Operation category READ is not supported"), "READ", "active"),
        (refusal(403, "RetriableException", "Namenode is in startup mode"), "startup", "again later"),
        (refusal(403, "AccessControlException", "/crawl (is not a directory)"), "/crawl", "is a file"),
        (refusal(500, "RuntimeException", "anything"), "anything", "again later"),
        (refusal(403, "IOException", "anything else"), "anything else", "dfsadmin -report"),
        (refusal(401, "SecurityException", "Failed to obtain user group"), "group", "demands Kerberos"),
        (
            (401, "<html>\n<title>Error 401 Authentication required</title></html>"),
            "401",
            "keep the crawl on s3",
        ),
        ((503, "<html>busy</html>"), "503", "again later"),
        (HTML_404, "not WebHDFS", "port 9870"),
        (IPC_PORT, "Hadoop IPC port", "CRAWLCTL_WEBHDFS"),
        ((200, "<html>some other service</html>"), "not WebHDFS", "CRAWLCTL_WEBHDFS"),
        ((302, ""), "not WebHDFS", "CRAWLCTL_WEBHDFS"),
    ],
)
@pytest.mark.usefixtures("impatient")
def test_each_error_is_one_line_with_a_place_and_a_remedy(
    play: Callable[..., PlayedNamenode], answer: Answer, said: str, remedy: str
) -> None:
    namenode = play(answer)
    with pytest.raises(StoreUnavailable, match=remedy) as caught:
        store_at(namenode.address).create("docs/a", b"content")
    message = str(caught.value)
    assert message.startswith(f"hdfs://nn/crawl/docs/a: {namenode.address}: ")
    assert said in message
    assert "\n" not in message


def test_a_missing_file_is_one(play: Callable[..., PlayedNamenode]) -> None:
    namenode = play(refusal(404, "FileNotFoundException", "File does not exist: /crawl/docs/a"))
    with pytest.raises(MissingFile, match="hdfs://nn/crawl/docs/a is not there"):
        store_at(namenode.address).size("docs/a")


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("http://127.0.0.1:1", "the connection is refused; check that the cluster runs"),
        ("http://namenode.invalid:9870", "no host is called namenode.invalid; check the namenode in --store"),
    ],
)
@pytest.mark.usefixtures("impatient")
def test_a_cluster_that_cannot_be_reached_is_explained(address: str, said: str) -> None:
    for call in (lambda s: s.size("docs/a"), lambda s: list(s.list()), lambda s: s.put("docs/a", b"")):
        with pytest.raises(StoreUnavailable) as caught:
            call(store_at(address))
        assert f"{address}: {said}" in str(caught.value)
        assert "CRAWLCTL_WEBHDFS" in str(caught.value)


@pytest.mark.parametrize(
    "answer",
    [
        (0, ""),
        (503, "busy"),
        refusal(403, "RetriableException", "Namenode is in startup mode"),
        STARTING,
    ],
)
def test_what_passes_is_tried_again(play: Callable[..., PlayedNamenode], answer: Answer) -> None:
    namenode = play(answer, answer, FOUND)
    assert store_at(namenode.address).size("docs/a") == 10
    assert len(namenode.asked) == 3


@pytest.mark.parametrize("answer", [DENIED, SAFE_MODE])
def test_what_does_not_pass_is_not_tried_again(play: Callable[..., PlayedNamenode], answer: Answer) -> None:
    namenode = play(answer)
    with pytest.raises(StoreUnavailable):
        store_at(namenode.address).size("docs/a")
    assert len(namenode.asked) == 1


def test_the_active_namenode_is_found_and_kept(play: Callable[..., PlayedNamenode]) -> None:
    standby = play(
        refusal(403, "StandbyException", "Operation category READ is not supported in state standby")
    )
    active = play(FOUND)
    store = store_at("http://127.0.0.1:1", "http://namenode.invalid:1", standby.address, active.address)
    for _ in range(3):
        assert store.size("docs/a") == 10
    assert (len(standby.asked), len(active.asked)) == (1, 3)


def test_a_namenode_is_asked_as_the_user_and_for_the_path(play: Callable[..., PlayedNamenode]) -> None:
    namenode = play(FOUND)
    store_at(namenode.address).size("docs/a=b")
    assert namenode.asked == [
        ("GET /webhdfs/v1/crawl/docs/a%3Db", {"op": "GETFILESTATUS", "user.name": "ann"})
    ]


def test_a_datanode_that_does_not_answer_is_avoided(play: Callable[..., PlayedNamenode]) -> None:
    broken = play((0, ""))
    well = play((200, "content"))
    namenode = play(
        (200, f'{{"Location":"{broken.address}/webhdfs/v1/x?op=OPEN"}}'),
        (200, f'{{"Location":"{well.address}/webhdfs/v1/x?op=OPEN"}}'),
    )
    assert store_at(namenode.address).read("docs/a") == b"content"
    assert [query.get("excludedatanodes") for _, query in namenode.asked] == [None, "127.0.0.1"]


def test_the_only_datanode_is_asked_again(play: Callable[..., PlayedNamenode]) -> None:
    datanode = play((0, ""), (200, "content"))
    location = (200, f'{{"Location":"{datanode.address}/webhdfs/v1/x?op=OPEN"}}')
    namenode = play(location, NO_OTHER, location)
    assert store_at(namenode.address).read("docs/a") == b"content"
    assert [query.get("excludedatanodes") for _, query in namenode.asked] == [None, "127.0.0.1", None]


def test_a_datanode_whose_name_is_unknown_here_is_named(play: Callable[..., PlayedNamenode]) -> None:
    namenode = play((200, '{"Location":"http://worker-7.invalid:9864/webhdfs/v1/x?op=OPEN"}'))
    with pytest.raises(
        StoreUnavailable, match=r"no host is called worker-7\.invalid; .*the names of the datanodes"
    ):
        store_at(namenode.address).read("docs/a")


def test_proxies_meant_for_the_web_are_not_asked(
    play: Callable[..., PlayedNamenode], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    assert store_at(play(FOUND).address).size("docs/a") == 10


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (
            "EOFException",
            'End of File Exception between local host is: "a"; destination host is: "b":8020; : …',
        ),
        ("ConnectException", "Call From a to b:8020 failed on connection exception: Connection refused"),
        ("SocketTimeoutException", "Call From a to b:8020 failed on socket timeout exception: …"),
        ("IOException", "Failed on local exception: java.io.IOException: Connection reset by peer; …"),
    ],
)
def test_a_datanode_that_lost_its_namenode_is_asked_again(kind: str, said: str) -> None:
    content = json.dumps({"RemoteException": {"exception": kind, "message": said}}).encode()
    assert problem_of(403, content, "http://datanode:9864/").is_transient
    content = json.dumps({"RemoteException": {"exception": kind, "message": "something else"}}).encode()
    assert not problem_of(403, content, "http://datanode:9864/").is_transient
