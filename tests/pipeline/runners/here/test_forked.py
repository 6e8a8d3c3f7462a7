from __future__ import annotations

import json
import tempfile
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlctl.jobs.shared.shards import escaped
from crawlctl.pipeline.config.settings import RunnerSettings
from crawlctl.pipeline.errors import JobFailed
from crawlctl.pipeline.mrjob_light import light_imports
from crawlctl.pipeline.runners.here import simulated
from crawlctl.pipeline.runners.job import run_job
from crawlctl.pipeline.runners.mrjob_log import captured_mrjob_log
from crawlctl.tests.effort import examples

with light_imports():
    from mrjob.util import to_lines

if TYPE_CHECKING:
    from collections.abc import Callable

RECORDS = st.lists(st.tuples(st.integers(0, 12), st.binary(max_size=5)), max_size=60)


def mrjobs_own_inline(job_class: Any, source: Path) -> list[tuple[int, bytes]]:
    """The result by mrjob's inline runner as it comes, without a line of ours."""
    job = job_class(["-r", "inline", "--no-conf", str(source)])
    read = job.output_protocol().read
    with captured_mrjob_log(), job.make_runner() as runner:
        runner.run()
        return [read(line.rstrip(b"\n")) for line in to_lines(runner.cat_output())]


@pytest.mark.slow
@settings(max_examples=examples(8), deadline=None)
@given(records=RECORDS, workers=st.integers(1, 5), reducers=st.integers(0, 5))
def test_forked_workers_reduce_what_mrjob_reduces_inline(
    job: Callable[[str], Any], records: list[tuple[int, bytes]], workers: int, reducers: int
) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(simulated, "LEAST_SPLIT_BYTES", 1)  # several mappers for a handful of records
        source = Path(folder, "records")
        source.write_text("".join(json.dumps([shard, value.hex()]) + "\n" for shard, value in records))
        expected = mrjobs_own_inline(job("shards.Shards"), source)
        result = run_job(
            job("shards.Shards"),
            [source],
            settings=RunnerSettings(workers=workers, tmp_dir=folder),
            args=["--reducers", str(reducers)],
        )
    assert sorted(result.output) == sorted(expected) == sorted(records)
    runs = [shard for shard, _ in groupby(result.output, key=lambda record: record[0])]
    assert len(runs) == len(set(runs)), "a key came to two reducers"
    for shard in runs:
        values = [escaped(value) for key, value in result.output if key == shard]
        assert values == sorted(values)


def test_as_many_tasks_run_at_once_as_the_call_asks_for(job: Callable[[str], Any], tmp_path: Path) -> None:
    source = tmp_path / "lines"
    source.write_text(f"{tmp_path}\n" * 6)
    result = run_job(job("meeting.Meeting"), [source], settings=RunnerSettings(workers=1), workers=6)
    assert len({pid for pid, _ in result.output}) == 6
    assert {met for _, met in result.output} == {6}


def test_what_a_tasks_program_prints_goes_the_way_of_the_task(
    job: Callable[[str], Any], tmp_path: Path, capfd: Any
) -> None:
    source = tmp_path / "lines"
    source.write_text("said by a program\n")
    result = run_job(job("meeting.Shouting"), [source], settings=RunnerSettings())
    assert result.output == ((None, "said by a program"), (None, "said by the task"))
    assert result.counters.group("programs") == {"counted": 3}
    assert capfd.readouterr() == ("", "")


def test_a_killed_task_is_run_again_and_leaves_nothing_of_its_first_try(
    job: Callable[[str], Any], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    source = tmp_path / "lines"
    source.write_text("".join(f"{tmp_path} {deaths}\n" for deaths in range(3)))
    result = run_job(job("dying.Dying"), [source], settings=RunnerSettings(workers=3))
    assert sorted(result.output) == sorted((f"word {number}", 3) for number in range(1000))
    assert result.counters.get("tests", "tries") == 3
    assert caplog.text.count("was killed by SIGKILL; it is tried again") == 3


def test_a_task_that_is_killed_each_time_fails_with_what_to_do(
    job: Callable[[str], Any], tmp_path: Path
) -> None:
    source = tmp_path / "lines"
    source.write_text(f"{tmp_path} 9\n")
    with pytest.raises(JobFailed, match=r"mapper 0 .* by SIGKILL in each of 3 tries; .*smaller memory"):
        run_job(job("dying.Dying"), [source], settings=RunnerSettings(workers=2))
