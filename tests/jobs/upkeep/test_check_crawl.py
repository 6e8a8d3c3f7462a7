"""The check of a crawl as a job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pytest

from crawlctl.jobs.upkeep.check_crawl import CheckCrawl
from crawlctl.pipeline.config.settings import RunnerSettings
from crawlctl.pipeline.orders import encode_order
from crawlctl.pipeline.repair.finding import decode_finding
from crawlctl.pipeline.repair.order import CheckOrder
from crawlctl.pipeline.runners.job import run_job
from crawlctl.pipeline.state.snapshots import commit, create_crawl
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.webdb.layers.layer import layers_of
from crawlctl.pipeline.webdb.merge.update import inject

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.pipeline.state.snapshots import Snapshot

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache of the test's own for the zipped package."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def injected(store: LocalStore, urls: int = 20) -> Snapshot:
    first = create_crawl(store, 1)
    files = inject(store, first, [f"https://a.org/{number}" for number in range(urls)], 1_700_000_000).files
    return commit(store, first, files=files, round_number=0)


@pytest.mark.parametrize("runner", ["inline", "local"])
def test_a_damaged_file_is_found(tmp_path: Path, runner: Literal["inline", "local"]) -> None:
    store = LocalStore(tmp_path / "crawl")
    snapshot = injected(store)
    (layer,) = layers_of(snapshot.files)
    data, index = layer.data, layer.index
    (store.root / index.name).unlink()
    order, lines = tmp_path / "order", tmp_path / "lines"
    order.write_bytes(encode_order(CheckOrder(store=store.uri, snapshot=snapshot.number)))
    lines.write_bytes(b"0\n")
    done = run_job(CheckCrawl, [lines], settings=RunnerSettings(name=runner), args=["--order", str(order)])
    (finding,) = (decode_finding(line) for _, line in done.output)
    assert (finding.file, finding.fault, finding.reason) == (index.name, "damaged", "it is missing")
    assert data.name != finding.file
