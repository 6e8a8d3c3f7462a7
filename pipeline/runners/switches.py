"""Turns RunnerSettings into the switches of an mrjob runner."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import crawlctl
from crawlctl.pipeline.errors import ConfigError
from crawlctl.pipeline.processes.cores import usable_cores

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.config.settings import RunnerSettings

# mrjob configures the forked runner like its own inline runner.
MRJOB_NAMES = {"forked": "inline"}
SIMULATED = ("inline", "forked", "local")
OTHER_INTERPRETER = ("local", "hadoop", "emr", "spark")
WITH_PACKAGE_BESIDE = ("local", "hadoop", "emr")  # the package lies in the folder of each task
PACKAGED_CONF = ("local", "hadoop", "emr")


def runner_switches(settings: RunnerSettings, workers: int | None, scratch: Path) -> list[str]:
    """Return the mrjob switches for the settings; `workers` overrides the setting of tasks at once."""
    return [
        *("-r", MRJOB_NAMES.get(settings.name, settings.name)),
        *_conf(settings),
        *("--local-tmp-dir", str(scratch)),
        *_tasks_at_once(settings, workers, scratch),
        *_shipping(settings, scratch),
        *_environment(settings),
        *settings.options,
    ]


def conf_path(settings: RunnerSettings) -> Path | None:
    """Return the conf file for mrjob: the user's, or else that of the package for the runner, if any."""
    if settings.conf_path is not None:
        return Path(settings.conf_path).expanduser()
    if settings.name not in PACKAGED_CONF:
        return None
    return Path(crawlctl.__file__).parent / "conf" / f"{settings.name}.conf"


def require_conf(settings: RunnerSettings) -> None:
    """Raise an error if the user's conf file for mrjob does not exist."""
    path = conf_path(settings)
    if path is not None and not path.is_file():
        raise ConfigError(f"the mrjob conf file {path} does not exist; correct runner.conf_path or remove it")


def _conf(settings: RunnerSettings) -> list[str]:
    require_conf(settings)
    path = conf_path(settings)
    # Without --no-conf mrjob would read ~/.mrjob.conf, and a job would behave differently on each machine.
    return ["--no-conf"] if path is None else ["--conf-path", str(path)]


def _tasks_at_once(settings: RunnerSettings, workers: int | None, scratch: Path) -> list[str]:
    at_once = workers or settings.workers or usable_cores()
    if settings.name == "spark":
        from crawlctl.pipeline.runners.spark import spark_switches

        return spark_switches(scratch, at_once)
    return ["--num-cores", str(at_once)] if settings.name in SIMULATED else []


def _shipping(settings: RunnerSettings, scratch: Path) -> Iterator[str]:
    if settings.name not in OTHER_INTERPRETER:
        return
    python_bin = settings.python_bin or (sys.executable if settings.name == "spark" else None)
    if python_bin is not None:
        yield from ("--python-bin", python_bin)
    if settings.name == "hadoop":  # its runner uploads the package once
        yield from ("--cleanup-on-failure", "TMP")  # otherwise its files stay in HDFS
        return
    from crawlctl.pipeline.runners.shipping.crawlctl_zip import PACKAGE, package_zip

    package = str(package_zip(scratch))
    if settings.name == "spark":
        yield from ("--py-files", package)
        return
    if settings.packages is not None and settings.name == "emr":
        from crawlctl.pipeline.runners.shipping.package_target import place

        package = place(Path(package), settings.packages)
    yield from ("--files", f"{package}#{PACKAGE}")


def _environment(settings: RunnerSettings) -> Iterator[str]:
    env = dict(settings.task_env)
    if settings.name in WITH_PACKAGE_BESIDE:
        from crawlctl.pipeline.runners.shipping.crawlctl_zip import PACKAGE

        # Not by --py-files: mrjob would wrap each task in a script that starts a second Python for a lock
        # and leaves the file of the lock in /tmp.
        env["PYTHONPATH"] = ":".join(filter(None, (PACKAGE, env.get("PYTHONPATH"))))
    if settings.name == "spark":
        env.setdefault("SPARK_LOCAL_IP", "127.0.0.1")  # not on all interfaces
    if settings.name == "local":
        # Tasks would inherit it from the shell; mrjob writes twice per record, each a system call then.
        env.setdefault("PYTHONUNBUFFERED", "")
        if sys.version_info < (3, 12):
            env.setdefault("SETUPTOOLS_USE_DISTUTILS", "stdlib")  # imports faster
    for name, value in sorted(env.items()):
        yield from ("--cmdenv", f"{name}={value}")


def input_argument(source: str | os.PathLike[str]) -> str:
    """Return an input for mrjob: a URI as it is, a file by its absolute path, which is never a switch."""
    text = os.fspath(source)
    return text if "://" in text else str(Path(text).absolute())
