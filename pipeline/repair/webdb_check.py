"""Checks the WebDB and the tables of hosts of a partition, and that its live pages are in the index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.index.indexed_pages import IndexedPages
from crawlctl.pipeline.index.merge.order import last_merge
from crawlctl.pipeline.index.runs.run_files import RUN_KINDS
from crawlctl.pipeline.index.segment.segment_files import segments_of
from crawlctl.pipeline.repair.finding import Finding
from crawlctl.pipeline.repair.live_pages import live_pages
from crawlctl.pipeline.state.kinds import BLOCKS, DELETED, HOSTS, SEGMENTS, WEBDB
from crawlctl.pipeline.state.layout import DATA, round_of
from crawlctl.pipeline.urls.hosts import host_of_key, partition_of, url_of_key
from crawlctl.pipeline.webdb.census import HOSTS as HOSTS_COUNT
from crawlctl.pipeline.webdb.census import SEED_HOSTS, Census, status_counts
from crawlctl.pipeline.webdb.layers.layer import LAYER
from crawlctl.pipeline.webdb.part import WebDbPart, open_part
from crawlctl.pipeline.webdb.repeated.block_table import read_samples
from crawlctl.pipeline.webdb.row_files import read_hosts

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store

_INDEX_KINDS = (*RUN_KINDS, SEGMENTS, DELETED)


def check_part(
    store: Store, snapshot: Snapshot, partition: int, damaged: Collection[str]
) -> Iterator[Finding]:
    """Count the rows of the WebDB part again, and compare with its counters."""
    entry = _data_of(snapshot, partition)
    if entry is None or _is_any(snapshot.files_of(WEBDB, partition), damaged):
        return
    part = open_part(store, snapshot, partition)
    for older in part.layers[:-1] if part else ():
        if older.data.records:  # code that adds up the counters of all files counts these URLs twice
            yield _wrong(older.data, "it counts the URLs of the whole part, as only its newest layer does")
    for layer in part.layers if part and len(part.layers) > 1 else ():
        found = sum(len(block.keys) for block in WebDbPart(store, [layer]).blocks())
        if found != layer.rows:
            yield _wrong(layer.data, f"it has {found} rows, not {layer.rows}")
    census, rows, stray = Census(entry.name), 0, b""
    for block in part.blocks() if part else ():
        census.add(block.keys, block.values)
        rows += len(block.keys)
        for key in (block.keys[0], block.keys[-1]):
            stray = stray or (b"" if _is_home(key, snapshot, partition) else key)
    if rows != entry.records:
        yield _wrong(entry, f"the part has {rows} URLs, not {entry.records}")
    if (counted := _told(census.counters())) != (told := _told(entry.counters)):
        odd = min(name for name in {*counted, *told} if counted.get(name) != told.get(name))
        yield _wrong(entry, f"it has {counted.get(odd, 0)} {odd}, not {told.get(odd, 0)}")
    if stray:
        yield _wrong(entry, f"{url_of_key(stray)} belongs to another partition")


def _told(counters: Mapping[str, int]) -> dict[str, int]:
    """Return the counters that do not depend on when they were counted; old parts have fewer of them."""
    return {**status_counts(counters), **{name: counters[name] for name in _FIXED if name in counters}}


_FIXED = (HOSTS_COUNT, SEED_HOSTS)


def _is_home(key: bytes, snapshot: Snapshot, partition: int) -> bool:
    return partition_of(host_of_key(key), snapshot.partitions) == partition


def check_hosts(
    store: Store, snapshot: Snapshot, partition: int, damaged: Collection[str]
) -> Iterator[Finding]:
    """Read the host table and the table of blocks."""
    for entry in (*snapshot.files_of(HOSTS, partition), *snapshot.files_of(BLOCKS, partition)):
        if entry.name not in damaged:
            read = read_hosts if entry.kind == HOSTS else read_samples
            rows = sum(1 for _ in read(store, entry))
            if rows != entry.records:
                yield _wrong(entry, f"it has {rows} hosts, not {entry.records}")


def check_documents(
    store: Store, snapshot: Snapshot, partition: int, damaged: Collection[str]
) -> Iterator[Finding]:
    """Compare the live pages of the WebDB with the documents of the index."""
    entry = _data_of(snapshot, partition)
    files = [one for one in snapshot.files if one.partition == partition and one.kind in _INDEX_KINDS]
    if entry is None or _is_any([*files, *snapshot.files_of(WEBDB, partition)], damaged):
        return
    indexed, pages, without = IndexedPages(store, files), 0, []
    for key, page in live_pages(store, snapshot, partition):
        pages += 1
        if not indexed.has(key, page.last_changed):
            without.append(key)
    if without:
        such = url_of_key(without[0])
        yield Finding(
            *(entry.name, entry.kind, partition, "documents"),
            f"{len(without)} pages are live and have no document, such as {such}",
        )
    elif _is_merged(snapshot, entry, files) and (documents := _alive(files)) != pages:
        yield Finding(
            *(entry.name, entry.kind, partition, "documents"),
            f"the index has {documents} documents of {pages} live pages",
        )


def _is_merged(snapshot: Snapshot, part: FileEntry, files: list[FileEntry]) -> bool:
    """Return whether the index of a partition has seen its WebDB part."""
    return round_of(part.name) <= last_merge(snapshot.files) and not any(
        entry.kind in RUN_KINDS for entry in files
    )


def _alive(files: list[FileEntry]) -> int:
    dead = sum(entry.counters.get("dead", 0) for entry in files if entry.kind == DELETED)
    return sum(segment.documents for segment in segments_of(files) if not segment.frontier) - dead


def _data_of(snapshot: Snapshot, partition: int) -> FileEntry | None:
    """Return the data file that counts the whole part: that of its newest layer."""
    layers = (entry for entry in snapshot.files_of(WEBDB, partition) if entry.name.endswith(f"/{DATA}"))
    newest = max(layers, key=lambda entry: entry.counters.get(LAYER, 0), default=None)
    return newest if newest and newest.records else None


def _is_any(files: Collection[FileEntry], damaged: Collection[str]) -> bool:
    return any(entry.name in damaged for entry in files)


def _wrong(entry: FileEntry, reason: str) -> Finding:
    return Finding(entry.name, entry.kind, entry.partition, "wrong", reason)
