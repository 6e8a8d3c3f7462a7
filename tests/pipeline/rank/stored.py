"""Puts a graph into a store as a crawl: a WebDB of its nodes, and its links in runs."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crawlctl.pipeline.index.building.builder import RunBuilder
from crawlctl.pipeline.index.segment.stored_documents import Document
from crawlctl.pipeline.rank.graph.build import write_blocks
from crawlctl.pipeline.rank.graph.nodes import HAS_DOCUMENT, MEMBER, write_nodes
from crawlctl.pipeline.rank.graph.sparse_blocks import make_block
from crawlctl.pipeline.state.snapshots import commit, create_crawl
from crawlctl.pipeline.urls.hosts import host_of, partition_of, webdb_key
from crawlctl.pipeline.webdb.part import write_part
from crawlctl.pipeline.webdb.records import Status, WebEntry, encode

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crawlctl.pipeline.rank.graph.sparse_blocks import Numbers
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store
    from crawlctl.tests.pipeline.rank.graphs import Graph

FETCHED = WebEntry(Status.FETCHED, next_due=2_000_000_000, score=0.5, depth=1, first_seen=1)

Links = dict[str, list[tuple[str, bool]]]  # by page: URLs, and whether they are nofollow


class StoredGraph(NamedTuple):
    snapshot: Snapshot
    urls: list[str]


def store_webdb(store: Store, entries: Mapping[str, WebEntry], partitions: int) -> Snapshot:
    rows: dict[int, list[tuple[bytes, bytes]]] = defaultdict(list)
    for url, entry in entries.items():
        rows[partition_of(host_of(url), partitions)].append((webdb_key(url), encode(entry)))
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
    followed = {page: [(target, False) for target in targets] for page, targets in links.items()}
    return add_runs(store, store_webdb(store, entries, partitions), followed)


def add_runs(store: Store, snapshot: Snapshot, *versions: Links) -> Snapshot:
    """Add one run per partition and version: documents with these links, fetched at 1, 2, …"""
    files = [*snapshot.files]
    for fetched_at, links in enumerate(versions, start=1):
        for number in range(snapshot.partitions):
            builder = RunBuilder()
            for url in (url for url in links if partition_of(host_of(url), snapshot.partitions) == number):
                named = tuple((target, "", nofollow) for target, nofollow in links[url])
                builder.add(Document(url=url, title=url, text="words", links=named, fetched_at=fetched_at))
            files += builder.write(store, partition=number, round_number=1)
    return commit(store, snapshot, files=files, round_number=1)


def store_graph(store: Store, web: Graph, partitions: int, hosts: Sequence[int]) -> StoredGraph:
    """Store a graph as a crawl; nodes of one host, by number, come to lie in one partition."""
    urls = [f"https://host{host}.example/{node:06d}" for node, host in enumerate(hosts)]
    links: dict[str, list[str]] = {url: [] for url in urls}
    for source, target in zip(web.sources.tolist(), web.targets.tolist(), strict=True):
        links[urls[source]].append(urls[target])
    return StoredGraph(store_crawl(store, dict.fromkeys(urls, FETCHED), links, partitions), urls)


def store_blocks(store: Store, web: Graph, homes: Numbers) -> tuple[FileEntry, ...]:
    """Store a graph as the graph job leaves it, but with links of pages to themselves; `homes` by node."""
    index = np.zeros(web.nodes, np.int64)
    files = []
    for number in range(int(homes.max()) + 1):
        mine = np.flatnonzero(homes == number)
        index[mine] = np.arange(len(mine))
    for number in range(int(homes.max()) + 1):
        own = homes[web.sources] == number
        sources, targets = web.sources[own], web.targets[own]
        blocks = {
            home: make_block(index[sources[chosen]], index[targets[chosen]])
            for home in np.unique(homes[targets]).tolist()
            for chosen in [homes[targets] == home]
        }
        count = int((homes == number).sum())
        flags = {"flags": np.full(count, MEMBER | HAS_DOCUMENT, np.uint8)}
        files.append(write_nodes(store, flags, [], partition=number, round_number=1))
        degrees = np.bincount(index[sources], minlength=count)
        files.append(write_blocks(store, blocks, degrees, partition=number, round_number=1))
    return tuple(files)
