"""What we ask of a cluster, seen through a stand-in for the program `hadoop`."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from crawlctl.pipeline.config.settings import RunnerSettings
from crawlctl.pipeline.errors import ConfigError, JobFailed
from crawlctl.pipeline.runners.hadoop import failures as hadoop_failures
from crawlctl.pipeline.runners.hadoop import runner as hadoop
from crawlctl.pipeline.runners.job import run_job

if TYPE_CHECKING:
    from collections.abc import Callable

    Load = Callable[[str], Any]

pytestmark = pytest.mark.slow

FAKE = Path(__file__).parents[1] / "jobs" / "fake_hadoop.sh"
# Where nohup has SIGHUP ignored, a real client ends with its application; the stand-in knows of none.
DRIVER = """
import logging, signal, sys
signal.signal(signal.SIGHUP, signal.SIG_DFL)
from crawlctl.pipeline.runners.job import run_job
from crawlctl.pipeline.config.settings import RunnerSettings
log, jobs, source, *options = sys.argv[1:]
logging.basicConfig(filename=log, level=logging.DEBUG)
sys.path.insert(0, jobs)
from word_count import WordCount
settings = RunnerSettings(name="hadoop", python_bin="python3.11", options=tuple(options))
run_job(WordCount, [source], settings=settings)
"""


class Cluster:
    """A folder in which the stand-in notes how it was called."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.source = folder / "input.txt"
        self.source.write_text("two one two\n")
        (folder / "put").mkdir()
        (folder / "logs").touch()
        jar = folder / "hadoop-streaming-3.4.2.jar"
        jar.touch()
        self.options: tuple[str, ...] = (
            "--hadoop-bin",
            f"sh {FAKE} {folder}",
            "--hadoop-streaming-jar",
            str(jar),
        )

    def calls(self, program: str) -> list[list[str]]:
        calls = [line.split("\x1f")[:-1] for line in (self.folder / "calls").read_text().split("\n")[:-1]]
        return [call[1:] for call in calls if call[0] == program]

    def streaming(self) -> list[dict[str, list[str]]]:
        """The switches of each streaming step with their values."""
        steps = []
        for call in self.calls("jar"):
            step: dict[str, list[str]] = {}
            for switch, value in zip(call[1::2], call[2::2], strict=True):
                step.setdefault(switch, []).append(value)
            steps.append(step)
        return steps


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cluster:
    for name in ("HADOOP_CONF_DIR", "HADOOP_HOME", "CRAWLCTL_WEBHDFS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HADOOP_USER_NAME", "someone")
    monkeypatch.setenv("FAKE_HADOOP", "work")
    monkeypatch.setattr(hadoop_failures, "LOGS_PAUSE", 0)
    return Cluster(tmp_path)


def run(cluster: Cluster, job_class: Any, python_bin: str | None = "python3.11", **more: Any) -> Any:
    settings = RunnerSettings(name="hadoop", options=cluster.options, python_bin=python_bin, **more)
    return run_job(job_class, [cluster.source], settings=settings)


def test_the_streaming_steps_ship_the_package_and_run_the_job(
    cluster: Cluster, job: Load, cache: Path
) -> None:
    run(cluster, job("word_count.WordCount"), task_env={"CRAWLCTL_TEST": "yes", "PYTHONPATH": "more"})
    first, second = cluster.streaming()
    (zipped,) = cache.iterdir()
    uri = f"hdfs:///user/someone/.crawlctl/packages/{zipped.name}#crawlctl.zip"
    shipped = first["-files"][0].split(",")
    assert uri in shipped and len(shipped) == 2
    assert first["-mapper"] == ["python3.11 word_count.py --step-num=0 --mapper"]
    assert first["-combiner"][0].endswith("--step-num=0 --combiner")
    assert second["-mapper"] == ["cat"]
    assert second["-reducer"][0].endswith("--step-num=1 --reducer")
    assert first["-output"] == second["-input"]
    for step in (first, second):
        assert {"mapreduce.map.speculative=false", "mapreduce.reduce.speculative=false"} <= set(step["-D"])
        assert step["-cmdenv"] == ["CRAWLCTL_TEST=yes", "PYTHONPATH=crawlctl.zip:more"]
        assert step["-output"][0].startswith("hdfs:///user/someone/tmp/crawlctl/word_count.")
        assert "-archives" not in step


def test_the_package_is_put_on_the_cluster_once(
    cluster: Cluster, job: Load, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(2):
        run(cluster, job("word_count.WordCount"), packages="hdfs://other/apps/crawlctl")
    put = [call[2] for call in cluster.calls("fs") if call[0] == "-put" and call[1].endswith(".zip")]
    assert len(put) == 1
    assert re.fullmatch(r"hdfs://other/apps/crawlctl/crawlctl-[0-9a-f]{32}\.zip", put[0])
    assert [record.getMessage().partition(" MB to ")[2] for record in caplog.records] == [
        f"{put[0]}, where later jobs find it"
    ]


def test_a_folder_of_this_machine_is_no_place_for_nodes_to_look(cluster: Cluster, job: Load) -> None:
    with pytest.raises(ConfigError, match=r"the nodes cannot read /apps; set runner\.packages to hdfs:"):
        run(cluster, job("word_count.WordCount"), packages="/apps")


def test_the_environment_goes_too_where_no_python_of_the_nodes_is_named(
    cluster: Cluster, job: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = cluster.folder / "environment-1.tar.gz"
    packed.write_bytes(b"packed")
    monkeypatch.setattr(hadoop, "environment_archive", lambda _: packed)
    for _ in range(2):
        run(cluster, job("word_count.WordCount"), python_bin=None)
    uri = "hdfs:///user/someone/.crawlctl/packages/environment-1.tar.gz"
    step = cluster.streaming()[0]
    assert step["-archives"] == [f"{uri}#env"]
    assert step["-mapper"] == ["env/bin/python word_count.py --step-num=0 --mapper"]
    assert [call[2] for call in cluster.calls("fs") if call[1:2] == [str(packed)]] == [uri]


def test_the_input_is_put_on_the_cluster_and_removed(cluster: Cluster, job: Load) -> None:
    run(cluster, job("word_count.WordCount"))
    put = [Path(call[2]).name for call in cluster.calls("fs") if call[0] == "-put"]
    assert len(put) == 3 and {"input.txt", "word_count.py"} < set(put)
    assert cluster.calls("fs")[-1][:4] == ["-rm", "-R", "-f", "-skipTrash"]


def test_no_lock_is_left_behind_on_a_machine_of_the_cluster(cluster: Cluster, job: Load) -> None:
    run(cluster, job("word_count.WordCount"))
    assert not any(path.suffix == ".sh" for path in (cluster.folder / "put").iterdir())


def test_a_line_is_a_task_on_hadoop_by_its_own_input_format(cluster: Cluster, job: Load) -> None:
    run(cluster, job("line_a_task.LineATask"))
    (step,) = cluster.streaming()
    assert step["-inputformat"] == ["org.apache.hadoop.mapred.lib.NLineInputFormat"]
    assert {"stream.map.input.ignoreKey=true", "mapreduce.job.reduces=0"} <= set(step["-D"])


def test_output_is_read_in_one_call_and_counters_from_the_client(cluster: Cluster, job: Load) -> None:
    result = run(cluster, job("word_count.WordCount"))
    (cat,) = [call for call in cluster.calls("fs") if call[0] == "-cat"]
    assert cat[1] == cluster.streaming()[-1]["-output"][0] + "/part-*"
    assert result.output == ((1, ["two"]), (2, ["one"]))
    assert result.counters.get("words", "lines") == 4  # two in each step
    assert result.counters.get("Map-Reduce Framework", "Map input records") == 4


def test_a_job_that_hadoop_gives_up_tells_what_the_client_told(
    cluster: Cluster, job: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_HADOOP", "fail")
    with pytest.raises(JobFailed, match=r"^WordCount failed: .*; see its traceback with --verbose") as caught:
        run(cluster, job("word_count.WordCount"))
    assert "\n" not in str(caught.value)
    assert "application_1763000000000_0007" in caught.value.task_traceback
    assert cluster.calls("fs")[-1][0] == "-rm"


def test_a_queue_that_is_not_there_is_named_without_java(
    cluster: Cluster, job: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_HADOOP", "refuse")
    refusal = "org.apache.hadoop.yarn.exceptions.YarnException: submitted by user x to unknown queue: nope"
    (cluster.folder / "refusal").write_text(refusal)
    with pytest.raises(
        JobFailed, match=r"^WordCount was given up by Hadoop: submitted by .* queue: nope; correct jobconf"
    ):
        run(cluster, job("word_count.WordCount"))


def test_a_task_that_raised_is_told_with_its_traceback(
    cluster: Cluster, job: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_HADOOP", "raise")
    (cluster.folder / "error").write_text(
        "Error: java.lang.RuntimeException: subprocess failed with code 1\n"
    )
    (cluster.folder / "logs").write_text(
        "Container: container_1_0007_01_000004 on node-1_8041\nLogType:stderr\nLogContents:\n"
        "Traceback (most recent call last):\n  File\nValueError: a bad line\n\nEnd of LogType:stderr\n"
    )
    with pytest.raises(JobFailed) as caught:
        run(cluster, job("word_count.WordCount"))
    assert str(caught.value).startswith(
        "WordCount failed: reducer 3 in step 1 of 2 raised ValueError: a bad line "
        "(container_1_0007_01_000004 on node-1); see its traceback"
    )
    assert (
        caught.value.task_traceback == "Traceback (most recent call last):\n  File\nValueError: a bad line\n"
    )
    (call,) = cluster.calls("org.apache.hadoop.yarn.client.cli.LogsCLI")
    assert call == ["-applicationId", "application_1763000000000_0007", "-log_files", "stderr"]


def test_a_machine_without_hadoop_is_told_where_to_look(cluster: Cluster, job: Load, tmp_path: Path) -> None:
    cluster.options = ("--hadoop-bin", str(tmp_path / "no-hadoop"))
    with pytest.raises(ConfigError, match=r"there is no program .*no-hadoop; install .* hadoop_bin"):
        run(cluster, job("word_count.WordCount"))


@pytest.mark.parametrize(("number", "exit_code"), [(signal.SIGINT, -signal.SIGINT), (signal.SIGTERM, 143)])
def test_an_interrupt_kills_the_application_on_the_cluster(
    cluster: Cluster, number: signal.Signals, exit_code: int, watch: Any
) -> None:
    log = cluster.folder / "log"
    log.touch()
    command = [sys.executable, "-c", DRIVER, str(log), str(FAKE.parent), str(cluster.source)]
    env = {**os.environ, "FAKE_HADOOP": "hang"}
    driver = subprocess.Popen([*command, *cluster.options], env=env, stderr=subprocess.DEVNULL)
    try:
        watch.until(lambda: "Submitted application" in log.read_text())
        watch.until((cluster.folder / "client").exists)
        client = int((cluster.folder / "client").read_text())
        driver.send_signal(number)
        assert driver.wait(timeout=30) == exit_code
    finally:
        driver.kill()
        driver.wait()
    kills = cluster.calls("org.apache.hadoop.yarn.client.cli.ApplicationCLI")
    assert kills == [["application", "-kill", "application_1763000000000_0007"]]
    watch.until(lambda: not watch.is_alive(client))
