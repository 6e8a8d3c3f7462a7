"""A pseudo-distributed Hadoop (HDFS, YARN, MapReduce, streaming, S3A) and an S3 server, for tests.

`python tests/hadoop/cluster.py assemble|start|stop|status`: the jars come from Maven into .cache/hadoop, and
.cache/hadoop/cluster.json says where a started cluster is. Each start is a new, empty cluster on free ports.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
import urllib.request
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from crawlctl.tests.hadoop.daemons import Daemon, end_of, is_running, launch, stop
from crawlctl.tests.hadoop.sites import ACCESS_KEY, HOST, SECRET_KEY, SHORT_LIVED, free_ports, write_conf

HERE = Path(__file__).resolve().parent
CACHE = HERE.parents[1] / ".cache"
HOME = CACHE / "hadoop"
VERSION = "3.4.2"
READY_SECONDS = 120
# What Hadoop reaches into; containers get these from Hadoop itself.
JAVA_17 = (
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
    "--add-opens=java.base/java.net=ALL-UNNAMED",
    "--add-exports=java.base/sun.net.dns=ALL-UNNAMED",
    "--add-exports=java.base/sun.net.util=ALL-UNNAMED",
)
SERVER = "org.apache.hadoop.{}"
NAMENODE = SERVER.format("hdfs.server.namenode.NameNode")
HADOOP_SCRIPT = f"""\
#!/bin/sh
# As much of `hadoop` as mrjob and crawlctl call; anything but fs, jar and version is the name of a class.
home=$(cd "$(dirname "$0")/.." && pwd)
conf=${{HADOOP_CONF_DIR:-$home/state/conf}}
case ${{1:-}} in
  fs|dfs) main=org.apache.hadoop.fs.FsShell ;;
  jar) main=org.apache.hadoop.util.RunJar ;;
  version) main=org.apache.hadoop.util.VersionInfo ;;
  '') echo 'usage: hadoop fs|jar|version|CLASS …' >&2; exit 1 ;;
  *) main=$1 ;;
esac
shift
exec "${{JAVA_HOME:+$JAVA_HOME/bin/}}java" {" ".join(JAVA_17)} \\
  -Xmx512m {SHORT_LIVED} -cp "$conf:$home/lib/*" "$main" "$@"
"""


class ClusterError(Exception):
    """The cluster cannot be had; the message says why."""


@dataclass(frozen=True)
class Cluster:
    """Where a cluster is: what cluster.json says."""

    hadoop_bin: str
    streaming_jar: str
    conf_dir: str
    default_fs: str
    webhdfs: str
    yarn: str
    s3: str | None  # None where no S3 server could be started
    s3_access_key: str
    s3_secret_key: str
    java_home: str
    mark: str  # part of the command line of its processes
    pids: dict[str, int]

    @property
    def is_up(self) -> bool:
        """Whether all its processes are there."""
        return all(is_running(pid, self.mark) for pid in self.pids.values())

    def environment(self) -> dict[str, str]:
        """Return what a client of the cluster needs to have in its environment."""
        return {"HADOOP_CONF_DIR": self.conf_dir, "JAVA_HOME": self.java_home}


def missing_programs() -> list[str]:
    """Return the programs without which there can be no cluster."""
    wanted = ["java"] if is_assembled() else ["java", "mvn"]
    return [name for name in wanted if shutil.which(name) is None]


def is_assembled() -> bool:
    """Tell whether the jars are there that the pom asks for."""
    return _stamp().exists()


def _stamp() -> Path:
    return HOME / "lib" / f".{hashlib.sha256((HERE / 'pom.xml').read_bytes()).hexdigest()[:16]}"


def assemble() -> None:
    """Bring the jars and the program `hadoop` into the cache, unless they are there."""
    if not is_assembled():
        shutil.rmtree(HOME / "lib", ignore_errors=True)
        command = ["mvn", "-q", "-B", "-f", str(HERE / "pom.xml"), "dependency:copy-dependencies"]
        options = [f"-DoutputDirectory={HOME / 'lib'}", "-DincludeScope=runtime"]
        if subprocess.run([*command, *options], check=False).returncode:
            raise ClusterError("Maven could not bring the jars of Hadoop; what it says is above")
        _stamp().touch()
    script = HOME / "bin" / "hadoop"
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(HADOOP_SCRIPT)
    script.chmod(0o755)


def current(home: Path = HOME) -> Cluster | None:
    """Return the cluster that was started last, if it still runs."""
    try:
        cluster = Cluster(**json.loads((home / "cluster.json").read_text()))
    except (FileNotFoundError, TypeError):  # TypeError: the file is of another version of this
        return None
    return cluster if cluster.is_up else None


def start() -> Cluster:
    """Start a new cluster and return it when it can run a job; nothing is left of the one before."""
    stop_current()
    state = HOME / "state"
    shutil.rmtree(state, ignore_errors=True)
    ports, conf, logs = free_ports(), state / "conf", state / "logs"
    write_conf(conf, state, HOME / "lib", ports)
    logs.mkdir()
    for name in ("hdfs", "datanode", "static", "secondary"):  # without the folders they do not start
        (state / "web" / "webapps" / name).mkdir(parents=True)
    (state / "s3").mkdir()
    java_home = _java_home()
    mark = f"-Dcrawlctl.cluster={state}"
    env = {"HADOOP_CONF_DIR": str(conf), "JAVA_HOME": java_home}
    _format(_java(java_home, state, mark, NAMENODE, "-format", "-force", "-nonInteractive"), logs, env)
    pids: dict[str, int] = {}
    try:
        for daemon in _daemons(java_home, state, mark, ports):
            pids[daemon.name] = launch(daemon, logs / f"{daemon.name}.log", env | _s3_keys(daemon))
        cluster = _cluster(ports, conf, java_home, str(state), pids)
        _wait_until_ready(cluster, logs)
    except BaseException:
        stop(pids, str(state))
        raise
    (HOME / "cluster.json").write_text(json.dumps(asdict(cluster), indent=2) + "\n")
    return cluster


def stop_current() -> None:
    """Stop what is left of the cluster that was started last."""
    file = HOME / "cluster.json"
    if file.exists():
        known = json.loads(file.read_text())
        stop(known["pids"], known["mark"])
        file.unlink()


def _cluster(ports: dict[str, int], conf: Path, java_home: str, mark: str, pids: dict[str, int]) -> Cluster:
    return Cluster(
        hadoop_bin=str(HOME / "bin" / "hadoop"),
        streaming_jar=str(HOME / "lib" / f"hadoop-streaming-{VERSION}.jar"),
        conf_dir=str(conf),
        default_fs=f"hdfs://{HOST}:{ports['namenode']}",
        webhdfs=f"http://{HOST}:{ports['namenode_http']}",
        yarn=f"http://{HOST}:{ports['rm_http']}",
        s3=f"http://{HOST}:{ports['s3']}" if "s3" in pids else None,
        s3_access_key=ACCESS_KEY,
        s3_secret_key=SECRET_KEY,
        java_home=java_home,
        mark=mark,
        pids=pids,
    )


def _java_home() -> str:
    """Return the home of the Java in use: containers are started with it and not by PATH."""
    if os.environ.get("JAVA_HOME"):
        return os.environ["JAVA_HOME"]
    told = subprocess.run(
        ["java", "-XshowSettings:properties", "-version"], capture_output=True, text=True, check=True
    ).stderr
    (line,) = (line for line in told.splitlines() if line.strip().startswith("java.home ="))
    return line.partition("=")[2].strip()


def _java(java_home: str, state: Path, mark: str, main: str, *args: str) -> tuple[str, ...]:
    classpath = f"{state / 'conf'}:{state / 'web'}:{HOME / 'lib'}/*"
    options = ("-Xmx384m", "-XX:+UseSerialGC", mark)
    return (f"{java_home}/bin/java", *JAVA_17, *options, "-cp", classpath, main, *args)


def _daemons(java_home: str, state: Path, mark: str, ports: dict[str, int]) -> list[Daemon]:
    mains = {
        "namenode": NAMENODE,
        "datanode": SERVER.format("hdfs.server.datanode.DataNode"),
        "resourcemanager": SERVER.format("yarn.server.resourcemanager.ResourceManager"),
        "nodemanager": SERVER.format("yarn.server.nodemanager.NodeManager"),
    }
    daemons = [Daemon(name, _java(java_home, state, mark, main), mark) for name, main in mains.items()]
    binary = find_versitygw()
    if binary is not None:
        address = f"{HOST}:{ports['s3']}"
        command = (binary, "--quiet", "--keep-alive", "--port", address, "posix", str(state / "s3"))
        daemons.append(Daemon("s3", command, mark))
    return daemons


def find_versitygw() -> str | None:
    """Return the S3 server that tests use, if it is installed."""
    cached = CACHE / "bin" / "versitygw"
    found = os.environ.get("VERSITYGW") or shutil.which("versitygw")
    return found or (str(cached) if cached.exists() else None)


def _s3_keys(daemon: Daemon) -> dict[str, str]:
    if daemon.name != "s3":
        return {}
    return {"ROOT_ACCESS_KEY": ACCESS_KEY, "ROOT_SECRET_KEY": SECRET_KEY}


def _format(command: tuple[str, ...], logs: Path, env: dict[str, str]) -> None:
    log = logs / "format.log"
    with log.open("wb") as out:
        done = subprocess.run(
            command, stdout=out, stderr=subprocess.STDOUT, env={**os.environ, **env}, check=False
        )
    if done.returncode:
        raise ClusterError(f"HDFS cannot be formatted; the end of its log:\n{end_of(log)}")


def _wait_until_ready(cluster: Cluster, logs: Path) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while not (_hdfs_is_ready(cluster) and _yarn_is_ready(cluster)):
        for name, pid in cluster.pids.items():
            if not is_running(pid, cluster.mark):
                raise ClusterError(f"{name} died; the end of its log:\n{end_of(logs / f'{name}.log')}")
        if time.monotonic() > deadline:
            ends = "\n".join(f"{name}:\n{end_of(logs / f'{name}.log')}" for name in cluster.pids)
            raise ClusterError(f"not ready after {READY_SECONDS} s; the ends of the logs:\n{ends}")
        time.sleep(0.2)


def _hdfs_is_ready(cluster: Cluster) -> bool:
    beans = _get(f"{cluster.webhdfs}/jmx?qry=Hadoop:service=NameNode,name=NameNodeInfo")
    if not beans or not beans["beans"]:
        return False
    (info,) = beans["beans"]
    return not info["Safemode"] and len(json.loads(info["LiveNodes"])) == 1


def _yarn_is_ready(cluster: Cluster) -> bool:
    nodes = _get(f"{cluster.yarn}/ws/v1/cluster/nodes")
    return bool(nodes and any(one["state"] == "RUNNING" for one in (nodes["nodes"] or {}).get("node", [])))


def _get(url: str) -> Any:
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return json.loads(answer.read())
    except OSError:
        return None


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("what", choices=["assemble", "start", "stop", "status"])
    what = parser.parse_args().what
    try:
        if what == "stop":
            stop_current()
            return
        if what == "status":
            cluster = current()
        else:
            if missing_programs():
                raise ClusterError(f"there is no {' and no '.join(missing_programs())} on this machine")
            assemble()
            cluster = (current() or start()) if what == "start" else None
    except ClusterError as err:
        sys.exit(f"hadoop: {err}")
    if what != "assemble":
        print(json.dumps(asdict(cluster), indent=2) if cluster else "no cluster is running")


if __name__ == "__main__":
    main()
