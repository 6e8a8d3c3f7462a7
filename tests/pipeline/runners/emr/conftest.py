"""EMR and S3 of moto on loopback, and an environment in which everything finds them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import boto3
import pytest

from crawlctl.pipeline.runners.emr.runner import EmrRunner
from crawlctl.tests.pipeline.runners.emr.service import Emr, emr_service
from crawlctl.tests.pipeline.runners.emr.settings import BUCKET
from crawlctl.tests.pipeline.runners.emr.streaming import run_step

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache of these tests' own, for the zipped package."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def aws(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    """Nothing of the user's, and keys that the servers of the tests know."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name, value in {
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_ACCESS_KEY_ID": "testaccess",
        "AWS_SECRET_ACCESS_KEY": "testsecret123456",
        "AWS_DEFAULT_REGION": "us-east-1",
        "XDG_CACHE_HOME": str(cache),
    }.items():
        monkeypatch.setenv(name, value)


@pytest.fixture(autouse=True)
def quick_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    """No ten seconds to see whether a lock holds, and no cluster known from another test."""
    monkeypatch.setattr("mrjob.pool._WAIT_AFTER_ADD_TAG", 0.1)
    monkeypatch.setattr("mrjob.emr._POOLING_SLEEP_INTERVAL", 0.1)
    monkeypatch.setattr(EmrRunner, "_joined", None)


@pytest.fixture
def emr(monkeypatch: pytest.MonkeyPatch) -> Iterator[Emr]:
    """A service whose steps run on this machine, with a bucket."""
    with emr_service(run_step) as service:
        monkeypatch.setenv("AWS_ENDPOINT_URL", service.endpoint)
        client = boto3.client("s3")
        client.create_bucket(Bucket=BUCKET)
        yield service
        for found in client.list_objects_v2(Bucket=BUCKET).get("Contents", []):
            client.delete_object(Bucket=BUCKET, Key=found["Key"])
        client.delete_bucket(Bucket=BUCKET)
        assert service.errors == []
