"""Ranks of hosts and of registrable domains: PageRank over the links between them.

The weight of a link between two hosts is the number of links between their pages. Links within a host do not
count, and a host that links to no other passes its rank on like the teleport. There are few hosts: one task
takes the counts of all partitions and solves both graphs in memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec
import numpy as np

from crawlctl.pipeline.rank.graph.sparse_blocks import Block
from crawlctl.pipeline.rank.graph.stored_graph import read_block
from crawlctl.pipeline.rank.publish.publish import write_table
from crawlctl.pipeline.rank.publish.rank_tables import BY_DOMAIN, BY_HOST
from crawlctl.pipeline.rank.solve.one_task import Matrix
from crawlctl.pipeline.urls.domains import registrable_domain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crawlctl.pipeline.rank.graph.sparse_blocks import Floats, Numbers
    from crawlctl.pipeline.rank.graph.stored_graph import Graph
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store


class HostLinks(msgspec.Struct, frozen=True, array_like=True):
    """Counts of links from the hosts of one partition to the hosts of another, packed for the shuffle."""

    source: int
    target: int
    sources: bytes  # the number of the host within its partition
    targets: bytes
    counts: bytes  # links between the two


class _Links(NamedTuple):
    sources: Numbers
    targets: Numbers
    counts: Floats


encode_links = msgspec.msgpack.Encoder().encode
decode_links = msgspec.msgpack.Decoder(HostLinks).decode


def count_links(graph: Graph, partition: int, partitions: int) -> Iterator[HostLinks]:
    """Yield the links between hosts that begin in a partition, one message per partition they lead to."""
    own = graph.nodes(partition).read("hosts")
    blocks = graph.blocks(partition)
    for target in range(partitions):
        block = read_block(blocks, target)
        if not len(block.rows):
            continue
        theirs = graph.nodes(target).read("hosts")
        rows = np.searchsorted(theirs, block.rows, side="right") - 1
        counts = block.counts
        sources = np.searchsorted(own, block.sources, side="right") - 1
        pairs, links = np.unique(sources * len(theirs) + np.repeat(rows, counts), return_counts=True)
        one, other = np.divmod(pairs, len(theirs))
        numbers = (array.astype("<u4").tobytes() for array in (one, other, links))
        yield HostLinks(partition, target, *numbers)


def publish_hosts(
    store: Store,
    graph: Graph,
    partitions: int,
    links: Sequence[HostLinks],
    *,
    damping: float,
    tolerance: float,
    round_number: int,
) -> Iterator[FileEntry]:
    """Write the ranks of all hosts and of all domains, the highest first."""
    names = [graph.nodes(partition).facts["hosts"] for partition in range(partitions)]
    offsets = np.cumsum([0, *map(len, names)])
    hosts = [host for some in names for host in some]
    gathered = _gather(links, offsets)
    domains = sorted({registrable_domain(host) for host in hosts})
    number = {domain: index for index, domain in enumerate(domains)}
    home = np.array([number[registrable_domain(host)] for host in hosts], np.int64)
    between_domains = gathered._replace(
        sources=home[gathered.sources] if len(home) else gathered.sources,
        targets=home[gathered.targets] if len(home) else gathered.targets,
    )
    for suffix, nodes, arcs in ((BY_HOST, hosts, gathered), (BY_DOMAIN, domains, between_domains)):
        ranks = _solve(arcs, len(nodes), damping, tolerance)
        rows = sorted(zip(nodes, ranks.tolist(), strict=True), key=lambda row: (-row[1], row[0]))
        yield write_table(
            store,
            ((name.encode(), rank) for name, rank in rows),
            suffix,
            partition=0,
            round_number=round_number,
        )


def _gather(links: Sequence[HostLinks], offsets: Numbers) -> _Links:
    ordered = sorted(links, key=lambda one: (one.source, one.target))
    none: list[Numbers] = [np.zeros(0, np.int64)]
    sources = [np.frombuffer(one.sources, "<u4") + offsets[one.source] for one in ordered]
    targets = [np.frombuffer(one.targets, "<u4") + offsets[one.target] for one in ordered]
    counts = [np.frombuffer(one.counts, "<u4") for one in ordered]
    return _Links(
        np.concatenate([*none, *sources]),
        np.concatenate([*none, *targets]),
        np.concatenate([*none, *counts]).astype(np.float64),
    )


def _solve(links: _Links, nodes: int, damping: float, tolerance: float) -> Floats:
    between = links.sources != links.targets
    sources, targets, counts = (array[between] for array in links)
    pairs, pair = np.unique(targets * max(1, nodes) + sources, return_inverse=True)
    weights = np.bincount(pair, weights=counts, minlength=len(pairs)).astype(np.float64)
    rows, columns = np.divmod(pairs, max(1, nodes))
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    block = Block(rows[starts], starts, columns, weights)
    out_weights = np.bincount(columns, weights=weights, minlength=nodes)
    teleport = np.full(nodes, 1 / max(1, nodes))
    vector = Matrix([block], out_weights).solve(teleport, damping=damping, tolerance=tolerance).vector
    return vector / (vector.sum() or 1.0)
