"""The configuration of the test cluster: all of Hadoop on one machine, on loopback, quick with small jobs."""

from __future__ import annotations

import socket
from contextlib import ExitStack
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

HOST = "127.0.0.1"
# One for each thing that listens; they are chosen anew at each start, so that clusters do not meet.
PORTS = (
    *("namenode", "namenode_http", "datanode", "datanode_http", "datanode_ipc"),
    *("rm", "rm_scheduler", "rm_tracker", "rm_admin", "rm_http"),
    *("nm", "nm_localizer", "nm_http", "s3"),
)
ACCESS_KEY, SECRET_KEY = "testaccess", "testsecret123456"
# A task lives for a second or two: what an optimising compiler or a parallel collector cost is lost.
SHORT_LIVED = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
NODE_MEGABYTES = 8192
NODE_CORES = 8

LOG4J = """\
log4j.rootLogger=INFO,console
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.target=System.err
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern=%d{yy/MM/dd HH:mm:ss} %p %c{2}: %m%n
log4j.logger.org.apache.hadoop.util.NativeCodeLoader=ERROR
log4j.logger.org.apache.hadoop.metrics2=WARN
"""

Ports = dict[str, int]


def free_ports() -> Ports:
    """Return a port for each name that nobody listens on now."""
    with ExitStack() as stack:
        probes = [stack.enter_context(socket.socket()) for _ in PORTS]
        for probe in probes:
            probe.bind((HOST, 0))
        return {name: int(probe.getsockname()[1]) for name, probe in zip(PORTS, probes, strict=True)}


def write_conf(folder: Path, state: Path, lib: Path, ports: Ports) -> None:
    """Write the folder that HADOOP_CONF_DIR is to name."""
    folder.mkdir(parents=True)
    sites = {
        "core-site": _core(state, ports),
        "hdfs-site": _hdfs(state, ports),
        "mapred-site": _mapred(folder, state, lib),
        "yarn-site": _yarn(folder, state, lib, ports),
        "capacity-scheduler": _queues(),
    }
    for name, settings in sites.items():
        (folder / f"{name}.xml").write_text(_xml(settings))
    (folder / "log4j.properties").write_text(LOG4J)


def _xml(settings: Mapping[str, object]) -> str:
    lines = [
        f"  <property><name>{escape(name)}</name><value>{escape(str(value))}</value></property>"
        for name, value in settings.items()
    ]
    return "\n".join(['<?xml version="1.0"?>', "<configuration>", *lines, "</configuration>", ""])


def _core(state: Path, ports: Ports) -> dict[str, object]:
    return {
        "fs.defaultFS": f"hdfs://{HOST}:{ports['namenode']}",
        "hadoop.tmp.dir": state / "tmp",
        # EMR's command lines say s3://, which is its own file system there and S3A here.
        "fs.s3.impl": "org.apache.hadoop.fs.s3a.S3AFileSystem",
        "fs.s3a.endpoint": f"http://{HOST}:{ports['s3']}",
        "fs.s3a.endpoint.region": "us-east-1",
        "fs.s3a.path.style.access": "true",
        "fs.s3a.connection.ssl.enabled": "false",
        "fs.s3a.access.key": ACCESS_KEY,
        "fs.s3a.secret.key": SECRET_KEY,
    }


def _hdfs(state: Path, ports: Ports) -> dict[str, object]:
    return {
        "dfs.replication": 1,
        "dfs.namenode.name.dir": (state / "name").as_uri(),
        "dfs.datanode.data.dir": (state / "data").as_uri(),
        "dfs.namenode.rpc-address": f"{HOST}:{ports['namenode']}",
        "dfs.namenode.http-address": f"{HOST}:{ports['namenode_http']}",
        "dfs.datanode.address": f"{HOST}:{ports['datanode']}",
        "dfs.datanode.http.address": f"{HOST}:{ports['datanode_http']}",
        "dfs.datanode.ipc.address": f"{HOST}:{ports['datanode_ipc']}",
        "dfs.datanode.hostname": HOST,
        "dfs.namenode.datanode.registration.ip-hostname-check": "false",
        "dfs.permissions.enabled": "false",
        "dfs.namenode.safemode.extension": 0,
        # How long a file that was closed waits for the report of its block: most of writing a small one.
        "dfs.client.block.write.locateFollowingBlock.initial.delay.ms": 20,
    }


def _mapred(conf: Path, state: Path, lib: Path) -> dict[str, object]:
    return {
        "mapreduce.framework.name": "yarn",
        "mapreduce.application.classpath": f"{conf}:{lib}/*",
        "yarn.app.mapreduce.am.staging-dir": "/tmp/staging",
        "mapreduce.cluster.local.dir": state / "mapred",
        "yarn.app.mapreduce.am.resource.mb": 512,
        "yarn.app.mapreduce.am.command-opts": f"-Xmx384m {SHORT_LIVED}",
        "mapreduce.map.memory.mb": 512,
        "mapreduce.map.java.opts": f"-Xmx256m {SHORT_LIVED}",
        "mapreduce.reduce.memory.mb": 512,
        "mapreduce.reduce.java.opts": f"-Xmx256m {SHORT_LIVED}",
        "mapreduce.task.io.sort.mb": 32,
        "mapreduce.shuffle.port": 0,
        # What follows is waiting for the next beat, a second or more each by default: most of a small job.
        "yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms": 100,
        "mapreduce.client.progressmonitor.pollinterval": 100,
        "mapreduce.client.completion.pollinterval": 200,
        "mapreduce.job.reduce.slowstart.completedmaps": 0.9,
    }


def _yarn(conf: Path, state: Path, lib: Path, ports: Ports) -> dict[str, object]:
    return {
        "yarn.resourcemanager.hostname": HOST,
        "yarn.resourcemanager.address": f"{HOST}:{ports['rm']}",
        "yarn.resourcemanager.scheduler.address": f"{HOST}:{ports['rm_scheduler']}",
        "yarn.resourcemanager.resource-tracker.address": f"{HOST}:{ports['rm_tracker']}",
        "yarn.resourcemanager.admin.address": f"{HOST}:{ports['rm_admin']}",
        "yarn.resourcemanager.webapp.address": f"{HOST}:{ports['rm_http']}",
        "yarn.nodemanager.hostname": HOST,
        "yarn.nodemanager.address": f"{HOST}:{ports['nm']}",
        "yarn.nodemanager.localizer.address": f"{HOST}:{ports['nm_localizer']}",
        "yarn.nodemanager.webapp.address": f"{HOST}:{ports['nm_http']}",
        "yarn.nodemanager.aux-services": "mapreduce_shuffle",
        "yarn.application.classpath": f"{conf}:{lib}/*",
        # By default in a folder that all clusters of this machine share, and spoil for each other.
        "yarn.node-attribute.fs-store.root-dir": f"file://{state}/node-attribute",
        "yarn.nodemanager.local-dirs": state / "local",
        "yarn.nodemanager.log-dirs": state / "containers",
        "yarn.log-aggregation-enable": "true",
        "yarn.nodemanager.remote-app-log-dir": "/tmp/logs",
        "yarn.nodemanager.resource.memory-mb": NODE_MEGABYTES,
        "yarn.nodemanager.resource.cpu-vcores": NODE_CORES,
        "yarn.scheduler.minimum-allocation-mb": 256,
        # Java and Python in one container, on a machine that has other things to do.
        "yarn.nodemanager.vmem-check-enabled": "false",
        "yarn.nodemanager.pmem-check-enabled": "false",
        "yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage": 99.5,
        "yarn.resourcemanager.nodemanagers.heartbeat-interval-ms": 100,
        "yarn.resourcemanager.scheduler.class": (
            "org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacityScheduler"
        ),
    }


def _queues() -> dict[str, object]:
    prefix = "yarn.scheduler.capacity"
    return {
        f"{prefix}.root.queues": "default",
        f"{prefix}.root.default.capacity": 100,
        # The master of a finished job stays for some seconds and must not keep out the next one.
        f"{prefix}.maximum-am-resource-percent": 0.6,
    }
