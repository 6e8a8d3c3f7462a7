"""The revision as a job, on each runner of this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawlctl.jobs.upkeep.revise_webdb import WebDBReviser
from crawlctl.pipeline.config.settings import RunnerSettings, ScopeSettings
from crawlctl.pipeline.orders import encode_order
from crawlctl.pipeline.runners.job import run_job
from crawlctl.pipeline.state.snapshots import commit, create_crawl
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.webdb.layers.layer import layers_of
from crawlctl.pipeline.webdb.merge.update import inject
from crawlctl.pipeline.webdb.part import scan, with_parts
from crawlctl.pipeline.webdb.records import Status
from crawlctl.pipeline.webdb.revision.order import ReviseOrder, decode_part, part_lines

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.pipeline.config.settings import RunnerName

pytestmark = pytest.mark.slow

NOW = 1_800_000_000
SEEDS = [f"https://host{number}.example/" for number in range(12)]


@pytest.mark.parametrize("runner", ["inline", "local", "forked"])
def test_each_partition_is_revised_by_a_task(tmp_path: Path, runner: RunnerName) -> None:
    store = LocalStore(tmp_path / "crawl")
    empty = create_crawl(store, 3)
    before = commit(store, empty, files=inject(store, empty, SEEDS, NOW).files, round_number=0)
    order = ReviseOrder(
        store=store.uri,
        round=0,
        indexed=-1,
        now=NOW,
        scope=ScopeSettings(include=("*",), exclude=("host3.example",)),
    )
    (tmp_path / "order").write_bytes(encode_order(order))
    lines = [encode_order(line) for line in part_lines(before.files, None)]
    (tmp_path / "lines").write_bytes(b"".join(line + b"\n" for line in lines))
    done = run_job(
        WebDBReviser,
        [tmp_path / "lines"],
        settings=RunnerSettings(name=runner, tmp_dir=str(tmp_path)),
        args=["--order", str(tmp_path / "order"), "--reducers", "0"],
    )
    parts = [decode_part(line) for _, line in done.output]
    assert sorted(part.partition for part in parts) == [0, 1, 2]
    assert sum(part.excluded for part in parts) == 1
    written = [part.files for part in parts if part.files]
    assert len(written) == 1, "the other partitions stay as they are"
    assert layers_of(written[0])[-1].rows == 1
    files = with_parts(before, (entry for part in parts for entry in part.files))
    after = commit(store, before, files=files, round_number=0)
    statuses = {url: entry.status for number in range(3) for url, entry in scan(store, after, number)}
    assert statuses.pop("https://host3.example/") is Status.EXCLUDED
    assert set(statuses.values()) == {Status.UNFETCHED}
