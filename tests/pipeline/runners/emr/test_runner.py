"""What the emr runner asks of AWS, and what it tells its user; steps run without Hadoop."""

from __future__ import annotations

import gc
import logging
import os
import signal
import subprocess
import threading
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.exceptions import ClientError

from crawlctl.pipeline.config.settings import RunnerSettings
from crawlctl.pipeline.errors import ConfigError, JobFailed, StoreUnavailable
from crawlctl.pipeline.runners.emr.errors import explained
from crawlctl.pipeline.runners.emr.runner import EmrRunner
from crawlctl.pipeline.runners.job import run_job
from crawlctl.tests.jobs_by_path import load_job
from crawlctl.tests.pipeline.runners.emr.service import emr_service
from crawlctl.tests.pipeline.runners.emr.settings import BUCKET, write_conf

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.tests.pipeline.runners.emr.service import Emr

pytestmark = pytest.mark.integration  # a server of moto's, and programs for the steps: a second or more each


def run(folder: Path, lines: str = "good\n", /, **conf: Any) -> Any:
    source = folder / "lines"
    source.write_text(lines)
    settings = RunnerSettings(name="emr", conf_path=str(write_conf(folder, **conf)))
    return run_job(load_job("failing.Failing"), [source], settings=settings)


def keys(prefix: str) -> list[str]:
    found = boto3.client("s3").list_objects_v2(Bucket=BUCKET, Prefix=prefix).get("Contents", [])
    return [entry["Key"] for entry in found]


def test_a_job_runs_and_its_records_come_back(emr: Emr, tmp_path: Path) -> None:
    result = run(tmp_path, "a\nb\na\n")
    assert sorted(result.output) == [("a", 2), ("b", 1)]
    assert keys("tmp/") == []


def test_the_cluster_is_the_one_of_the_settings(
    emr: Emr, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    run(tmp_path)
    (asked,) = emr.requests
    assert asked["ReleaseLabel"] == "emr-7.13.0"
    assert asked["Applications"] == [{"Name": "Hadoop"}]
    assert (asked["ServiceRole"], asked["JobFlowRole"]) == ("crawlctl-service", "crawlctl-nodes")
    assert asked["AutoTerminationPolicy"] == {"IdleTimeout": 600}
    assert asked["LogUri"] == f"s3://{BUCKET}/logs/"
    instances = asked["Instances"]
    assert instances["Ec2SubnetIds"] == ["subnet-1", "subnet-2"]
    assert instances["EmrManagedMasterSecurityGroup"] == "sg-1"
    assert instances["KeepJobFlowAliveWhenNoSteps"] is True
    assert [fleet["InstanceFleetType"] for fleet in instances["InstanceFleets"]] == ["MASTER", "CORE"]
    # Before anything is made: the policy of the service role demands it.
    assert {"Key": "for-use-with-amazon-emr-managed-policies", "Value": "true"} in asked["Tags"]
    assert [action["Name"] for action in asked["BootstrapActions"]] == ["master", "idle timeout"]
    assert f"started cluster {next(iter(emr.clusters))}; it takes some minutes" in caplog.text


def test_the_steps_ship_the_package_and_stay_in_the_region(emr: Emr, tmp_path: Path) -> None:
    run(tmp_path)
    (step,) = emr.steps()
    assert (step.jar, step.args[0]) == ("command-runner.jar", "hadoop-streaming")
    shipped = step.args[step.args.index("-files") + 1].split(",")
    assert {entry.rpartition(".")[2] for entry in shipped} >= {"py", "zip"}
    assert all(entry.startswith(f"s3://{BUCKET}/") for entry in shipped)
    assert "AWS_DEFAULT_REGION=us-east-1" in step.args
    assert "mapreduce.map.speculative=false" in step.args


def test_jobs_of_a_run_share_a_cluster(emr: Emr, tmp_path: Path) -> None:
    run(tmp_path)
    run(tmp_path)
    assert len(emr.clusters) == 1 and len(emr.steps()) == 2


def test_a_job_of_another_process_joins_the_cluster_that_waits(
    emr: Emr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(tmp_path)
    monkeypatch.setattr(EmrRunner, "_joined", None)
    run(tmp_path)
    assert len(emr.clusters) == 1 and len(emr.steps()) == 2


def test_a_cluster_that_is_gone_is_replaced(emr: Emr, tmp_path: Path) -> None:
    run(tmp_path)
    (first,) = emr.clusters.values()
    emr.end_cluster(first, "Cluster terminated as it was idle", "TERMINATED")
    run(tmp_path)
    assert len(emr.clusters) == 2


def test_a_cluster_with_other_packages_is_not_joined(emr: Emr, tmp_path: Path) -> None:
    run(tmp_path)
    run(tmp_path, bootstrap=["true"])
    assert len(emr.clusters) == 2


def test_without_a_pool_the_cluster_ends_with_the_job(emr: Emr, tmp_path: Path) -> None:
    run(tmp_path, pool_clusters=False)
    assert emr.states() == ["TERMINATED"]


def test_a_failed_task_is_told_by_its_traceback(
    emr: Emr, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(JobFailed, match=r"^Failing failed: ValueError: a bad line; ") as caught:
        run(tmp_path, "good\nbad\n")
    assert 'raise ValueError("a bad line")' in caught.value.task_traceback
    assert "waiting for its logs to come to s3://emr-test/logs/j-" in caplog.text
    assert emr.states() in (["RUNNING"], ["WAITING"])  # of the pool; for the next job
    assert keys("tmp/") == []


def test_a_failed_job_without_a_pool_leaves_no_cluster(emr: Emr, tmp_path: Path) -> None:
    with pytest.raises(JobFailed):
        run(tmp_path, "bad\n", pool_clusters=False)
    assert emr.states() == ["TERMINATED"]


def test_a_failure_is_told_even_if_no_logs_come(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawlctl.pipeline.runners.emr.runner.LOG_SECONDS", 0.3)
    with emr_service(lambda *_: 1) as emr:
        monkeypatch.setenv("AWS_ENDPOINT_URL", emr.endpoint)
        boto3.client("s3").create_bucket(Bucket=BUCKET)
        with pytest.raises(JobFailed, match=r"^Failing failed: Step 1 of 1 failed; "):
            run(tmp_path)


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        (
            "On the master instance (i-1), bootstrap action 1 returned a non-zero return code",
            "bootstrap-actions",
        ),
        ("Instance failure: insufficient capacity for m6g.xlarge", "more instance types"),
        ("", "look for the reason below s3://emr-test/logs/j-"),
    ],
)
def test_a_cluster_that_cannot_start_is_told_with_a_remedy(
    reason: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def end(emr: Emr, cluster: str, step: str, args: list[str]) -> int:
        uri = f"logs/{cluster}/node/i-1/bootstrap-actions/1/stderr"
        said = b"+ sudo python3.11 -m pip install\nERROR: No matching distribution found for ada-url>=4.0\n"
        boto3.client("s3").put_object(Bucket=BUCKET, Key=uri, Body=said)
        emr.end_cluster(emr.clusters[cluster], reason)
        return 1

    with emr_service(end) as emr:
        monkeypatch.setenv("AWS_ENDPOINT_URL", emr.endpoint)
        boto3.client("s3").create_bucket(Bucket=BUCKET)
        with pytest.raises(JobFailed) as caught:
            run(tmp_path)
    (cluster,) = emr.clusters
    message = str(caught.value)
    assert message.startswith(f"cluster {cluster} ended: {reason}") and told in message
    assert ("No matching distribution found" in message) == ("bootstrap" in reason)


@pytest.mark.parametrize(
    ("code", "message", "remedy"),
    [
        (
            "ValidationException",
            "Invalid InstanceProfile: crawlctl-nodes.",
            "set iam_service_role and iam_inst",
        ),
        (
            "ValidationException",
            "Service role crawlctl-service is invalid",
            "set iam_service_role and iam_inst",
        ),
        ("ValidationException", "The subnet subnet-1 was not found", "set subnet and the security groups"),
        ("ValidationException", "The supplied release label is invalid: emr-9.9.9.", "set release_label"),
        ("InvalidRequestException", "something else", "crawlctl emr plan"),
    ],
)
def test_what_emr_refuses_is_told_with_a_remedy(
    emr: Emr, tmp_path: Path, code: str, message: str, remedy: str
) -> None:
    emr.refusal = code, message
    with pytest.raises(ConfigError) as caught:
        run(tmp_path)
    told = str(caught.value)
    assert told.startswith(f"EMR in us-east-1: {message.rstrip('.')}") and remedy in told and "\n" not in told
    assert emr.clusters == {}


@pytest.mark.parametrize(
    ("code", "remedy"),
    [
        ("AccessDeniedException", "the policy OperatorPolicy of conf/emr-stack.yaml"),
        ("UnrecognizedClientException", "check AWS_ACCESS_KEY_ID"),
        ("ThrottlingException", "ask AWS to raise it"),
    ],
)
def test_what_moto_never_says_is_told_too(code: str, remedy: str) -> None:
    err = ClientError({"Error": {"Code": code, "Message": "No"}}, "AddJobFlowSteps")
    assert remedy in str(explained(err, "us-east-1"))


@pytest.mark.parametrize("option", ["cloud_tmp_dir", "cloud_log_dir"])
def test_a_misspelt_bucket_is_not_made(emr: Emr, tmp_path: Path, option: str) -> None:
    with pytest.raises(ConfigError, match=rf"no bucket emr-tets; create it by the stack .* correct {option}"):
        run(tmp_path, **{option: "s3://emr-tets/tmp/"})
    assert [found["Name"] for found in boto3.client("s3").list_buckets()["Buckets"]] == [BUCKET]
    assert emr.clusters == {}


@pytest.mark.parametrize("option", ["iam_service_role", "iam_instance_profile", "cloud_tmp_dir"])
def test_nothing_is_made_in_place_of_what_is_not_set(emr: Emr, tmp_path: Path, option: str) -> None:
    with pytest.raises(ConfigError, match=rf"the emr runner needs {option}; copy conf/emr.conf"):
        run(tmp_path, **{option: None})
    assert emr.clusters == {}


def test_placeholders_are_refused(tmp_path: Path) -> None:
    source = tmp_path / "lines"
    source.write_text("good\n")
    with pytest.raises(
        ConfigError, match="placeholders in cloud_log_dir, cloud_tmp_dir, extra_cluster_params"
    ):
        run_job(load_job("failing.Failing"), [source], settings=RunnerSettings(name="emr"))


def test_missing_credentials_are_told(emr: Emr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)  # which has kept those of the test before
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    with pytest.raises(
        StoreUnavailable, match=r"^AWS in us-east-1: .*no credentials were found; check AWS_ACC"
    ):
        run(tmp_path)
    assert emr.clusters == {}


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")  # of the call that was interrupted
def test_an_interrupt_cancels_the_steps_and_leaves_the_pooled_cluster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    begun, over = threading.Event(), threading.Event()

    def hang(emr: Emr, cluster: str, step: str, args: list[str]) -> int:
        begun.set()
        over.wait(30)
        return 0

    def interrupt() -> None:
        begun.wait(30)
        os.kill(os.getpid(), signal.SIGINT)

    with emr_service(hang) as emr:
        monkeypatch.setenv("AWS_ENDPOINT_URL", emr.endpoint)
        boto3.client("s3").create_bucket(Bucket=BUCKET)
        threading.Thread(target=interrupt).start()
        with pytest.raises(KeyboardInterrupt):
            run(tmp_path)
        over.set()
        (step,) = emr.steps()
        assert emr.cancelled == [step.id] and step.state == "CANCELLED"
        assert "TERMINATED" not in emr.states()
    assert "which ends when it has been idle" in caplog.text
    gc.collect()  # while the filter holds


def test_the_bootstrap_script_is_one_a_shell_can_read(
    emr: Emr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(EmrRunner, "_cleanup_cloud_tmp", lambda _self: None)
    run(tmp_path)
    (script,) = (key for key in keys("tmp/") if key.endswith("/b.sh"))
    text = boto3.client("s3").get_object(Bucket=BUCKET, Key=script)["Body"].read()
    assert b"sudo python3.11 -m pip install 'ada-url>=4.0'" in text
    subprocess.run(["sh", "-n"], input=text, check=True)


def test_the_user_hears_no_more_than_that_a_cluster_was_started(
    emr: Emr, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    run(tmp_path)
    told = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert len(told) == 1 and told[0].startswith("started cluster ")
