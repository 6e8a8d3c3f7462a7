from __future__ import annotations

import shlex
from configparser import ConfigParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

import crawlctl
from crawlctl.pipeline.config.settings import RUNNER_NAMES, RunnerSettings
from crawlctl.pipeline.mrjob_light import light_imports
from crawlctl.pipeline.processes.cores import usable_cores
from crawlctl.pipeline.runners.switches import input_argument, runner_switches

pytestmark = pytest.mark.slow

with light_imports():
    from mrjob.emr import EMRJobRunner
    from mrjob.hadoop import HadoopJobRunner
    from mrjob.local import LocalMRJobRunner

NODES = {"python_version": "3.11"}  # of EMR
SERVING = {"httptools", "jinja2", "starlette", "uvicorn", "uvloop"}  # nodes serve no search page
CONF = Path(crawlctl.__file__).parent / "conf"
RUNNERS = {"local": LocalMRJobRunner, "hadoop": HadoopJobRunner, "emr": EMRJobRunner}


def pairs(switches: list[str]) -> set[tuple[str, str]]:
    return set(pairwise(switches))


@pytest.mark.parametrize("name", RUNNER_NAMES)
def test_the_users_mrjob_conf_is_never_looked_for(name: Any, tmp_path: Path) -> None:
    switches = runner_switches(RunnerSettings(name=name), None, tmp_path)
    assert ("--no-conf" in switches) != ("--conf-path" in switches)


@pytest.mark.parametrize("name", RUNNERS)
def test_our_conf_files_name_only_options_their_runner_has(name: str) -> None:
    conf = yaml.safe_load((CONF / f"{name}.conf").read_text())
    assert list(conf["runners"]) == [name]
    assert set(conf["runners"][name]) <= RUNNERS[name].OPT_NAMES


def test_the_nodes_of_emr_get_what_setup_cfg_requires() -> None:
    setup = ConfigParser()
    if not setup.read(CONF.parent / "setup.cfg"):
        pytest.skip("setup.cfg is in a checkout only")
    lines = [line for line in setup["options"]["install_requires"].split("\n") if line]
    required = [
        need
        for need in map(Requirement, lines)
        if need.name not in SERVING and (need.marker is None or need.marker.evaluate(NODES))
    ]
    bootstrap = yaml.safe_load((CONF / "emr.conf").read_text())["runners"]["emr"]["bootstrap"]
    written = {(need.name, need.specifier) for need in map(Requirement, shlex.split(bootstrap[-1])[5:])}
    assert written == {(need.name, need.specifier) for need in required}


def test_workers_of_the_call_come_before_those_of_the_settings(tmp_path: Path) -> None:
    def cores(settings: RunnerSettings, workers: int | None) -> str:
        switches = runner_switches(settings, workers, tmp_path)
        return switches[switches.index("--num-cores") + 1]

    assert cores(RunnerSettings(workers=3), 9) == "9"
    assert cores(RunnerSettings(workers=3), None) == "3"
    assert cores(RunnerSettings(), None) == str(usable_cores())
    assert "--num-cores" not in runner_switches(RunnerSettings(name="emr", workers=3), 9, tmp_path)


def test_other_interpreters_get_the_package_beside_the_task_without_a_script_around_it(
    tmp_path: Path,
) -> None:
    for name in RUNNER_NAMES:
        switches = runner_switches(RunnerSettings(name=name, python_bin="py"), None, tmp_path)  # type: ignore[arg-type]
        elsewhere = name not in ("inline", "forked")
        assert (("--python-bin", "py") in pairs(switches)) == elsewhere
        assert any(switch.endswith(".zip#crawlctl.zip") for switch in switches) == (name in ("local", "emr"))
        has_path = ("--cmdenv", "PYTHONPATH=crawlctl.zip") in pairs(switches)
        assert has_path == (name in ("local", "emr", "hadoop"))
        assert ("--py-files" in switches) == (name == "spark")


def test_the_users_python_path_comes_after_the_package(tmp_path: Path) -> None:
    settings = RunnerSettings(name="local", task_env={"PYTHONPATH": "more:paths"})
    assert ("--cmdenv", "PYTHONPATH=crawlctl.zip:more:paths") in pairs(
        runner_switches(settings, None, tmp_path)
    )


def test_the_package_for_emr_is_named_where_packages_are_kept(tmp_path: Path) -> None:
    folder = tmp_path / "packages"
    settings = RunnerSettings(name="emr", packages=str(folder))
    switches = runner_switches(settings, None, tmp_path)
    (package,) = folder.iterdir()
    assert ("--files", f"{package}#crawlctl.zip") in pairs(switches)
    written = package.stat().st_mtime_ns
    assert runner_switches(settings, None, tmp_path) == switches
    assert package.stat().st_mtime_ns == written


def test_local_tasks_buffer_their_output_whatever_the_shell_says(tmp_path: Path) -> None:
    local = runner_switches(RunnerSettings(name="local"), None, tmp_path)
    own = runner_switches(
        RunnerSettings(name="local", task_env={"PYTHONUNBUFFERED": "1", "A": "b=c"}), None, tmp_path
    )
    assert ("--cmdenv", "PYTHONUNBUFFERED=") in pairs(local)
    assert {("--cmdenv", "PYTHONUNBUFFERED=1"), ("--cmdenv", "A=b=c")} <= pairs(own)


def test_further_options_come_last_and_so_have_the_last_word(tmp_path: Path) -> None:
    settings = RunnerSettings(name="hadoop", options=("--hadoop-bin", "/opt/hadoop"))
    assert runner_switches(settings, None, tmp_path)[-2:] == ["--hadoop-bin", "/opt/hadoop"]


def test_inputs_are_uris_or_absolute_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert input_argument("s3://bucket/key") == "s3://bucket/key"
    assert input_argument("-r") == str(tmp_path / "-r")
    assert input_argument(Path("a")) == str(tmp_path / "a")
