"""The settings of pipeline/run: where jobs run and how."""

from __future__ import annotations

from typing import Literal, get_args

import msgspec

from crawlctl.pipeline.config.section import Section, demand

RunnerName = Literal["forked", "inline", "local", "hadoop", "emr", "spark"]
RUNNER_NAMES: tuple[str, ...] = get_args(RunnerName)


class RunnerSettings(Section, frozen=True):
    """Where jobs run; `None` leaves a choice to the runner or its conf file."""

    name: RunnerName = "forked"
    workers: int | None = None  # tasks at once on this machine; by default one a core
    conf_path: str | None = None  # an mrjob conf file instead of the one in conf/
    python_bin: str | None = None  # the Python of the tasks; not for inline and forked
    packages: str | None = None  # a folder on HDFS or S3 for the package and the environment of the nodes
    tmp_dir: str | None = None  # scratch space of the driver; by default $TMPDIR
    task_env: dict[str, str] = msgspec.field(default_factory=dict)
    options: tuple[str, ...] = ()  # further mrjob switches, such as "--hadoop-bin", "…"

    def __post_init__(self) -> None:
        demand(self.name in RUNNER_NAMES, "name", f"be one of {', '.join(RUNNER_NAMES)}")
        demand(self.workers is None or self.workers > 0, "workers", "be 1 or more, or null for one a core")
