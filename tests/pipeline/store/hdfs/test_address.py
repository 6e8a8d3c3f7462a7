from __future__ import annotations

import getpass
from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.errors import ConfigError
from crawlctl.pipeline.store.hdfs import conf as hdfs_conf
from crawlctl.pipeline.store.hdfs.address import find_address, hadoop_user, split_hdfs

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Environment = dict[str, str]

ONE_NAMENODE = {
    "fs.defaultFS": "hdfs://nn.example:8020",
    "dfs.namenode.http-address": "nn.example:19870",
}
TWO_NAMENODES = {
    "fs.defaultFS": "hdfs://crawls",
    "dfs.nameservices": "crawls, others",
    "dfs.ha.namenodes.crawls": "nn1,nn2",
    "dfs.namenode.rpc-address.crawls.nn1": "one.example:8020",
    "dfs.namenode.rpc-address.crawls.nn2": "two.example:8020",
    "dfs.namenode.http-address.crawls.nn1": "one.example:9870",
    "dfs.namenode.http-address.crawls.nn2": "0.0.0.0:9870",
}


@pytest.fixture
def configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Environment]:
    """Return a function that writes a configuration and returns the environment that names it."""
    monkeypatch.setattr(hdfs_conf, "USUAL_FOLDER", tmp_path / "usual")

    def write(properties: dict[str, str], **variables: str) -> Environment:
        lines = "".join(
            f"<property><name>{name}</name><value>{value}</value></property>"
            for name, value in properties.items()
        )
        (tmp_path / "hdfs-site.xml").write_text(f"<configuration>{lines}</configuration>")
        return {"HADOOP_CONF_DIR": str(tmp_path), "HADOOP_USER_NAME": "ann", **variables}

    return write


def test_the_default_namenode_is_that_of_the_configuration(configured: Callable[..., Environment]) -> None:
    address = find_address("hdfs:///crawls/mine/", configured(ONE_NAMENODE))
    assert address.uri == "hdfs://nn.example:8020/crawls/mine"
    assert address.path == "/crawls/mine"
    assert address.namenodes == ("http://nn.example:19870",)
    assert address.user == "ann"
    assert find_address("hdfs://nn.example:8020/crawls/mine", configured(ONE_NAMENODE)) == address


def test_another_namenode_than_the_configured_one_is_asked_at_the_usual_port(
    configured: Callable[..., Environment],
) -> None:
    for uri in ("hdfs://other.example/crawl", "hdfs://other.example:8020/crawl"):
        assert find_address(uri, configured(ONE_NAMENODE)).namenodes == ("http://other.example:9870",)
    assert find_address("hdfs://other.example/", configured({})).path == ""


def test_a_nameservice_is_all_its_namenodes(configured: Callable[..., Environment]) -> None:
    expected = ("http://one.example:9870", "http://two.example:9870")
    for uri in ("hdfs:///crawl", "hdfs://crawls/crawl"):
        address = find_address(uri, configured(TWO_NAMENODES))
        assert address.uri == "hdfs://crawls/crawl"
        assert address.namenodes == expected


def test_where_only_https_is_spoken_it_is_asked_for(configured: Callable[..., Environment]) -> None:
    secure = {**ONE_NAMENODE, "dfs.http.policy": "HTTPS_ONLY"}
    assert find_address("hdfs:///a", configured(secure)).namenodes == ("https://nn.example:9871",)
    named = {**secure, "dfs.namenode.https-address": "web.example:443"}
    assert find_address("hdfs:///a", configured(named)).namenodes == ("https://web.example:443",)


def test_the_variable_comes_first(configured: Callable[..., Environment]) -> None:
    environment = configured(ONE_NAMENODE, CRAWLCTL_WEBHDFS="https://a.example:1, b.example:2/")
    assert find_address("hdfs:///a", environment).namenodes == ("https://a.example:1", "http://b.example:2")
    alone = configured({}, CRAWLCTL_WEBHDFS="gateway.example:14000")
    assert find_address("hdfs:///a", alone).uri == "hdfs:///a"


def test_without_a_name_for_hadoop_the_login_name_is_used(configured: Callable[..., Environment]) -> None:
    environment = configured(ONE_NAMENODE)
    del environment["HADOOP_USER_NAME"]
    assert find_address("hdfs:///a", environment).user == getpass.getuser()


@pytest.mark.parametrize(
    ("uri", "remedy"),
    [
        ("hdfs:///crawl", "nor a configuration of Hadoop names a namenode.*write hdfs://namenode/folder"),
        ("hdfs://nn/a//b", "has an empty part"),
        ("hdfs://nn/a/../b", "has an empty part"),
        ("hdfs://nn/a:b", "a colon"),
        ("hdfs://nn:port/a", "write hdfs://namenode/folder"),
        ("hdfs://nn/a\nb", "unprintable"),
    ],
)
def test_what_is_no_address_is_one_line_with_a_remedy(
    configured: Callable[..., Environment], uri: str, remedy: str
) -> None:
    with pytest.raises(ConfigError, match=remedy) as caught:
        find_address(uri, configured({}))
    assert "\n" not in str(caught.value)


def test_a_variable_that_is_no_web_address_is_explained(configured: Callable[..., Environment]) -> None:
    with pytest.raises(ConfigError, match="write http://namenode:9870"):
        find_address("hdfs:///a", configured({}, CRAWLCTL_WEBHDFS="hdfs://nn:8020"))


def test_a_path_is_taken_as_it_is_written() -> None:
    assert split_hdfs("hdfs://nn:8020/a/b") == ("nn:8020", "/a/b")
    assert split_hdfs("hdfs://nn") == split_hdfs("hdfs://nn/") == ("nn", "")
    assert split_hdfs("hdfs:///a%20b") == ("", "/a%20b")


def test_a_user_without_a_name_is_told_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    def nameless() -> str:
        raise KeyError("uid not found")

    monkeypatch.setattr(getpass, "getuser", nameless)
    assert hadoop_user({"HADOOP_USER_NAME": "crawler"}) == "crawler"
    with pytest.raises(ConfigError, match="set HADOOP_USER_NAME"):
        hadoop_user({})
