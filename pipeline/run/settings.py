"""What a user can choose about where and how jobs run."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, get_args

from crawlctl.pipeline.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

RunnerName = Literal["forked", "inline", "local", "hadoop", "emr", "spark"]
RUNNER_NAMES: tuple[str, ...] = get_args(RunnerName)


@dataclass(frozen=True)
class RunnerSettings:
    """Where jobs run; `None` leaves a choice to the runner or its conf file."""

    name: RunnerName = "forked"
    workers: int | None = None  # tasks at once on this machine; by default one a core
    conf_path: str | None = None  # an mrjob conf file instead of the one in conf/
    python_bin: str | None = None  # the Python of the tasks; not for inline and forked
    tmp_dir: str | None = None  # scratch space of the driver; by default $TMPDIR
    task_env: Mapping[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ()  # further mrjob switches, such as "--hadoop-bin", "…"

    def __post_init__(self) -> None:
        if self.name not in RUNNER_NAMES:
            raise ConfigError(f"runner {self.name!r} is unknown; choose one of {', '.join(RUNNER_NAMES)}")
        if self.workers is not None and self.workers < 1:
            raise ConfigError(f"workers is {self.workers}; give 1 or more, or leave it out for one a core")


def usable_cores() -> int:
    """Return the number of cores this process may use, in a container often fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):  # not on macOS
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
