"""The job on the runners that differ most: forked, and mrjob's own local one in a new interpreter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pytest

from crawlctl.jobs.fetch_index import FetchIndex
from crawlctl.pipeline.config.settings import RunnerSettings
from crawlctl.pipeline.errors import ConfigError
from crawlctl.pipeline.fetch.save.latency import histogram_of, is_latency
from crawlctl.pipeline.orders import encode_order
from crawlctl.pipeline.runners.job import run_job
from crawlctl.pipeline.state.manifest import decode_lines
from crawlctl.pipeline.webdb.records import Kind
from crawlctl.tests.pipeline.fetch.crawl import Crawl, Fetched
from crawlctl.tests.pipeline.fetch.site import serving

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache of the test's own for the zipped package."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.mark.parametrize("runner", ["forked", "local"])
def test_each_partition_is_a_task_that_gives_the_manifest_of_its_runs(
    tmp_path: Path, runner: Literal["forked", "local"]
) -> None:
    crawl = Crawl(tmp_path / "crawl", partitions=2)
    with serving(4) as sites:
        for site in sites:
            site.page("/", "/next")
        crawl.inject(*(site.url() for site in sites))
        orders = tmp_path / "orders"
        lines = [encode_order(crawl.order(partition)) for partition in range(2)]
        orders.write_bytes(b"".join(line + b"\n" for line in lines))
        result = run_job(FetchIndex, [orders], settings=RunnerSettings(name=runner), workers=2)
    files = list(decode_lines((line for _, line in result.output), "output"))
    fetched = Fetched(crawl.store, files)
    assert fetched.outcomes().keys() == {site.url() for site in sites}
    assert set(fetched.kinds().values()) == {Kind.FETCHED}
    assert fetched.fresh().keys() == {site.url("/next") for site in sites}
    assert result.counters.get("fetch", "pages") == 4
    assert result.counters.get("fetch", "fetched") == 4
    assert result.counters.get("task", "cpu_milliseconds") > 0
    # Latencies are in the manifest alone: Hadoop allows 120 counters a job.
    assert not any(map(is_latency, result.counters.group("fetch")))
    assert sum(histogram_of(one.counters).total() for one in fetched.of("outcomes")) >= 4


def test_a_line_that_is_no_order_is_explained(tmp_path: Path) -> None:
    orders = tmp_path / "orders"
    orders.write_text("{}\n")
    with pytest.raises(ConfigError, match="of the kind FetchOrder"):
        run_job(FetchIndex, [orders], settings=RunnerSettings(name="forked"))
