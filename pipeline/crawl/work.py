"""Work: the store, settings and display of a command, and functions that run a job and collect its files."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from msgspec.structs import replace

from crawlctl.pipeline.orders import encode_order
from crawlctl.pipeline.processes.scratch import scratch_folder
from crawlctl.pipeline.progress.display import ShownStep
from crawlctl.pipeline.runners.job import run_job
from crawlctl.pipeline.state.manifest import decode_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from crawlctl.pipeline.config.settings import Config, RunnerSettings
    from crawlctl.pipeline.mrjob_light import MRJob
    from crawlctl.pipeline.orders import StoreOrder
    from crawlctl.pipeline.progress.display import Display
    from crawlctl.pipeline.runners.job_result import JobResult
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store


@dataclass
class TaskCpu:
    """The CPU-seconds that tasks on other machines have used for a command so far."""

    seconds: float = 0.0


@dataclass(frozen=True)
class Work:
    """The store, the settings and the display of one command; a change of settings makes a new Work."""

    store: Store
    config: Config
    display: Display
    # The file of the crawl's own settings that `config` includes; "" if the crawl had none or was not there.
    # None: `config` does not depend on it.
    own_file: str | None = None
    task_cpu: TaskCpu = field(default_factory=TaskCpu)

    def run(
        self,
        job: type[MRJob],
        inputs: Sequence[Path],
        *,
        runner: RunnerSettings | None = None,
        args: Sequence[str] = (),
        workers: int | None = None,
    ) -> JobResult:
        """Run a job with this runner, or that of the settings, and count the CPU time of its tasks."""
        done = run_job(job, inputs, settings=runner or self.config.runner, args=args, workers=workers)
        self.task_cpu.seconds += done.task_cpu
        return done


@dataclass(frozen=True)
class Shown:
    """How the display names a step while its job runs: a title, and how many units there are to do."""

    title: str
    total: int
    unit: str


@dataclass(frozen=True)
class StepFolder:
    """A folder on this machine, for as long as a step runs: the input of its tasks, and their progress."""

    path: Path

    @property
    def progress(self) -> Path:
        """The folder in which tasks report their progress."""
        return self.path / "progress"

    def write(self, name: str, lines: Iterable[bytes]) -> Path:
        """Write a file of lines and return its path."""
        path = self.path / name
        path.write_bytes(b"".join(line + b"\n" for line in lines))
        return path


@contextmanager
def step_folder(runner: RunnerSettings) -> Iterator[StepFolder]:
    """Make the folder of a step, and remove it at the end."""
    with scratch_folder(runner.tmp_dir) as path:
        folder = StepFolder(path)
        folder.progress.mkdir()
        yield folder


def run_ordered(
    work: Work,
    job: type[MRJob],
    order: StoreOrder,
    lines: Iterable[bytes],
    *,
    reducers: int | None = None,
    args: Sequence[str] = (),
    shown: Shown | None = None,
    runner: RunnerSettings | None = None,
) -> tuple[FileEntry, ...]:
    """Run a job whose tasks all get the same order (jobs/shared/ordered.py), and return the files it wrote.

    With `shown` the tasks report their progress, and the display shows it.
    """
    if reducers is not None:
        args = [*args, "--reducers", str(reducers)]
    return files_of(run_by_order(work, job, order, lines, args=args, shown=shown, runner=runner))


def run_by_order(
    work: Work,
    job: type[MRJob],
    order: StoreOrder,
    lines: Iterable[bytes],
    *,
    args: Sequence[str] = (),
    shown: Shown | None = None,
    runner: RunnerSettings | None = None,
) -> JobResult:
    """Run a job whose tasks all get the same order, and return its output unchanged."""
    settings = runner or work.config.runner
    with step_folder(settings) as folder:
        if shown is not None:
            order = replace(order, progress=str(folder.progress))
        arguments = ["--order", str(folder.write("order.json", [encode_order(order)])), *args]
        inputs = [folder.write("lines", lines)]
        if shown is None:
            return work.run(job, inputs, runner=settings, args=arguments)
        with work.display.step(
            ShownStep(shown.title, shown.total, shown.unit, folder.progress, does_all=True)
        ):
            return work.run(job, inputs, runner=settings, args=arguments)


def files_of(done: JobResult) -> tuple[FileEntry, ...]:
    """Return the files that a job wrote; its output is their manifest."""
    return tuple(decode_lines((line for _, line in done.output), "the output of a job"))
