from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from crawlctl.pipeline.runners.hadoop import runner as hadoop

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow

FAKE = Path(__file__).parents[2] / "runners" / "jobs" / "fake_hadoop.sh"


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("HADOOP_CONF_DIR", "HADOOP_HOME", "CRAWLCTL_WEBHDFS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def bucket() -> Iterator[str]:
    import boto3
    from moto import mock_aws

    with mock_aws():
        boto3.client("s3", region_name="us-east-1").create_bucket(Bucket="bucket")
        yield "bucket"


def stored(bucket: str) -> list[str]:
    import boto3

    listed = boto3.client("s3", region_name="us-east-1").list_objects_v2(Bucket=bucket)
    return sorted(entry["Key"] for entry in listed["Contents"])


def test_emr_gets_the_package_and_a_bootstrap_script_once(shell: Any, bucket: str) -> None:
    first = shell("package", "--for", "emr", "--to", f"s3://{bucket}/packages")
    script, package = stored(bucket)
    assert script.startswith("packages/bootstrap-") and package.startswith("packages/crawlctl-")
    assert f"bootstrap: ['sh s3://{bucket}/{script}#']" in first
    assert f"runner.packages: s3://{bucket}/packages" in first
    assert first.count("\n") == 1
    assert shell("package", "--for", "emr", "--to", f"s3://{bucket}/packages") == first
    assert stored(bucket) == [script, package]


def test_emr_needs_a_bucket(shell: Any) -> None:
    told = shell("package", "--for", "emr", code=2)
    assert told == ("crawlctl: the nodes of EMR read packages from S3 only; give --to s3://bucket/packages\n")


def test_hadoop_gets_the_package_and_the_environment_once(
    shell: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = tmp_path / "environment-1.tar.gz"
    packed.write_bytes(b"packed")
    monkeypatch.setattr(hadoop, "environment_archive", lambda _: packed)
    (tmp_path / "put").mkdir()
    options = f'["--hadoop-bin", "sh {FAKE} {tmp_path}", "--hadoop-streaming-jar", "streaming-3.4.2.jar"]'
    for _ in range(2):
        told = shell(
            "--set", f"runner.options={options}", "package", "--for", "hadoop", "--to", "hdfs:///apps"
        )
    assert told.startswith(
        "hdfs:///apps/environment-1.tar.gz is in place; --runner hadoop finds it by itself"
    )
    assert "upload_archives: ['hdfs:///apps/environment-1.tar.gz#env'] and python_bin: env/bin/python" in told
    assert sorted(path.suffix for path in (tmp_path / "put").iterdir()) == [".gz", ".zip"]
    assert (tmp_path / "calls").read_text().count("-put") == 2


def test_a_folder_that_cannot_be_written_is_told_in_the_words_of_hadoop(shell: Any, tmp_path: Path) -> None:
    program = tmp_path / "hadoop"
    program.write_text('#!/bin/sh\necho "ls: Permission denied: user=x" >&2\nexit 2\n')
    program.chmod(0o755)
    options = f'["--hadoop-bin", "{program}", "--hadoop-streaming-jar", "streaming-3.4.2.jar"]'
    told = shell(
        *("--set", f"runner.options={options}", "package", "--for", "hadoop", "--to", "hdfs:///apps"), code=1
    )
    assert told == "crawlctl: hdfs:///apps: ls: Permission denied: user=x; give --to a folder you may write\n"
