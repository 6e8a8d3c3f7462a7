from __future__ import annotations

from pathlib import Path

import boto3
import pytest
from moto import mock_aws

from crawlctl.pipeline.errors import ConfigError, MissingFile, StoreUnavailable
from crawlctl.pipeline.imports.archive_file import absolute, open_archive


def test_a_path_means_the_same_in_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.warc").write_bytes(b"WARC/1.0")
    name = absolute("x.warc")
    monkeypatch.chdir("/")
    assert open_archive(name).read(0, 99) == b"WARC/1.0"


@mock_aws
def test_archives_are_read_from_s3(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "x")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "x")
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    client = boto3.client("s3", region_name="us-east-1")
    client.create_bucket(Bucket="archives")
    for key in ("x.warc.gz", "deep/er/CC-MAIN-1_2.warc.gz"):
        client.put_object(Bucket="archives", Key=key, Body=b"0123456789")
        source = open_archive(absolute(f"s3://archives/{key}"))
        assert (source.size, source.read(3, 4)) == (10, b"3456")
    with pytest.raises(MissingFile, match="give the path or URI"):
        open_archive("s3://archives/misspelt.warc.gz")


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("/no/such/file", MissingFile),
        ("/", StoreUnavailable),
        ("https://a.org/x.warc.gz", ConfigError),
        ("s3://bucket/", ConfigError),
        ("s3://bucket/a b", ConfigError),
    ],
)
def test_what_is_no_archive_is_told(name: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        open_archive(name)
