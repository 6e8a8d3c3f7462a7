"""A partition of a copy: its files are durable before its list names them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from crawlctl.pipeline.copies.copy_records import finished_partition, put_partition
from crawlctl.pipeline.copies.repartition import task
from crawlctl.pipeline.copies.repartition.order import CopyOrder
from crawlctl.pipeline.copies.repartition.task import PartitionCopier
from crawlctl.pipeline.state.snapshots import load_current
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.store.local.sync_group import synced_together

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pytest

    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store


def test_the_files_of_a_partition_are_durable_before_its_list_names_them(
    crawl: LocalStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: set[Path] = set()
    unsynced: list[Path] = []
    sync = os.fsync

    def noting(descriptor: int) -> None:
        synced.add(Path(f"/proc/self/fd/{descriptor}").readlink())
        sync(descriptor)

    def listed(
        store: Store, number: int, partition: int, entries: Iterable[FileEntry]
    ) -> tuple[FileEntry, ...]:
        files = tuple(entries)
        unsynced.extend(path for path in copy.root.rglob("*") if path.is_file() and path not in synced)
        return put_partition(store, number, partition, files)

    monkeypatch.setattr(os, "fsync", noting)
    monkeypatch.setattr(task, "put_partition", listed)
    snapshot, copy = load_current(crawl), LocalStore(tmp_path.resolve() / "copy")
    order = CopyOrder(
        store=crawl.uri,
        destination=copy.uri,
        snapshot=snapshot.number,
        partitions=2,
        shards=1,
        memory=1 << 20,
    )
    with synced_together():  # as in a task
        files = PartitionCopier(crawl, copy, snapshot, order).partition(0)
    assert files and synced
    assert unsynced == []
    assert finished_partition(copy, snapshot.number, 0) == files
