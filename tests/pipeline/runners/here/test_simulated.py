from __future__ import annotations

import inspect
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import pytest

from crawlctl.pipeline.config.settings import RunnerSettings
from crawlctl.pipeline.mrjob_light import MRJob, light_imports
from crawlctl.pipeline.runners.here.forked import ForkedRunner, ForkingRunner
from crawlctl.pipeline.runners.here.programs import LocalRunner
from crawlctl.pipeline.runners.here.simulated import LEAST_SPLIT_BYTES, InlineRunner, SimulatedRunner
from crawlctl.pipeline.runners.job import run_job
from crawlctl.pipeline.runners.mrjob_log import captured_mrjob_log

with light_imports():
    from mrjob.inline import InlineMRJobRunner
    from mrjob.local import LocalMRJobRunner
    from mrjob.sim import SimMRJobRunner

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

OVERRIDDEN = (
    "_invoke_task_func",
    "_pick_mapper_split_size",
    "_sort_input_func",
    "_split_reducer_input",
    "_run_multiple",
)
CALLED = {
    "_get_local_tmp_dir": ["self"],
    "_jobconf_for_step": ["self", "step_num"],
    "_num_cores": ["self"],
    "_num_reducers": ["self", "step_num"],
    "_sorted_reducer_input_path": ["self", "step_num"],
    "_task_input_path": ["self", "task_type", "step_num", "task_num"],
}


def parameters(function: Any) -> list[str]:
    return list(inspect.signature(function).parameters)


def test_mrjob_is_the_version_whose_insides_we_rely_on() -> None:
    assert version("mrjob") == "0.7.4"


@pytest.mark.parametrize("name", OVERRIDDEN)
def test_what_we_override_has_the_signature_mrjob_calls(name: str) -> None:
    ours = getattr(ForkingRunner if name == "_run_multiple" else SimulatedRunner, name)
    assert parameters(ours) == parameters(getattr(SimMRJobRunner, name))


@pytest.mark.parametrize("name", CALLED)
def test_what_we_call_has_the_signature_we_use(name: str) -> None:
    assert parameters(getattr(SimMRJobRunner, name)) == CALLED[name]
    assert parameters(MRJob._runner_kwargs) == ["self"]


def test_no_subclass_of_mrjobs_overrides_past_us() -> None:
    for theirs in (InlineMRJobRunner, LocalMRJobRunner):
        for ours in (InlineRunner, ForkedRunner, LocalRunner):
            order = ours.__mro__
            assert theirs not in order or order.index(SimulatedRunner) < order.index(theirs)


def records(tmp_path: Path, groups: int, padding: int = 0) -> Path:
    path = tmp_path / "records"
    path.write_text("".join(f'[{shard}, "{"00" * padding}"]\n' for shard in range(groups)))
    return path


def reduce_tasks(job: Callable[[str], Any], source: Path, workers: int, *args: str) -> int:
    settings = RunnerSettings(name="inline", workers=workers)
    result = run_job(job("shards.Shards"), [source], settings=settings, args=args)
    return sum(result.counters.group("reduce tasks").values())


def test_a_job_gets_the_reducers_it_asks_for_or_one_for_each_key(
    job: Callable[[str], Any], tmp_path: Path
) -> None:
    source = records(tmp_path, groups=7)
    assert reduce_tasks(job, source, 2, "--reducers", "5") == 5
    assert reduce_tasks(job, source, 2, "--reducers", "9") == 7


def test_without_a_wish_there_is_a_reducer_a_worker_if_there_is_enough_to_do(
    job: Callable[[str], Any], tmp_path: Path
) -> None:
    assert reduce_tasks(job, records(tmp_path, groups=7), 3) == 1
    assert reduce_tasks(job, records(tmp_path, groups=7, padding=LEAST_SPLIT_BYTES // 2), 3) == 3


def test_small_input_is_one_task_and_large_input_several(job: Callable[[str], Any], tmp_path: Path) -> None:
    def tasks(size: int) -> int:
        source = tmp_path / "words"
        source.write_text("word word\n" * (size // 10))
        switches = ["-r", "inline", "--no-conf", "--num-cores", "2", "--local-tmp-dir", str(tmp_path)]
        with captured_mrjob_log():
            runner = InlineRunner(**job("word_count.WordCount")([*switches, str(source)])._runner_kwargs())
        return len(runner._split_mapper_input([str(source)], 0))

    assert tasks(LEAST_SPLIT_BYTES) == 1
    assert tasks(LEAST_SPLIT_BYTES * 8) == 4
