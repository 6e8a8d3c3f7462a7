"""Which server is asked for what, seen by servers that play a namenode and datanodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.store.hdfs.address import HdfsAddress
from crawlctl.pipeline.store.hdfs.client import SHORT_BYTES, WebHdfs
from crawlctl.tests.pipeline.store.played_namenode import PlayedNamenode, refusal

if TYPE_CHECKING:
    from collections.abc import Iterator

CLOSED = refusal(404, "FileNotFoundException", "File does not exist: /crawl/b")


@pytest.fixture
def datanode() -> Iterator[PlayedNamenode]:
    played = PlayedNamenode((200, "content"))
    yield played
    played.close()


@pytest.fixture
def namenode(datanode: PlayedNamenode) -> Iterator[PlayedNamenode]:
    url = f"{datanode.address}/webhdfs/v1/crawl/a?op=OPEN&user.name=ann&namenoderpcaddress=nn:8020&offset=0"
    played = PlayedNamenode((200, f'{{"Location":"{url}"}}'))
    yield played
    played.close()


@pytest.fixture
def client(namenode: PlayedNamenode) -> WebHdfs:
    return WebHdfs(HdfsAddress("hdfs://nn/crawl", "/crawl", (namenode.address,), "ann"))


def test_a_short_read_goes_straight_to_the_datanode_of_the_last(
    client: WebHdfs, namenode: PlayedNamenode, datanode: PlayedNamenode
) -> None:
    client.read("/crawl/a", 0, None)
    assert client.read("/crawl/b c", 5, 7) == b"content"
    assert len(namenode.asked) == 1
    assert datanode.asked[1] == (
        "GET /webhdfs/v1/crawl/b%20c",
        {"op": "OPEN", "user.name": "ann", "namenoderpcaddress": "nn:8020", "offset": "5", "length": "7"},
    )


@pytest.mark.parametrize("length", [None, SHORT_BYTES + 1])
def test_a_long_read_goes_where_the_namenode_says_the_data_lie(
    client: WebHdfs, namenode: PlayedNamenode, length: int | None
) -> None:
    for _ in range(2):
        client.read("/crawl/a", 0, length)
    assert len(namenode.asked) == 2


def test_what_a_datanode_refuses_is_asked_of_the_namenode(
    client: WebHdfs, namenode: PlayedNamenode, datanode: PlayedNamenode
) -> None:
    datanode.answers = [(200, "first"), CLOSED, (200, "again"), (200, "straight")]
    assert [client.read("/crawl/a", 0, 9) for _ in range(3)] == [b"first", b"again", b"straight"]
    assert len(namenode.asked) == 2


def test_nothing_follows_a_redirection(client: WebHdfs, namenode: PlayedNamenode) -> None:
    namenode.answers = [(307, "")]
    with pytest.raises(Exception, match="not WebHDFS"):
        client.ask("GET", "GETFILESTATUS", "/crawl")
    assert len(namenode.asked) == 1
