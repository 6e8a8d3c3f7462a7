"""Links of runs as they are saved by a fetch task."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from crawlctl.pipeline.index.building.builder import RunBuilder
from crawlctl.pipeline.index.segment.stored_documents import Document
from crawlctl.pipeline.rank.graph import link_sources as links
from crawlctl.pipeline.rank.graph.link_sources import LinkBatch, crawl_links
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.urls.hosts import stable_hash

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.pipeline.state.manifest import FileEntry

PAGES = {f"http://a/{page}": [f"http://b/{page}/{link}" for link in range(page)] for page in range(5)}


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "crawl")


def run_of(store: LocalStore, pages: dict[str, list[str]], fetched_at: int) -> tuple[FileEntry, ...]:
    builder = RunBuilder()
    for url, targets in pages.items():
        named = tuple((target, "anchor", target.endswith("/1")) for target in targets)
        builder.add(Document(url=url, text="words", links=named, fetched_at=fetched_at))
    return builder.write(store, partition=0, round_number=1)


def unpacked(batches: list[LinkBatch]) -> dict[tuple[int, int], list[tuple[int, bool]]]:
    found = {}
    for batch in batches:
        cuts = np.split(np.arange(len(batch.targets)), np.cumsum(batch.counts)[:-1])
        for source, version, places in zip(batch.sources, batch.versions, cuts, strict=True):
            some = zip(batch.targets[places].tolist(), batch.nofollow[places].tolist(), strict=True)
            found[int(source), int(version)] = list(some)
    return found


@pytest.mark.parametrize("batch_links", [1, 1 << 20])
def test_documents_of_all_runs_come_with_their_links(
    store: LocalStore, batch_links: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(links, "BATCH_LINKS", batch_links)
    entries = [*run_of(store, PAGES, 5), *run_of(store, {"http://a/3": ["http://c/"]}, 9)]
    expected = {
        (stable_hash(page), 5): [(stable_hash(target), target.endswith("/1")) for target in targets]
        for page, targets in PAGES.items()
    } | {(stable_hash("http://a/3"), 9): [(stable_hash("http://c/"), False)]}
    assert unpacked(list(crawl_links(store, entries))) == expected


def test_a_crawl_that_has_fetched_nothing_has_no_links(store: LocalStore) -> None:
    assert list(crawl_links(store, [])) == []
