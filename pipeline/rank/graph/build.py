"""From links to blocks: finds the nodes that links lead to, and writes the links of each partition.

A link names its target only by the hash of its URL, and the target may be a node of any partition. The range
of all hashes is divided into shards, as many as there are partitions.

    ask      partition p   reads its links, finds the targets that lie in p itself, and sends the hashes of
                           the others to the shards, each hash once
    answer   shard s       reads its range of the nodes of all partitions, and looks the hashes up there
    build    partition p   puts the answers in and writes the blocks

So a target crosses the shuffle once per partition that links to it. It is eight bytes in a packed list of
targets, not a record of its own. The blocks of a partition are one file with the arrays

    degrees     the number of links of each node that count
    rows.q, counts.q, sources.q     for each partition q that is linked to: the nodes of q that have links,
                ascending, the number of nodes that link to each, and these nodes
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import numpy as np

from crawlctl.pipeline.rank.graph.array_file import ArrayFile, write_arrays
from crawlctl.pipeline.rank.graph.graph_files import ARCS, LINKING
from crawlctl.pipeline.rank.graph.nodes import HAS_DOCUMENT, cut_into_shards, find, read_aliases
from crawlctl.pipeline.rank.graph.sparse_blocks import make_block
from crawlctl.pipeline.state.manifest import FileEntry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from crawlctl.pipeline.rank.graph.link_sources import Hashes, LinkBatch
    from crawlctl.pipeline.rank.graph.nodes import Aliases
    from crawlctl.pipeline.rank.graph.sparse_blocks import Block, Numbers
    from crawlctl.pipeline.store.base import Store

NOWHERE = 0xFFFFFFFF  # the partition of a target that is not a node


class Question(msgspec.Struct, frozen=True, array_like=True, tag=0):
    """The hashes that a partition asks a shard for."""

    partition: int
    nodes: FileEntry  # of the partition that asks; the shard reads its range of these nodes too
    wanted: bytes  # the hashes, sorted


class Answer(msgspec.Struct, frozen=True, array_like=True, tag=1):
    """The nodes that a shard found for the hashes of a question, in their order."""

    shard: int
    partitions: bytes  # NOWHERE for a hash that belongs to no node
    ordinals: bytes


class Draft(msgspec.Struct, frozen=True, array_like=True, tag=2):
    """The files that a partition keeps until its questions are answered: its nodes, and its links so far."""

    nodes: FileEntry
    links: FileEntry


GraphMessage = Question | Answer | Draft
_decoder = msgspec.msgpack.Decoder(GraphMessage)
encode_message = msgspec.msgpack.Encoder().encode


def decode_messages(packed: Iterable[bytes]) -> list[GraphMessage]:
    """Return the messages to a partition or shard."""
    return [_decoder.decode(message) for message in packed]


class _Links(NamedTuple):
    """Links of the nodes of this partition; `versions` belong to the documents that contain them."""

    sources: Numbers  # indices of the sorted hashes of the partition
    targets: Hashes
    versions: NDArray[np.int64]


def ask(
    store: Store,
    partition: int,
    nodes: Mapping[int, FileEntry],
    batches: Iterable[LinkBatch],
    *,
    round_number: int,
) -> Iterator[tuple[int, GraphMessage]]:
    """Yield a question to each shard, and to the partition itself the draft of its links."""
    own = ArrayFile(store, nodes[partition])
    hashes, ordinals = own.read("hashes").astype(np.uint64), own.read("ordinals")
    sources, targets, numbers = _links_that_count(store, nodes, own, batches)
    at = find(hashes, targets)
    sources = ordinals[sources]
    local = np.where(at >= 0, ordinals[at] if len(ordinals) else 0, NOWHERE).astype(np.uint32)
    kept = local[numbers] != sources  # links of a page to itself do not count
    draft = write_arrays(
        store,
        {"sources": sources[kept], "targets": numbers[kept].astype(np.uint32), "local": local},
        partition=partition,
        round_number=round_number,
        facts={"what": "draft"},
    )
    yield partition, Draft(nodes[partition], draft)
    wanted = targets[at < 0]
    cuts = cut_into_shards(wanted, len(nodes))
    for shard, (low, high) in enumerate(pairwise(cuts.tolist())):
        yield shard, Question(partition, nodes[partition], wanted[low:high].astype("<u8").tobytes())


def _links_that_count(
    store: Store, nodes: Mapping[int, FileEntry], own: ArrayFile, batches: Iterable[LinkBatch]
) -> tuple[Numbers, Hashes, Numbers]:
    """Return the source of each link, all targets, and for each link the index of its target.

    Sources are indices of the sorted hashes of this partition, whose nodes are `own`.
    """
    hashes = own.read("hashes").astype(np.uint64)
    documents = own.read("flags")[own.read("ordinals")] & HAS_DOCUMENT != 0
    aliases = read_aliases([ArrayFile(store, entry) for _, entry in sorted(nodes.items())])
    newest = np.full(len(hashes), np.iinfo(np.int64).min)
    resolved = [_resolve(batch, hashes, documents, aliases, newest) for batch in batches]
    return _distinct(resolved, newest)


def _resolve(
    batch: LinkBatch,
    hashes: Hashes,
    documents: NDArray[np.bool_],
    aliases: Aliases,
    newest: NDArray[np.int64],
) -> _Links:
    """Return the links of a batch that may count, each once; raise `newest` to the versions in it."""
    at = find(hashes, batch.sources)
    is_live = (documents[at] & (at >= 0)) if len(documents) else np.zeros(len(at), np.bool_)
    np.maximum.at(newest, at[is_live], batch.versions[is_live])
    kept = np.repeat(is_live, batch.counts) & ~batch.nofollow
    targets, numbers = np.unique(aliases.resolved(batch.targets[kept]), return_inverse=True)
    # A link in two versions of a document stays twice: only after the last batch it is known which version
    # counts.
    pages = np.repeat(np.arange(len(at)), batch.counts)[kept]
    page, number = _distinct_pairs(pages, numbers, len(targets))
    return _Links(at[page], targets[number], batch.versions[page])


def _distinct_pairs(ones: Numbers, others: Numbers, bound: int) -> tuple[Numbers, Numbers]:
    """Return the different pairs of numbers; the second ones are below the bound."""
    # np.unique would put the pairs into a hash table, which takes many times as long as sorting them.
    pairs = np.sort(ones * max(1, bound) + others)
    ones, others = np.divmod(pairs[np.diff(pairs, prepend=-1) > 0], max(1, bound))
    return ones, others


def _distinct(batches: Sequence[_Links], newest: NDArray[np.int64]) -> tuple[Numbers, Hashes, Numbers]:
    """Return the sources of the links of the newest versions, all targets, and the target of each link."""
    fresh = [links.versions == newest[links.sources] for links in batches]
    none: list[NDArray[np.integer]] = [np.zeros(0, np.int64)]
    sources = np.concatenate([*none, *(one.sources[kept] for one, kept in zip(batches, fresh, strict=True))])
    hashes = [one.targets[kept] for one, kept in zip(batches, fresh, strict=True)]
    targets, numbers = np.unique(np.concatenate([np.zeros(0, np.uint64), *hashes]), return_inverse=True)
    sources, numbers = _distinct_pairs(sources, numbers, len(targets))
    return sources, targets, numbers


def answer(store: Store, shard: int, questions: Sequence[Question]) -> Iterator[tuple[int, Answer]]:
    """Yield the answers of a shard with the partition that asked."""
    hashes, partitions, ordinals = [], [], []
    for question in questions:
        nodes = ArrayFile(store, question.nodes)
        low, high = nodes.read("shards", shard, shard + 2).tolist()
        hashes.append(nodes.read("hashes", low, high).astype(np.uint64))
        ordinals.append(nodes.read("ordinals", low, high).astype(np.uint32))
        partitions.append(np.full(high - low, question.partition, np.uint32))
    table = np.concatenate(hashes)
    order = np.argsort(table)
    table, homes, found = table[order], np.concatenate(partitions)[order], np.concatenate(ordinals)[order]
    for question in questions:
        at = find(table, np.frombuffer(question.wanted, "<u8").astype(np.uint64))
        lost = at < 0
        home = np.where(lost, NOWHERE, homes[at] if len(homes) else 0).astype("<u4")
        node = np.where(lost, 0, found[at] if len(found) else 0).astype("<u4")
        yield question.partition, Answer(shard, home.tobytes(), node.tobytes())


def build(
    store: Store, partition: int, draft: Draft, answers: Sequence[Answer], round_number: int
) -> tuple[FileEntry, FileEntry]:
    """Write the blocks of a partition; return the files of its nodes and its blocks."""
    file = ArrayFile(store, draft.links)
    local = file.read("local")
    homes = np.where(local == NOWHERE, NOWHERE, partition).astype(np.uint32)
    ordinals = local.astype(np.uint32)
    asked = np.flatnonzero(local == NOWHERE)
    ordered = sorted(answers, key=lambda one: one.shard)
    homes[asked] = np.frombuffer(b"".join(one.partitions for one in ordered), "<u4")
    ordinals[asked] = np.frombuffer(b"".join(one.ordinals for one in ordered), "<u4")
    sources, targets = file.read("sources"), file.read("targets")
    known = homes[targets] != NOWHERE
    sources, targets = sources[known], targets[known]
    degrees = np.bincount(sources, minlength=draft.nodes.records)
    blocks = {}
    for home in np.unique(homes[targets]).tolist():
        chosen = homes[targets] == home
        blocks[home] = make_block(sources[chosen], ordinals[targets[chosen]])
    written = write_blocks(store, blocks, degrees, partition=partition, round_number=round_number)
    return draft.nodes, written


def write_blocks(
    store: Store,
    blocks: Mapping[int, Block],
    degrees: NDArray[np.integer],
    *,
    partition: int,
    round_number: int,
) -> FileEntry:
    """Write the links of a partition, by the partition that they lead to."""
    arrays: dict[str, NDArray[np.uint32]] = {"degrees": degrees.astype(np.uint32)}
    for home, block in blocks.items():
        arrays[f"rows.{home}"] = block.rows.astype(np.uint32)
        arrays[f"counts.{home}"] = block.counts.astype(np.uint32)
        arrays[f"sources.{home}"] = block.sources.astype(np.uint32)
    arcs = int(degrees.sum(dtype=np.int64))
    return write_arrays(
        store,
        arrays,
        partition=partition,
        round_number=round_number,
        records=arcs,
        facts={"what": "blocks"},
        counters={ARCS: arcs, LINKING: int(np.count_nonzero(degrees))},
    )
