"""A crawl on EMR: moto keeps clusters and steps, and Hadoop runs the command lines of the steps."""

from __future__ import annotations

import sys
import uuid
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from crawlctl.pipeline.config.settings import RunnerSettings
from crawlctl.pipeline.errors import JobFailed
from crawlctl.pipeline.runners.job import run_job
from crawlctl.pipeline.store.open import open_store
from crawlctl.pipeline.store.s3.client import S3Settings, make_client
from crawlctl.tests.comparison import assert_same, crawled
from crawlctl.tests.hadoop.crawls import Crawl
from crawlctl.tests.jobs_by_path import load_job
from crawlctl.tests.pipeline.runners.emr.on_hadoop import HadoopSteps
from crawlctl.tests.pipeline.runners.emr.service import emr_service
from crawlctl.tests.pipeline.runners.emr.settings import BUCKET, filled_in

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from crawlctl.tests.hadoop.cluster import Cluster
    from crawlctl.tests.pipeline.runners.emr.service import Emr

pytestmark = [pytest.mark.integration, pytest.mark.hadoop, pytest.mark.timeout(2700)]


@pytest.fixture
def steps(hadoop: Cluster, s3_keys: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> HadoopSteps:
    for name, value in s3_keys.items():
        monkeypatch.setenv(name, value)
    client = make_client(S3Settings())
    if BUCKET not in [found["Name"] for found in client.list_buckets()["Buckets"]]:
        client.create_bucket(Bucket=BUCKET)
    return HadoopSteps(hadoop, client)


@pytest.fixture
def emr(steps: HadoopSteps) -> Iterator[Emr]:
    with emr_service(steps) as service:
        yield service
    assert service.errors == []


def write_conf(folder: Path, **jobconf: Any) -> Path:
    """Write conf/emr.conf as it is filled in, for a node that runs no bootstrap and has no 16 GB."""
    conf: dict[str, Any] = filled_in(check_cluster_every=1, pool_jitter_seconds=0, python_bin=sys.executable)
    small = {"mapreduce.map.memory.mb": 512, "mapreduce.reduce.memory.mb": 512}
    conf["runners"]["emr"]["jobconf"].update(small, **jobconf)
    path = folder / "emr.conf"
    path.write_text(yaml.safe_dump(conf))
    return path


@pytest.fixture
def crawl(one_round: Crawl, emr: Emr, s3_keys: dict[str, str], tmp_path: Path) -> Crawl:
    runner = {"name": "emr", "conf_path": str(write_conf(tmp_path)), "task_env": s3_keys}
    environment = {**s3_keys, "AWS_ENDPOINT_URL_EMR": emr.endpoint}
    store = f"s3://{BUCKET}/{uuid.uuid4().hex}"
    return Crawl.prepare(tmp_path / "crawl", store, one_round.seeds, runner, environment)


def test_a_crawl_on_emr_is_the_crawl_of_a_laptop(
    crawl: Crawl, emr: Emr, steps: HadoopSteps, one_round: Crawl
) -> None:
    crawl.finish()
    assert_same(crawled(open_store(crawl.store)), crawled(open_store(one_round.store)))
    assert crawl.answer("json") == one_round.answer("json")
    # All jobs of it on one cluster of the pool, which is left to its idle time.
    assert len(emr.clusters) == 1 and emr.states()[0] in ("RUNNING", "WAITING")
    assert [step.state for step in emr.steps()] == ["COMPLETED"] * len(steps.run)
    assert steps.s3.list_objects_v2(Bucket=BUCKET, Prefix="tmp/")["KeyCount"] == 0


def test_a_task_that_fails_on_hadoop_is_told_from_the_log_of_its_container(
    emr: Emr, s3_keys: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_EMR", emr.endpoint)
    (tmp_path / "lines").write_text("good\nbad\n")
    conf = write_conf(tmp_path, **{"mapreduce.map.maxattempts": 1})
    settings = RunnerSettings(name="emr", conf_path=str(conf), task_env=s3_keys)
    with pytest.raises(JobFailed, match=r"^Failing failed: ValueError: a bad line; ") as caught:
        run_job(load_job("failing.Failing"), [tmp_path / "lines"], settings=settings)
    assert 'raise ValueError("a bad line")' in caught.value.task_traceback
    (step,) = emr.steps()
    assert step.state == "FAILED"
