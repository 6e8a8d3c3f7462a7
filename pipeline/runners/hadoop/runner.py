"""HadoopRunner: mrjob's Hadoop runner without a JVM per file; dependencies are uploaded once.

It overrides some private methods of mrjob; tests/pipeline/runners/hadoop/test_runner.py checks the result.
"""

from __future__ import annotations

import re
import subprocess
from contextlib import suppress
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, Any

from crawlctl.pipeline.errors import ConfigError
from crawlctl.pipeline.mrjob_light import light_imports
from crawlctl.pipeline.runners.hadoop.failures import task_failure
from crawlctl.pipeline.runners.hadoop.files import WebHdfsFiles
from crawlctl.pipeline.runners.shipping.crawlctl_zip import PACKAGE, package_zip
from crawlctl.pipeline.runners.shipping.environment import environment_archive
from crawlctl.pipeline.runners.shipping.environment_archive import PYTHON
from crawlctl.pipeline.runners.shipping.package_target import place, place_by_program

with light_imports():
    from mrjob.fs.composite import CompositeFilesystem
    from mrjob.fs.hadoop import HadoopFilesystem
    from mrjob.fs.local import LocalFilesystem
    from mrjob.hadoop import HadoopJobRunner
    from mrjob.step import StepFailedException
from crawlctl.pipeline.store.hdfs.address import hadoop_user

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.runners.mrjob_log import MrjobLog

KILL_SECONDS = 60
# By its class, so that the program `hadoop` is enough and `yarn` is not needed.
YARN_CLIENT = "org.apache.hadoop.yarn.client.cli.ApplicationCLI"
ENVIRONMENT = "env"  # the name of the archive in the folder of a task
JAR_VERSION = re.compile(r"-streaming-(\d+\.\d+\.\d+)[^/]*\.jar$")


class HadoopRunner(HadoopJobRunner):  # type: ignore[misc]  # mrjob has no types
    """Runs the steps of a job on a Hadoop cluster."""

    alias = "hadoop"
    _fs: Any  # mrjob's file system, made at first use
    packed_python = f"{ENVIRONMENT}/{PYTHON}"

    def __init__(self, *, packages: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.packages = packages or f"hdfs:///user/{hadoop_user()}/.crawlctl/packages"
        if "://" not in self.packages:
            raise ConfigError(f"the nodes cannot read {self.packages}; set runner.packages to hdfs:///folder")

    @property
    def fs(self) -> Any:
        """The file systems, in the order in which they are asked for a path."""
        if self._fs is None:
            systems = CompositeFilesystem()
            systems.add_fs("web", WebHdfsFiles())
            systems.add_fs("hadoop", HadoopFilesystem(self._opts["hadoop_bin"] or None))
            systems.add_fs("local", LocalFilesystem())
            self._fs = systems
        return self._fs

    def get_hadoop_version(self) -> str:
        """Return the version in the name of the streaming jar, if it has one, else as mrjob does."""
        found = JAR_VERSION.search(self.get_hadoop_streaming_jar() or "")
        version: str = found[1] if found else super().get_hadoop_version()
        return version

    def output(self) -> Iterator[bytes]:
        """Yield the content of the part files, in their order."""
        folder = self.get_output_dir()
        if self.fs.web.can_handle_path(folder):
            yield from self.fs.web.read_all(folder, "part-")
        else:
            # One JVM for all of them.
            yield self.fs.hadoop.invoke_hadoop(["fs", "-cat", f"{folder}/part-*"], return_stdout=True)

    def demand_program(self) -> None:
        """Raise ConfigError if the program `hadoop` is missing."""
        program = self.get_hadoop_bin()[0]
        if which(program) is None:
            raise ConfigError(
                f"there is no program {program}; install the client of Hadoop, and name it by HADOOP_HOME or "
                "by hadoop_bin in the runner's conf file"
            )

    def place_package(self) -> str:
        """Return the URI of the package on the cluster; upload it if it is missing."""
        return self._placed(package_zip(Path(self._get_local_tmp_dir())))

    def place_environment(self) -> str:
        """Return the URI of the packed environment on the cluster; upload it if it is missing."""
        return self._placed(environment_archive(Path(self._get_local_tmp_dir())))

    def _fix_opt(self, opt_key: str, opt_value: Any, source: str | None) -> Any:
        if opt_key == "hadoop_tmp_dir" and "://" not in opt_value and not opt_value.startswith("/"):
            return f"hdfs:///user/{hadoop_user()}/{opt_value}"  # mrjob does not read HADOOP_USER_NAME
        return super()._fix_opt(opt_key, opt_value, source)

    def _run(self) -> None:
        self.demand_program()
        self._working_dir_mgr.add("file", self.place_package(), PACKAGE)
        if not (self._opts["python_bin"] or self._opts["task_python_bin"]):
            self._working_dir_mgr.add("archive", self.place_environment(), ENVIRONMENT)
            self._opts["python_bin"] = [self.packed_python]
        super()._run()

    def _placed(self, path: Path) -> str:
        if self.packages.startswith("hdfs://") and not self.fs.web.can_handle_path(self.packages):
            return place_by_program(path, self.packages, self.fs.hadoop)
        return place(path, self.packages)

    def _run_job_in_hadoop(self) -> None:
        try:
            super()._run_job_in_hadoop()
        except StepFailedException as err:
            interpretation = self._log_interpretations[-1].get("step") or {}
            failure = task_failure(err.step_num or 0, interpretation, self.get_hadoop_bin())
            raise failure or err from err

    def _pick_error(self, log_interpretation: Any, step_type: str) -> None:
        """Leave it to task_failure: mrjob looks only at logs of a single machine."""


def kill_application(runner: Any, mrjob_log: MrjobLog) -> None:
    """Stop the job's application on the cluster, which would continue without its client."""
    application = mrjob_log.application()
    if application is None:
        return
    command = [*runner.get_hadoop_bin(), YARN_CLIENT, "application", "-kill", application]
    # A signal is ending the process: a client that fails or hangs must not delay it.
    with suppress(OSError, subprocess.SubprocessError):
        subprocess.run(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=KILL_SECONDS, check=False
        )
