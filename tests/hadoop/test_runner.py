"""Single jobs on a real cluster: what is shipped, how often `hadoop` is called, what failures say."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from crawlctl.pipeline.runners.hadoop.files import WebHdfsFiles

if TYPE_CHECKING:
    from crawlctl.tests.hadoop.cluster import Cluster

pytestmark = [pytest.mark.integration, pytest.mark.hadoop, pytest.mark.timeout(600)]

JOBS = Path(__file__).parents[1] / "pipeline" / "runners" / "jobs"
DRIVER = """
import json, logging, sys
from importlib import import_module
from crawlctl.pipeline.config.settings import RunnerSettings
from crawlctl.pipeline.errors import JobFailed
from crawlctl.pipeline.runners.job import run_job
order = json.loads(sys.argv[1])
logging.basicConfig(filename=order["log"], level=logging.DEBUG)
sys.path.insert(0, order["jobs"])
job = getattr(import_module(order["module"]), order["class"])
settings = RunnerSettings(name="hadoop", packages=order["packages"], options=tuple(order["options"]))
try:
    done = run_job(job, [order["input"]], settings=settings, args=order["args"])
    print(json.dumps({"output": done.output}))
except JobFailed as err:
    print(json.dumps({"error": str(err), "traceback": err.task_traceback}))
"""
# Small and impatient, so that tests are soon over.
OPTIONS = ("mapreduce.map.memory.mb=512", "mapreduce.reduce.memory.mb=512", "mapreduce.map.maxattempts=2")


class Client:
    """Runs jobs as a user of the cluster does, each in a process of its own."""

    def __init__(self, folder: Path, cluster: Cluster, environment: dict[str, str]) -> None:
        self.folder, self.cluster = folder, cluster
        self.root = f"hdfs:///tests/{uuid.uuid4().hex}"
        self.calls, self.log = folder / "calls", folder / "log"
        program = folder / "hadoop"
        program.write_text(f'#!/bin/sh\necho "$1" >> {self.calls}\nexec {cluster.hadoop_bin} "$@"\n')
        program.chmod(0o755)
        self._environment = {**os.environ, **environment}
        self._options = ("--hadoop-bin", str(program), "--hadoop-streaming-jar", cluster.streaming_jar)

    def start(
        self, job: str, *args: str, text: str, jobconf: tuple[str, ...] = ()
    ) -> subprocess.Popen[bytes]:
        source = self.folder / "input.txt"
        source.write_text(text)
        switches = [word for setting in (*OPTIONS, *jobconf) for word in ("--jobconf", setting)]
        module, _, name = job.partition(".")
        order = {
            "jobs": str(JOBS),
            "module": module,
            "class": name,
            "input": str(source),
            "args": args,
            "log": str(self.log),
            "packages": f"{self.root}/packages",
            "options": [*self._options, "--hadoop-tmp-dir", f"{self.root}/tmp", *switches],
        }
        command = [sys.executable, "-c", DRIVER, json.dumps(order)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, env=self._environment)

    def run(self, job: str, *args: str, text: str, jobconf: tuple[str, ...] = ()) -> Any:
        self.calls.write_text("")
        process = self.start(job, *args, text=text, jobconf=jobconf)
        told, _ = process.communicate()
        assert process.returncode == 0, self.log.read_text()[-5000:]
        return json.loads(told)

    def application(self) -> Any:
        """Return what YARN knows of the application submitted last, once there is one."""
        found = [word for word in self.log.read_text().split() if word.startswith("application_")]
        if not found:
            return None
        with urllib.request.urlopen(f"{self.cluster.yarn}/ws/v1/cluster/apps/{found[-1]}") as answer:
            return json.loads(answer.read())["app"]


@pytest.fixture
def user(tmp_path: Path, hadoop: Cluster, client: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Client:
    monkeypatch.setenv("HADOOP_CONF_DIR", hadoop.conf_dir)
    return Client(tmp_path, hadoop, client)


def test_a_job_needs_one_java_a_step_and_is_shipped_once(user: Client) -> None:
    files = WebHdfsFiles()
    text = "to be or not to be\n"
    expected = {"output": [[1, ["not", "or"]], [2, ["be", "to"]]]}
    assert user.run("word_count.WordCount", text=text) == expected
    packages = files.files(f"{user.root}/packages")
    assert [Path(entry.path).suffix for entry in packages] == [".zip", ".gz"]
    assert user.run("word_count.WordCount", text=text) == expected
    assert user.calls.read_text().split() == ["jar", "jar"]
    assert set(packages) <= set(files.files(f"{user.root}/packages"))  # neither was put again
    assert files.files(f"{user.root}/tmp") == []


def test_what_a_task_raised_is_told_and_not_what_java_made_of_it(user: Client) -> None:
    told = user.run("failing.Failing", "--how", "corrupt", text="bad\n")
    assert (
        "mapper 0 in step 1 of 1 raised crawlctl.pipeline.errors.CorruptFile: part-1: damaged"
        in told["error"]
    )
    assert "(container_" in told["error"]
    assert "self.fail()" in told["traceback"] and "java" not in told["traceback"]


def test_a_task_that_is_killed_and_a_queue_that_is_not_there_are_told(user: Client) -> None:
    killed = user.run("failing.Failing", "--how", "kill", text="bad\n")
    assert "was killed (attempt_" in killed["error"] and "mapreduce.map.memory.mb" in killed["error"]
    refused = user.run("word_count.WordCount", text="a\n", jobconf=("mapreduce.job.queuename=nowhere",))
    assert "unknown queue: nowhere; correct jobconf" in refused["error"]
    assert "Exception" not in refused["error"]


def test_a_driver_that_is_stopped_stops_its_application(user: Client) -> None:
    process = user.start("word_count.WordCount", text="a\n")
    deadline = time.monotonic() + 120
    while not (user.log.exists() and (user.application() or {}).get("state") == "RUNNING"):
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.2)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 128 + signal.SIGTERM
    process.communicate()
    assert user.application()["finalStatus"] == "KILLED"
    assert WebHdfsFiles().files(f"{user.root}/tmp") == []


def test_files_of_hdfs_are_handled_over_http(user: Client, tmp_path: Path) -> None:
    files, folder = WebHdfsFiles(), f"{user.root}/some folder"
    assert files.can_handle_path(folder)
    assert not files.can_handle_path(f"{folder}/*") and not files.can_handle_path("s3://bucket/key")
    assert not files.exists(folder)
    files.mkdir(f"{folder}/below")
    for name, content in (("part-1", b"one\n"), ("part-0", b"zero\n"), ("part-2", b""), ("_SUCCESS", b"")):
        (tmp_path / name).write_bytes(content)
        files.put(str(tmp_path / name), f"{folder}/{name}")
    assert files.exists(folder) and files.exists(f"{folder}/part-0")
    assert [uri.removeprefix(folder) for uri in files.ls(folder)] == [
        "/_SUCCESS",
        "/part-0",
        "/part-1",
        "/part-2",
    ]
    assert list(files.ls(f"{folder}/part-0")) == [f"{folder}/part-0"]
    assert list(files.read_all(folder, "part-")) == [b"zero\n", b"one\n"]
    assert b"".join(files.cat(f"{folder}/part-1")) == b"one\n"
    assert files.du(folder) == 9
    files.rm(folder)
    files.rm(folder)
    assert not files.exists(folder) and list(files.ls(folder)) == []
    with pytest.raises(OSError, match="part-0"):
        files.put(str(tmp_path / "part-0"), f"hdfs:///{uuid.uuid4().hex}\0/part-0")
