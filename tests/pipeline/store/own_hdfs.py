"""An HDFS for one module of tests, which may be stopped, started and troubled without harm to other tests."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from typing import TYPE_CHECKING

import requests

from crawlctl.tests.hadoop.cluster import HOME, JAVA_17, NAMENODE, SERVER
from crawlctl.tests.hadoop.daemons import Daemon, end_of, is_running, launch, stop
from crawlctl.tests.hadoop.sites import HOST, free_ports, write_conf

if TYPE_CHECKING:
    from pathlib import Path

MAINS = {"namenode": NAMENODE, "datanode": SERVER.format("hdfs.server.datanode.DataNode")}
ADMIN = SERVER.format("hdfs.tools.DFSAdmin")
READY_SECONDS = 180


class OwnHdfs:
    """A namenode and a datanode that heed permissions."""

    def __init__(self, folder: Path, java_home: str) -> None:
        self._state = folder / "hdfs"
        self._conf = self._state / "conf"
        self._java = f"{java_home}/bin/java"
        self._mark = f"-Dcrawlctl.hdfs={self._state}"
        self._pids: dict[str, int] = {}
        ports = free_ports()
        write_conf(self._conf, self._state, HOME / "lib", ports)
        site = self._conf / "hdfs-site.xml"
        off = "<name>dfs.permissions.enabled</name><value>false</value>"
        assert off in site.read_text()
        site.write_text(site.read_text().replace(off, off.replace("false", "true")))
        for name in ("hdfs", "datanode", "static", "secondary"):
            (self._state / "web" / "webapps" / name).mkdir(parents=True)
        self.web = f"http://{HOST}:{ports['namenode_http']}"
        self.environment = {"HADOOP_CONF_DIR": str(self._conf), "JAVA_HOME": java_home}
        self._run(NAMENODE, "-format", "-force", "-nonInteractive")

    def start(self, *names: str) -> None:
        """Start daemons, all without a name, and wait until HDFS takes data."""
        for name in names or MAINS:
            daemon = Daemon(name, tuple(self._command(MAINS[name])), self._mark)
            self._pids[name] = launch(daemon, self._log(name), self.environment)
        deadline = time.monotonic() + READY_SECONDS
        while not self._is_ready():
            if time.monotonic() > deadline:
                raise TimeoutError("\n".join(end_of(self._log(name)) for name in MAINS))
            time.sleep(0.2)

    def stop(self, *names: str) -> None:
        """Stop daemons, all without a name."""
        stop({name: self._pids.pop(name) for name in names or tuple(self._pids)}, self._mark)

    def kill(self, name: str) -> None:
        """End a daemon in the middle of what it does."""
        pid = self._pids.pop(name)
        os.kill(pid, signal.SIGKILL)
        while is_running(pid, self._mark):
            time.sleep(0.02)

    def admin(self, *arguments: str) -> None:
        """Do what `hdfs dfsadmin` does."""
        self._run(ADMIN, *arguments)

    def _is_ready(self) -> bool:
        query = {"qry": "Hadoop:service=NameNode,name=FSNamesystemState"}
        try:
            (state,) = requests.get(f"{self.web}/jmx", query, timeout=10).json()["beans"]
        except (requests.RequestException, ValueError):
            return False
        return bool(state["FSState"] == "Operational" and state["NumLiveDataNodes"] == 1)

    def _command(self, main: str, *arguments: str) -> list[str]:
        classpath = f"{self._conf}:{self._state / 'web'}:{HOME / 'lib'}/*"
        return [
            self._java,
            *JAVA_17,
            "-Xmx256m",
            "-XX:+UseSerialGC",
            self._mark,
            "-cp",
            classpath,
            main,
            *arguments,
        ]

    def _run(self, main: str, *arguments: str) -> None:
        environment = {**os.environ, **self.environment}
        done = subprocess.run(
            self._command(main, *arguments), env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def _log(self, name: str) -> Path:
        return self._state / f"{name}.log"
