"""The repair of partitions as a job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pytest

from crawlctl.jobs.upkeep.repair_partition import RepairPartition
from crawlctl.pipeline.config.settings import RunnerSettings
from crawlctl.pipeline.crawl.work import files_of
from crawlctl.pipeline.orders import encode_order
from crawlctl.pipeline.repair.order import PartitionRepair, RepairOrder
from crawlctl.pipeline.runners.job import run_job
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.webdb.layers.layer import layers_of
from crawlctl.tests.jobs.upkeep.test_check_crawl import cache, injected

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

__all__ = ["cache"]


@pytest.mark.parametrize("runner", ["inline", "local"])
def test_a_part_without_its_index_is_written_again(
    tmp_path: Path, runner: Literal["inline", "local"]
) -> None:
    store = LocalStore(tmp_path / "crawl")
    snapshot = injected(store)
    (layer,) = layers_of(snapshot.files)
    data, index = layer.data, layer.index
    (store.root / index.name).unlink()
    order, lines = tmp_path / "order", tmp_path / "lines"
    order.write_bytes(encode_order(RepairOrder(store=store.uri, draft=snapshot, now=1)))
    lines.write_bytes(encode_order(PartitionRepair(partition=0, salvage=(index.name,))) + b"\n")
    settings = RunnerSettings(name=runner)
    written = files_of(run_job(RepairPartition, [lines], settings=settings, args=["--order", str(order)]))
    assert layers_of(written)[0].data.records == data.records
    assert {entry.name for entry in written}.isdisjoint({data.name, index.name})
