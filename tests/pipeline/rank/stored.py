"""Puts a graph into a store as a crawl: a WebDB of its nodes, and its links as arrays."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from crawlctl.pipeline.index.building.builder import RunBuilder
from crawlctl.pipeline.index.segment.stored_documents import Document
from crawlctl.pipeline.rank.graph.array_file import write_arrays
from crawlctl.pipeline.state.snapshots import commit, create_crawl
from crawlctl.pipeline.urls.hosts import host_of, partition, stable_hash, webdb_key
from crawlctl.pipeline.webdb.part import write_part
from crawlctl.pipeline.webdb.records import Status, WebEntry, encode

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store
    from crawlctl.tests.pipeline.rank.graphs import Graph

FETCHED = WebEntry(Status.FETCHED, next_due=2_000_000_000, score=0.5, depth=1, first_seen=1)


class StoredGraph(NamedTuple):
    snapshot: Snapshot
    links: tuple[FileEntry, ...]
    urls: list[str]


def store_webdb(store: Store, entries: Mapping[str, WebEntry], partitions: int) -> Snapshot:
    rows: dict[int, list[tuple[bytes, bytes]]] = defaultdict(list)
    for url, entry in entries.items():
        rows[partition(host_of(url), partitions)].append((webdb_key(url), encode(entry)))
    empty = create_crawl(store, partitions)
    files: list[FileEntry] = []
    for number, pairs in rows.items():
        pairs.sort()
        block = [key for key, _ in pairs], [value for _, value in pairs]
        files += write_part(store, [block], partition=number, round_number=1)
    return commit(store, empty, files=files, round_number=1)


def store_crawl(
    store: Store, entries: Mapping[str, WebEntry], links: Mapping[str, Sequence[str]], partitions: int
) -> Snapshot:
    """Store pages with their links as a round leaves them: a WebDB and a run in each partition."""
    snapshot = store_webdb(store, entries, partitions)
    files = [*snapshot.files]
    for number in range(partitions):
        builder = RunBuilder()
        for url in (url for url in links if partition(host_of(url), partitions) == number):
            named = tuple((target, "", False) for target in links[url])
            builder.add(Document(url=url, title=url, text="words", links=named, fetched_at=1))
        files += builder.write(store, partition=number, round_number=1)
    return commit(store, snapshot, files=files, round_number=1)


def store_links(
    store: Store, links: Mapping[str, Sequence[tuple[str, bool]]], partitions: int, version: int = 1
) -> tuple[FileEntry, ...]:
    """Write the links of pages, URL and whether it is nofollow each, to the partitions of the pages."""
    pages: dict[int, list[str]] = defaultdict(list)
    for page in links:
        pages[partition(host_of(page), partitions)].append(page)
    return tuple(
        _write(
            store,
            number,
            [stable_hash(page) for page in mine],
            [len(links[page]) for page in mine],
            [stable_hash(url) for page in mine for url, _ in links[page]],
            [nofollow for page in mine for _, nofollow in links[page]],
            version,
        )
        for number, mine in sorted(pages.items())
    )


def _write(
    store: Store,
    number: int,
    sources: ArrayLike,
    counts: ArrayLike,
    targets: ArrayLike,
    nofollow: ArrayLike,
    version: int,
) -> FileEntry:
    arrays: dict[str, NDArray[Any]] = {
        "sources": np.array(sources, np.uint64),
        "counts": np.array(counts, np.int64),
        "targets": np.array(targets, np.uint64),
        "nofollow": np.array(nofollow, np.uint8),
    }
    arrays["versions"] = np.full(len(arrays["sources"]), version)
    return write_arrays(store, arrays, partition=number, round_number=1)


def store_graph(store: Store, web: Graph, partitions: int, hosts: Sequence[int]) -> StoredGraph:
    """Store a graph; nodes of one host, by number, come to lie in one partition."""
    urls = [f"https://host{host}.example/{node:06d}" for node, host in enumerate(hosts)]
    snapshot = store_webdb(store, dict.fromkeys(urls, FETCHED), partitions)
    hashes = np.array([stable_hash(url) for url in urls], np.uint64)
    homes = np.array([partition(f"host{host}.example", partitions) for host in hosts])
    order = np.argsort(web.sources, kind="stable")
    sources, targets = web.sources[order], web.targets[order]
    files = []
    for number in np.unique(homes).tolist():
        mine = homes[sources] == number
        pages, counts = np.unique(sources[mine], return_counts=True)
        linked = hashes[targets[mine]]
        files.append(_write(store, number, hashes[pages], counts, linked, np.zeros(len(linked)), 1))
    return StoredGraph(snapshot, tuple(files), urls)
