"""Steps run as EMR runs them: the very command line of the step by Hadoop's streaming, with s3:// on S3A."""

from __future__ import annotations

import gzip
import os
import re
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from crawlctl.tests.hadoop.cluster import Cluster
    from crawlctl.tests.pipeline.runners.emr.service import Emr

SUBMITTED = re.compile(r"Submitted application (application_\d+_\d+)")
LOOKS = 30  # each a JVM of some seconds
LOGS_CLIENT = "org.apache.hadoop.yarn.client.cli.LogsCLI"


@dataclass
class HadoopSteps:
    """Runs steps on a cluster, and leaves logs on S3 where EMR leaves them."""

    hadoop: Cluster
    s3: Any  # a client for the S3 of the cluster
    run: list[list[str]] = field(default_factory=list)  # the arguments of the steps so far

    def __call__(self, emr: Emr, cluster: str, step: str, args: list[str]) -> int:
        """Run one step to its end, or until it is cancelled."""
        if args[0] != "hadoop-streaming":
            raise AssertionError(f"no streaming step: {args}")
        self.run.append(args)
        described = next(one for one in emr.clusters[cluster].steps if one.id == step)
        with tempfile.TemporaryFile() as stderr:
            client = self._start(["jar", self.hadoop.streaming_jar, *args[1:]], stderr)
            while True:
                try:
                    code = client.wait(0.2)
                    break
                except subprocess.TimeoutExpired:
                    if described.state == "CANCELLED":
                        client.send_signal(signal.SIGINT)  # what SEND_INTERRUPT is said to do
            stderr.seek(0)
            told = stderr.read()
        logs = f"{emr.clusters[cluster].log_uri}{cluster}/"
        self._put(f"{logs}steps/{step}/stderr.gz", told)
        if code:
            self._put_container_logs(logs, told.decode(errors="replace"))
        return code

    def _start(self, arguments: list[str], stderr: Any) -> subprocess.Popen[bytes]:
        """Start `hadoop` as on the master of a cluster, which has nothing of the driver's environment."""
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "CRAWLCTL_"))
        }
        return subprocess.Popen(
            [self.hadoop.hadoop_bin, *arguments],
            env={**kept, **self.hadoop.environment()},
            stdout=subprocess.DEVNULL,
            stderr=stderr,
        )

    def _put_container_logs(self, logs: str, told: str) -> None:
        for application in SUBMITTED.findall(told):
            with tempfile.TemporaryDirectory() as folder:
                # One file a container, in which each of its logs has a heading.
                for container in self._container_logs(application, Path(folder)):
                    for name, text in logs_in(container.read_text(errors="replace")).items():
                        self._put(f"{logs}containers/{application}/{container.name}/{name}.gz", text.encode())

    def _container_logs(self, application: str, folder: Path) -> list[Path]:
        """Ask for the logs until they are gathered, which YARN does some time after the application's end."""
        for _ in range(LOOKS):
            self._start([LOGS_CLIENT, "-applicationId", application, "-out", str(folder)], None).wait()
            if found := [path for path in folder.rglob("container_*") if path.stat().st_size]:
                return found
            time.sleep(1)
        raise AssertionError(f"YARN has no logs of {application}")

    def _put(self, uri: str, data: bytes) -> None:
        bucket, _, key = uri.removeprefix("s3://").partition("/")
        self.s3.put_object(Bucket=bucket, Key=key, Body=gzip.compress(data))


def logs_in(text: str) -> dict[str, str]:
    """Return the logs of a container by their names, from how YARN's client prints them."""
    found = re.findall(
        r"^LogType:(\w+)\n.*?^LogContents:\n(.*?)\nEnd of LogType:\1", text, re.DOTALL | re.MULTILINE
    )
    return dict(found)
