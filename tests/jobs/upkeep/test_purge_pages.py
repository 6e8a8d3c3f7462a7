"""The purge of forgotten pages as a job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec
import pytest

from crawlctl.jobs.upkeep.purge_pages import PurgePages
from crawlctl.pipeline.config.settings import RunnerSettings
from crawlctl.pipeline.orders import encode_order
from crawlctl.pipeline.repair.order import PurgeOrder
from crawlctl.pipeline.repair.purge_task import PurgedPartition
from crawlctl.pipeline.runners.job import run_job
from crawlctl.pipeline.state.snapshots import commit
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.urls.hosts import webdb_key
from crawlctl.pipeline.webdb.layers.layer import layers_of
from crawlctl.pipeline.webdb.part import part_in
from crawlctl.pipeline.webdb.records import Status
from crawlctl.pipeline.webdb.repeated.block_table import RunBlocks, read_samples
from crawlctl.tests.jobs.upkeep.test_check_crawl import cache, injected

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

__all__ = ["cache"]


@pytest.mark.parametrize("runner", ["inline", "local"])
def test_rows_of_forgotten_pages_are_removed(tmp_path: Path, runner: Literal["inline", "local"]) -> None:
    store = LocalStore(tmp_path / "crawl")
    snapshot = injected(store)
    order, lines = tmp_path / "order", tmp_path / "lines"
    rules = ("https://a.org/1", "url:https://a.org/2")  # 1, 10 to 19, and 2
    order.write_bytes(encode_order(PurgeOrder(store=store.uri, snapshot=snapshot.number, rules=rules)))
    lines.write_bytes(b"0\n")
    settings = RunnerSettings(name=runner)
    done = run_job(PurgePages, [lines], settings=settings, args=["--order", str(order)])
    (purged,) = (msgspec.json.decode(line, type=PurgedPartition) for _, line in done.output)
    assert purged.rows == 12
    assert set(purged.dropped) == {entry.name for entry in snapshot.files}
    (layer,) = layers_of(purged.written)
    assert layer.data.records == 20  # all are seeds, of which bare rows stay
    part = part_in(store, purged.written)
    assert part is not None
    bare = [entry for _, entry in part if entry.status is Status.EXCLUDED]
    assert len(bare) == 12 and {entry.first_seen for entry in bare} == {0}


def test_the_blocks_of_hosts_without_pages_are_removed(tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "crawl")
    before, run = injected(store), RunBlocks()
    for url in ("https://a.org/3", "https://gone.org/"):
        run.add(webdb_key(url), b"hash" * 2)
    (blocks,) = run.write(store, partition=0, round_number=before.round)
    snapshot = commit(store, before, files=(*before.files, blocks), round_number=before.round)
    order, lines = tmp_path / "order", tmp_path / "lines"
    order.write_bytes(
        encode_order(PurgeOrder(store=store.uri, snapshot=snapshot.number, rules=("https://a.org/1",)))
    )
    lines.write_bytes(b"0\n")
    done = run_job(PurgePages, [lines], settings=RunnerSettings(name="inline"), args=["--order", str(order)])
    (purged,) = (msgspec.json.decode(line, type=PurgedPartition) for _, line in done.output)
    assert blocks.name in purged.dropped
    (written,) = (entry for entry in purged.written if entry.kind == "blocks")
    assert [host for host, _ in read_samples(store, written)] == [b"a.org"]
