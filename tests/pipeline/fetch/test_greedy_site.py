"""The memory of a fetch task where a site does its worst."""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from crawlctl.pipeline.orders import encode_order
from crawlctl.tests.pipeline.fetch.crawl import Crawl, settings
from crawlctl.tests.pipeline.fetch.measure_task import Peaks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HERE = Path(__file__).parent
HOSTS = 12
SECONDS = 15  # of each round


@contextmanager
def greedy_hosts() -> Iterator[list[str]]:
    server = subprocess.Popen(
        [sys.executable, str(HERE / "greedy_site.py"), str(HOSTS)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # complaints about connections that a task gives up
        text=True,
    )
    with server:
        assert server.stdin and server.stdout
        yield [f"http://127.0.0.1:{port}/" for port in server.stdout.readline().split()]
        server.stdin.close()


def measured(crawl: Crawl) -> Peaks:
    order = crawl.order(deadline=time.time() + SECONDS)
    done = subprocess.run(
        [sys.executable, str(HERE / "measure_task.py")],
        input=encode_order(order),
        capture_output=True,
        check=True,
    )
    return msgspec.json.decode(done.stdout, type=Peaks)


@pytest.mark.integration
def test_a_task_keeps_to_its_memory_whatever_the_site(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    crawl = Crawl(tmp_path / "crawl", settings(budgets={"urls_per_prefix": 100_000}))
    with greedy_hosts() as seeds:
        crawl.inject(*seeds)
        crawl.round(deadline=time.time() + SECONDS)
        peaks = measured(crawl)
    record_property("peaks", str(peaks))
    assert peaks.task <= crawl.config.round.task_memory
    assert peaks.helper <= crawl.config.parse.memory_limit
