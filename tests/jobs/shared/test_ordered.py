from __future__ import annotations

from importlib import import_module
from io import BytesIO
from pkgutil import walk_packages
from typing import TYPE_CHECKING, Any

import pytest

import crawlctl.jobs
from crawlctl.jobs.fetch_index import FetchIndex
from crawlctl.pipeline.mrjob_light import MRJob

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TEN_MINUTES = 600_000
TIMEOUT = "mapreduce.task.timeout"


def jobs() -> Iterator[Any]:
    for module in walk_packages(crawlctl.jobs.__path__, "crawlctl.jobs."):
        loaded = import_module(module.name)
        for thing in vars(loaded).values():
            if isinstance(thing, type) and issubclass(thing, MRJob) and thing.__module__ == loaded.__name__:
                yield thing


@pytest.mark.parametrize("job", list(jobs()), ids=lambda job: job.__name__)
def test_hadoop_waits_for_jobs_that_work_in_silence(job: Any, tmp_path: Path) -> None:
    asked = job(["--no-conf", str(tmp_path)]).jobconf()
    if job is FetchIndex:  # says how far it is; one that does not has hung
        assert TIMEOUT not in asked
    else:
        assert int(asked[TIMEOUT]) > TEN_MINUTES
    assert asked["mapreduce.input.lineinputformat.linespermap"] == "1"


def test_each_task_counts_its_cpu_time(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = iter([1.0, 3.5])
    monkeypatch.setattr("crawlctl.jobs.shared.ordered.cpu_seconds", lambda: next(seconds))
    job = FetchIndex(["--no-conf", "--mapper"])
    told = BytesIO()
    job.sandbox(stdin=BytesIO(), stdout=BytesIO(), stderr=told)  # type: ignore[attr-defined]  # of mrjob
    job.run_mapper()
    assert told.getvalue() == b"reporter:counter:task,cpu_milliseconds,2500\n"
