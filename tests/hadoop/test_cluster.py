"""What the test cluster does when it cannot start, and that it ends no process but its own."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

from crawlctl.tests.hadoop import cluster
from crawlctl.tests.hadoop.daemons import Daemon, is_running, launch, stop
from crawlctl.tests.hadoop.sites import PORTS, free_ports, write_conf

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SLEEP = "import sys, time; print('ready', flush=True); time.sleep(600)"


def daemon(program: str, mark: str) -> Daemon:
    return Daemon("sleeper", (sys.executable, "-c", program, mark), mark)


@pytest.fixture
def sleeper(tmp_path: Path) -> Iterator[int]:
    pid = launch(daemon(SLEEP, "mine"), tmp_path / "log", {})
    yield pid
    stop({"sleeper": pid}, "mine")


def test_a_daemon_is_stopped_by_its_mark_and_not_by_its_number_alone(sleeper: int) -> None:
    stop({"sleeper": sleeper}, "somebody else's")
    assert is_running(sleeper, "mine")
    stop({"sleeper": sleeper}, "mine")
    assert not is_running(sleeper, "mine")


def test_a_start_that_fails_shows_the_end_of_the_log_and_leaves_nothing_running(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[int] = []

    def keep(one: Daemon, log: Path, env: dict[str, str]) -> int:
        started.append(launch(one, log, env))
        return started[-1]

    home = tmp_path / "hadoop"
    mark = str(home / "state")
    daemons = [daemon(SLEEP, mark), Daemon("broken", (sys.executable, "-c", "exit('no port')", mark), mark)]
    monkeypatch.setattr(cluster, "HOME", home)
    monkeypatch.setattr(cluster, "_java_home", lambda: "java")
    monkeypatch.setattr(cluster, "_format", lambda *_: None)
    monkeypatch.setattr(cluster, "_daemons", lambda *_: daemons)
    monkeypatch.setattr(cluster, "launch", keep)
    with pytest.raises(cluster.ClusterError, match="broken died; the end of its log:\nno port"):
        cluster.start()
    assert len(started) == 2 and not any(is_running(pid, mark) for pid in started)
    assert not (home / "cluster.json").exists()
    assert cluster.current(home) is None


def test_the_program_hadoop_names_what_it_can_do(tmp_path: Path) -> None:
    script = tmp_path / "hadoop"
    script.write_text(cluster.HADOOP_SCRIPT)
    told = subprocess.run(["sh", str(script)], capture_output=True, text=True, check=False)
    assert told.returncode == 1
    assert told.stderr == "usage: hadoop fs|jar|version|CLASS …\n"


def test_everything_listens_on_loopback_and_on_ports_of_its_own(tmp_path: Path) -> None:
    ports = free_ports()
    write_conf(tmp_path / "conf", tmp_path / "state", tmp_path / "lib", ports)
    assert len(set(ports.values())) == len(PORTS)
    addresses = [
        value.text or ""
        for site in sorted((tmp_path / "conf").glob("*-site.xml"))
        for value in ElementTree.parse(site).iterfind(".//value")
        if (value.text or "").rpartition(":")[2].isdigit() and ":" in (value.text or "")
    ]
    assert {int(address.rpartition(":")[2]) for address in addresses} == set(ports.values())
    assert all("127.0.0.1:" in address for address in addresses)
