"""Steps run on this machine without Hadoop: one mapper, one reducer, files from S3 in a folder."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import boto3

if TYPE_CHECKING:
    from crawlctl.tests.pipeline.runners.emr.service import Emr

APPLICATION = "application_1763000000000_0007"
CONTAINER = "container_1763000000000_0007_01_000002"
CLIENT_LOG = f"""\
26/11/16 10:00:00 INFO impl.YarnClientImpl: Submitted application {APPLICATION}
26/11/16 10:00:00 INFO mapreduce.Job: Running job: job_1763000000000_0007
"""
FAILED_LOG = """\
26/11/16 10:00:09 INFO mapreduce.Job: Task Id : attempt_1763000000000_0007_m_000000_0, Status : FAILED
Error: java.lang.RuntimeException: PipeMapRed.waitOutputThreads(): subprocess failed with code 1
26/11/16 10:00:10 ERROR streaming.StreamJob: Job not successful!
Streaming Command Failed!
"""
TASK_LOG = """\
2026-11-16 10:00:08,123 WARN [main] org.apache.hadoop.mapred.YarnChild: Exception running child : \
java.lang.RuntimeException: PipeMapRed.waitOutputThreads(): subprocess failed with code 1
\tat org.apache.hadoop.streaming.PipeMapRed.waitOutputThreads(PipeMapRed.java:326)
"""


def run_step(emr: Emr, cluster: str, step: str, args: list[str]) -> int:
    """Run a streaming step and leave what EMR leaves: its output, and logs when it fails."""
    if args[0] != "hadoop-streaming":
        raise AssertionError(f"no streaming step: {args}")
    options = defaultdict(list)
    for switch, value in zip(args[1::2], args[2::2], strict=True):
        options[switch].append(value)
    with tempfile.TemporaryDirectory() as folder:
        task = Path(folder)
        for uri, _, name in (entry.partition("#") for entry in options["-files"][0].split(",")):
            (task / name).write_bytes(_get(uri))
        output, error = _run(task, options)
    log_uri = emr.clusters[cluster].log_uri
    if error is None:
        _put(f"{options['-output'][0].rstrip('/')}/part-00000", output)
        return 0
    _put(f"{log_uri}{cluster}/steps/{step}/syslog", (CLIENT_LOG + FAILED_LOG).encode())
    container = f"{log_uri}{cluster}/containers/{APPLICATION}/{CONTAINER}"
    _put(f"{container}/stderr", error)
    _put(f"{container}/syslog", TASK_LOG.encode())
    return 1


def _run(task: Path, options: dict[str, list[str]]) -> tuple[bytes, bytes | None]:
    data = b"".join(_get(uri) for uri in options["-input"])
    env = dict(os.environ)
    for setting in (*options["-cmdenv"], *options["-D"]):
        name, _, value = setting.partition("=")
        env[name.replace(".", "_")] = value
    for command in (*options["-mapper"], *options["-reducer"]):
        if command == "NONE":
            continue
        done = subprocess.run(
            shlex.split(command), input=data, cwd=task, env=env, capture_output=True, check=False
        )
        if done.returncode:
            return b"", done.stderr
        data = b"".join(sorted(done.stdout.splitlines(keepends=True)))
    return data, None


def _get(uri: str) -> bytes:
    bucket, _, key = uri.removeprefix("s3://").partition("/")
    body: bytes = boto3.client("s3").get_object(Bucket=bucket, Key=key)["Body"].read()
    return body


def _put(uri: str, data: bytes) -> None:
    bucket, _, key = uri.removeprefix("s3://").partition("/")
    boto3.client("s3").put_object(Bucket=bucket, Key=key, Body=data)
