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

from crawlctl.pipeline.config.runner import RunnerSettings
from crawlctl.pipeline.errors import JobFailed
from crawlctl.pipeline.run.runner import run_job

if TYPE_CHECKING:
    from collections.abc import Callable

    Load = Callable[[str], Any]

FAKE = Path(__file__).parent / "jobs" / "fake_hadoop.sh"
DRIVER = """
import logging, sys
from crawlctl.pipeline.run.runner import run_job
from crawlctl.pipeline.config.runner import RunnerSettings
log, jobs, source, *options = sys.argv[1:]
logging.basicConfig(filename=log, level=logging.DEBUG)
sys.path.insert(0, jobs)
from word_count import WordCount
run_job(WordCount, [source], settings=RunnerSettings(name="hadoop", options=tuple(options)))
"""


class Cluster:
    """A folder in which the stand-in notes how it was called."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.source = folder / "input.txt"
        self.source.write_text("two one two\n")
        (folder / "put").mkdir()
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
    monkeypatch.setenv("FAKE_HADOOP", "work")
    return Cluster(tmp_path)


def run(cluster: Cluster, job_class: Any, **more: Any) -> Any:
    settings = RunnerSettings(name="hadoop", options=cluster.options, **more)
    return run_job(job_class, [cluster.source], settings=settings)


def test_the_streaming_steps_ship_the_package_and_run_the_job(
    cluster: Cluster, job: Load, cache: Path
) -> None:
    run(cluster, job("word_count.WordCount"), task_env={"CRAWLCTL_TEST": "yes"})
    first, second = cluster.streaming()
    (zipped,) = cache.iterdir()
    shipped = {entry.rpartition("#")[2] for entry in first["-files"][0].split(",")}
    assert shipped == {"word_count.py", "setup-wrapper.sh", zipped.name}
    assert first["-mapper"] == ["/bin/sh -ex setup-wrapper.sh python3.11 word_count.py --step-num=0 --mapper"]
    assert first["-combiner"][0].endswith("--step-num=0 --combiner")
    assert second["-mapper"] == ["cat"]
    assert second["-reducer"][0].endswith("--step-num=1 --reducer")
    assert first["-output"] == second["-input"]
    for step in (first, second):
        assert {"mapreduce.map.speculative=false", "mapreduce.reduce.speculative=false"} <= set(step["-D"])
        assert step["-cmdenv"] == ["CRAWLCTL_TEST=yes"]
        assert step["-output"][0].startswith("hdfs:///tmp/crawlctl/word_count.")


def test_the_input_and_the_zip_are_put_on_the_cluster_and_removed(cluster: Cluster, job: Load) -> None:
    run(cluster, job("word_count.WordCount"))
    put = [Path(call[1]).name for call in cluster.calls("fs") if call[0] == "-put"]
    assert "input.txt" in put and "setup-wrapper.sh" in put
    assert any(re.fullmatch(r"crawlctl-[0-9a-f]{32}\.zip", name) for name in put)
    assert "mrjob.zip" not in put
    assert cluster.calls("fs")[-1][:4] == ["-rm", "-R", "-f", "-skipTrash"]


def test_the_wrapper_puts_the_package_on_the_path_of_the_task(cluster: Cluster, job: Load) -> None:
    run(cluster, job("word_count.WordCount"))
    script = (cluster.folder / "put" / "setup-wrapper.sh").read_text()
    assert re.search(r"export PYTHONPATH=\$__mrjob_PWD/crawlctl-[0-9a-f]{32}\.zip:\$PYTHONPATH", script)


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


def test_the_python_of_the_settings_runs_the_tasks(cluster: Cluster, job: Load) -> None:
    run(cluster, job("word_count.WordCount"), python_bin="env/bin/python")
    assert " env/bin/python word_count.py " in cluster.streaming()[0]["-mapper"][0]


def test_a_failed_step_tells_what_the_client_told(
    cluster: Cluster, job: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_HADOOP", "fail")
    with pytest.raises(JobFailed, match=r"^WordCount failed: .*; see its traceback with --verbose") as caught:
        run(cluster, job("word_count.WordCount"))
    assert "\n" not in str(caught.value)
    assert "application_1763000000000_0007" in caught.value.task_traceback
    assert cluster.calls("fs")[-1][0] == "-rm"


def test_a_machine_without_hadoop_is_told_where_to_look(cluster: Cluster, job: Load, tmp_path: Path) -> None:
    cluster.options = ("--hadoop-bin", str(tmp_path / "no-hadoop"))
    with pytest.raises(JobFailed, match=r"could not be run on the hadoop runner: .*no-hadoop.*hadoop\.conf"):
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
