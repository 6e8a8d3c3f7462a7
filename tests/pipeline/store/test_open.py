from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from crawlctl.pipeline.errors import ConfigError
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.store.open import open_store, split_s3


@pytest.mark.parametrize(
    ("uri", "root"),
    [
        ("/srv/crawl", "/srv/crawl"),
        ("file:///srv/crawl", "/srv/crawl"),
        ("file://localhost/srv/my%20crawl", "/srv/my crawl"),
        ("crawl", str(Path.cwd() / "crawl")),
        ("~/crawl", str(Path.home() / "crawl")),
    ],
)
def test_a_folder_in_every_spelling(uri: str, root: str) -> None:
    store = open_store(uri)
    assert isinstance(store, LocalStore)
    assert store.uri == root


@pytest.mark.parametrize("uri", ["s3://bucket/some/prefix", "s3://bucket/some/prefix/"])
def test_a_bucket_and_prefix(uri: str) -> None:
    assert open_store(uri).uri == "s3://bucket/some/prefix"


def test_a_whole_bucket() -> None:
    assert split_s3("s3://bucket") == split_s3("s3://bucket/") == ("bucket", "")
    assert open_store("s3://bucket/").uri == "s3://bucket"


@pytest.mark.parametrize(
    ("uri", "remedy"),
    [
        ("", "give a folder"),
        ("a\0b", "give a folder"),
        ("file://server/share", "three slashes"),
        ("file://", "three slashes"),
        ("~nobody-of-that-name/crawl", "write the path in full"),
        ("s3://", "write s3://bucket/prefix"),
        ("s3:///prefix", "write s3://bucket/prefix"),
        ("s3://bucket/a//b", "s3://bucket/plain/prefix"),
        ("s3://bucket/a/../b", "s3://bucket/plain/prefix"),
        ("s3://bucket/a\nb", "s3://bucket/plain/prefix"),
        ("s3a://bucket/prefix", "use s3://bucket/prefix"),
        ("webhdfs://namenode:9870/crawl", "use hdfs://"),
        ("hdfs:///crawl", "nor a configuration of Hadoop names a namenode"),
        ("ftp://server/crawl", "there is no store of kind ftp://"),
    ],
)
def test_what_is_no_store_is_one_line_with_a_remedy(uri: str, remedy: str) -> None:
    with pytest.raises(ConfigError, match=remedy) as caught:
        open_store(uri)
    assert "\n" not in str(caught.value)


def test_opening_looks_nothing_up(tmp_path: Path) -> None:
    open_store(str(tmp_path / "new"))
    assert not (tmp_path / "new").exists()
    open_store("s3://a-bucket-that-does-not-exist/prefix")
    open_store("hdfs://a-namenode-that-does-not-exist/folder")


def test_a_local_store_costs_no_import_of_boto3_or_requests() -> None:
    program = (
        "import sys; from crawlctl.pipeline.store.open import open_store; open_store('crawl');"
        "from crawlctl.pipeline.state import garbage, snapshots;"
        "from crawlctl.pipeline.state.leases import lease;"
        "sys.exit(any(name.startswith(('boto', 'urllib3', 'requests')) for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
