"""SparkRunner: mrjob's Spark runner on this machine, with the same results as the other runners.

mrjob passes `NLineInputFormat` to Spark, but then takes the offset of a line for the line itself. So each
line is a file of its own here, and Spark makes a task of each file. The runner cannot bring our dependencies
to the nodes of a Spark cluster.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawlctl.jobs.shared.shards import ShardProtocol
from crawlctl.pipeline.errors import ConfigError
from crawlctl.pipeline.mrjob_light import light_imports
from crawlctl.pipeline.runners.here.simulated import LINE_A_TASK

with light_imports():
    from mrjob.spark.runner import SparkMRJobRunner

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class SparkRunner(SparkMRJobRunner):  # type: ignore[misc]  # mrjob has no types
    """Runs all steps of a job in one Spark application with a master on this machine."""

    alias = "spark"
    _input_paths: list[str]  # set by mrjob, like the next attribute
    _hadoop_input_format: str | None

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._refuse_what_would_go_wrong()
        if self._hadoop_input_format == LINE_A_TASK:
            folder = Path(self._get_local_tmp_dir(), "lines")
            split_lines(self._input_paths, folder)
            self._input_paths, self._hadoop_input_format = [str(folder)], None

    def _group_steps(self, steps: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Keep all steps in one application, whatever their settings: between two, mrjob would write text."""
        return [{"type": steps[0]["type"], "steps": steps, "step_num": 0}]

    def _refuse_what_would_go_wrong(self) -> None:
        master = self._spark_master()
        if not master.startswith("local["):
            raise ConfigError(
                f"the spark runner works with a master such as local[*] only, not with {master}, where nodes "
                "would lack what crawlctl needs; use --runner hadoop, which ships it"
            )
        if self._mrjob_cls.OUTPUT_PROTOCOL is ShardProtocol:
            raise ConfigError(
                f"the output of {self._mrjob_cls.__name__} is packed bytes, which Spark would write as text "
                "and damage; use --runner forked or hadoop"
            )


def split_lines(paths: Sequence[str], folder: Path) -> None:
    """Write each line of the files to a file of its own, named in their order."""
    folder.mkdir(parents=True)
    for number, line in enumerate(_lines(paths)):
        (folder / f"line-{number:08d}").write_bytes(line)


def _lines(paths: Sequence[str]) -> Iterator[bytes]:
    for path in paths:
        with Path(path).open("rb") as file:
            yield from file


def spark_switches(scratch: Path, cores: int) -> list[str]:
    """Return the switches that keep Spark on this machine and inside the scratch folder."""
    settings = {
        "spark.local.dir": str(scratch),
        "spark.ui.enabled": "false",
        "spark.driver.extraJavaOptions": f"-Djava.io.tmpdir={scratch}",
    }
    switches = ["--spark-master", f"local[{cores}]", "--spark-tmp-dir", str(scratch)]
    for name, value in settings.items():
        switches += ["--jobconf", f"{name}={value}"]
    return switches
