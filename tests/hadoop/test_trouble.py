"""A crawl on Hadoop whose tasks are killed, fail and race, and whose driver is stopped, is still the same."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import time
import urllib.request
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from crawlctl.pipeline.fetch.save.adoption import adopt_runs
from crawlctl.pipeline.state.snapshots import load_current
from crawlctl.pipeline.store.open import open_store
from crawlctl.tests.comparison import assert_same, crawled
from crawlctl.tests.hadoop.crawls import Crawl, filled_partitions
from crawlctl.tests.processes import is_alive

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    from crawlctl.pipeline.demo.web import DemoWeb
    from crawlctl.pipeline.store.base import Store
    from crawlctl.tests.hadoop.cluster import Cluster

pytestmark = [pytest.mark.integration, pytest.mark.hadoop, pytest.mark.timeout(3600)]

PYTHON = Path(__file__).parent / "troubled_python.sh"
APPLICATION = re.compile(r"Submitted application (application_\d+_\d+)")
SIGTERM_EXIT = 143
# As small as can be, and with second attempts of slow map tasks; the fetch job forbids them by itself.
CONF = """
runners:
  hadoop:
    bootstrap_mrjob: false
    jobconf:
      mapreduce.map.speculative: true
      mapreduce.map.memory.mb: 512
      mapreduce.reduce.memory.mb: 512
"""
# So that a kill finds some pages saved and others not. What a round follows on a slow machine would pass on
# the score that it has by that time.
SLOW_AND_IN_PIECES: dict[str, Any] = {
    "politeness": {"delay": 0, "response_factor": 5, "connections_per_host": 1, "patience": "1s"},
    "round": {"flush_pages": 20, "flush_time": "1s", "follow_outlinks": False},
}


class Trouble:
    """The folder by which tasks come to trouble; see troubled_python.sh."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()

    def order(self, job: str, phase: str, kind: str) -> None:
        """Let the first task of a job to begin now have trouble."""
        (self.folder / f"{job}-{phase}-{kind}").touch()

    def taken(self, kind: str) -> list[str]:
        """Return the attempts that had some kind of trouble."""
        return sorted(path.name.partition(".")[2] for path in self.folder.glob(f"{kind}.attempt_*"))

    def attempts(self, like: str) -> int:
        """Return how many attempts there were of the task of an attempt."""
        return len(list(self.folder.glob(f"begun.{like.rpartition('_')[0]}_*")))

    def victim(self, kind: str, run: subprocess.Popen[bytes]) -> tuple[int, int]:
        """Wait for the process that is held or watched; return its pid and where its input begins."""
        file = self.folder / kind
        until(file.exists, run)
        pid, start = map(int, file.read_text().split())
        file.unlink()
        return pid, start


def until(condition: Callable[[], object], run: subprocess.Popen[bytes], seconds: float = 300) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert run.poll() is None, "the run ended before it happened"
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.05)


def states(cluster: Cluster, log: str) -> set[str]:
    """Return what has become of the applications that a log names."""
    found = set()
    for application in APPLICATION.findall(log):
        with urllib.request.urlopen(f"{cluster.yarn}/ws/v1/cluster/apps/{application}") as answer:
            found.add(json.loads(answer.read())["app"]["state"])
    return found


def has_saved(store: Store, partition: int) -> bool:
    """Tell whether a partition has pages of the round under way that need not be fetched again."""
    return bool(adopt_runs(store, load_current(store).round + 1, partition).done)


@pytest.fixture
def trouble(tmp_path: Path) -> Trouble:
    return Trouble(tmp_path / "trouble")


@pytest.fixture
def crawl(
    client: dict[str, str],
    s3_keys: dict[str, str],
    web: DemoWeb,
    trouble: Trouble,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Crawl:
    from crawlctl.pipeline.store.s3.client import S3Settings, make_client

    for name, value in s3_keys.items():
        monkeypatch.setenv(name, value)
    bucket = f"tests-{uuid.uuid4().hex}"
    make_client(S3Settings()).create_bucket(Bucket=bucket)
    conf = tmp_path / "hadoop.conf"
    conf.write_text(CONF)
    runner = {
        "name": "hadoop",
        "conf_path": str(conf),
        "python_bin": f"sh {PYTHON} {trouble.folder} {sys.executable}",
        "task_env": s3_keys,
    }
    return Crawl.prepare(
        tmp_path / "crawl",
        f"s3://{bucket}/crawl",
        web.seeds,
        runner,
        {**client, **s3_keys},
        **SLOW_AND_IN_PIECES,
    )


def test_tasks_that_die_fail_and_race_leave_the_crawl_of_a_laptop(
    hadoop: Cluster, web: DemoWeb, crawl: Crawl, laptop: Crawl, trouble: Trouble
) -> None:
    """All in one crawl with its store on S3, since each job takes its time."""
    store = open_store(crawl.store)
    trouble.order("merge_webdb", "reducer", "hold")
    with crawl.running() as run:
        held, _ = trouble.victim("held", run)
        run.send_signal(signal.SIGTERM)
        assert run.wait() == SIGTERM_EXIT
    assert states(hadoop, crawl.log.read_text()) == {"FINISHED", "KILLED"}
    wait_for_end(held)

    trouble.order("merge_webdb", "reducer", "hold")
    trouble.order("merge_index", "mapper", "dawdle")
    trouble.order("fetch_index", "mapper", "watch")
    trouble.order("rank_graph", "reducer", "fail")
    with crawl.running() as run:
        os.kill(trouble.victim("held", run)[0], signal.SIGKILL)
        fetching, start = trouble.victim("watched", run)
        partition = filled_partitions(web)[start > 0]  # of the two orders in the input
        until(lambda: has_saved(store, partition), run)
        os.kill(fetching, signal.SIGKILL)
        crawl.wait(run)

    assert len(trouble.taken("hold")) == 2
    for kind in ("dawdle", "watch", "fail"):
        (attempt,) = trouble.taken(kind)
        assert trouble.attempts(attempt) == 2, kind
    assert states(hadoop, crawl.log.read_text()) == {"FINISHED", "KILLED"}
    assert_same(crawled(store), crawled(open_store(laptop.store)))


def wait_for_end(pid: int, seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while is_alive(pid):
        assert time.monotonic() < deadline, "the task goes on without its driver"
        time.sleep(0.1)
