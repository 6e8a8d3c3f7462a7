"""From links to blocks: how targets, known by the hash of their URL, are found in whatever partition they
lie.

    ask      partition p   its links, resolved as far as the targets lie in p itself; the hashes of all others
                           go to the shards of hashes, each hash once
    answer   shard s       looks them up in the nodes of all partitions, of which it reads its range of hashes
    build    partition p   puts the answers in and writes the blocks

So a link crosses the shuffle once for all pages of a partition that have it, in eight bytes packed with
others, and never as a record of its own. Shards are as many as partitions. The file of a graph, one a
partition, has

    degrees     links of each node that count
    rows.q, counts.q, sources.q     for each partition q that is linked to: its nodes that are, ascending, how
                many nodes link to each, and which
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec
import numpy as np

from crawlctl.pipeline.rank.graph.array_file import ArrayFile, write_arrays
from crawlctl.pipeline.rank.graph.nodes import HAS_DOCUMENT, cut_into_shards, find, read_aliases
from crawlctl.pipeline.rank.graph.sparse_blocks import make_block
from crawlctl.pipeline.state.manifest import FileEntry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from crawlctl.pipeline.rank.graph.link_sources import Hashes, LinkBatch, LinkSource
    from crawlctl.pipeline.rank.graph.nodes import Aliases
    from crawlctl.pipeline.rank.graph.sparse_blocks import Numbers
    from crawlctl.pipeline.store.base import Store

NOWHERE = 0xFFFFFFFF  # the partition of a target that is no node


class Question(msgspec.Struct, frozen=True, array_like=True, tag=0):
    """The hashes a partition looks for in a shard, sorted, and the nodes of that partition."""

    partition: int
    nodes: FileEntry
    wanted: bytes


class Answer(msgspec.Struct, frozen=True, array_like=True, tag=1):
    """What a shard knows of the hashes it was asked for: partition and ordinal of each."""

    shard: int
    partitions: bytes
    ordinals: bytes


class Draft(msgspec.Struct, frozen=True, array_like=True, tag=2):
    """What a partition has to keep until its questions are answered: its nodes and its links so far."""

    nodes: FileEntry
    links: FileEntry


Letter = Question | Answer | Draft
_letter = msgspec.msgpack.Decoder(Letter)
encode_letter = msgspec.msgpack.Encoder().encode


def decode_letters(messages: Iterable[bytes]) -> list[Letter]:
    """Return what a partition or shard was sent."""
    return [_letter.decode(message) for message in messages]


class _Links(NamedTuple):
    """Links of nodes of this partition to targets by hash, and the version of the document they stand in."""

    sources: Numbers  # places among the sorted hashes of the partition
    targets: Hashes
    versions: NDArray[np.int64]


def ask(
    store: Store,
    partition: int,
    nodes: Mapping[int, FileEntry],
    links: LinkSource,
    *,
    round_number: int,
    self_links: bool = False,
) -> Iterator[tuple[int, Letter]]:
    """Yield a question to each shard, and to the partition itself the draft of its links."""
    own = ArrayFile(store, nodes[partition])
    hashes, ordinals = own.read("hashes").astype(np.uint64), own.read("ordinals")
    aliases = read_aliases([ArrayFile(store, entry) for _, entry in sorted(nodes.items())])
    documents = own.read("flags")[ordinals] & HAS_DOCUMENT != 0
    newest = np.full(len(hashes), np.iinfo(np.int64).min)
    links_of = [_resolve(batch, hashes, documents, aliases, newest) for batch in links.batches()]
    sources, targets, numbers = _distinct(links_of, newest)
    at = find(hashes, targets)
    sources = ordinals[sources]
    local = np.where(at >= 0, ordinals[at] if len(ordinals) else 0, NOWHERE).astype(np.uint32)
    kept = np.ones(len(sources), np.bool_) if self_links else local[numbers] != sources
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
    for shard, (low, high) in enumerate(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)):
        yield shard, Question(partition, nodes[partition], wanted[low:high].astype("<u8").tobytes())


def _resolve(
    batch: LinkBatch,
    hashes: Hashes,
    documents: NDArray[np.bool_],
    aliases: Aliases,
    newest: NDArray[np.int64],
) -> _Links:
    """Return the links of a batch that count, each once; note in `newest` which versions there are."""
    at = find(hashes, batch.sources)
    is_live = (documents[at] & (at >= 0)) if len(documents) else np.zeros(len(at), np.bool_)
    np.maximum.at(newest, at[is_live], batch.versions[is_live])
    kept = np.repeat(is_live, batch.counts) & ~batch.nofollow
    targets, numbers = np.unique(aliases.resolved(batch.targets[kept]), return_inverse=True)
    # The same link of two versions stays twice: which of them counts shows when all batches are known.
    pages = np.repeat(np.arange(len(at)), batch.counts)[kept]
    page, number = _distinct_pairs(pages, numbers, len(targets))
    return _Links(at[page], targets[number], batch.versions[page])


def _distinct_pairs(ones: Numbers, others: Numbers, bound: int) -> tuple[Numbers, Numbers]:
    """Return the different pairs of numbers; the second ones are below the bound."""
    ones, others = np.divmod(np.unique(ones * max(1, bound) + others), max(1, bound))
    return ones, others


def _distinct(batches: Sequence[_Links], newest: NDArray[np.int64]) -> tuple[Numbers, Hashes, Numbers]:
    """Return the sources of all links of the newest versions, all targets, and the number of each link's."""
    fresh = [links.versions == newest[links.sources] for links in batches]
    none: list[NDArray[np.integer]] = [np.zeros(0, np.int64)]
    sources = np.concatenate([*none, *(one.sources[kept] for one, kept in zip(batches, fresh, strict=True))])
    hashes = [one.targets[kept] for one, kept in zip(batches, fresh, strict=True)]
    targets, numbers = np.unique(np.concatenate([np.zeros(0, np.uint64), *hashes]), return_inverse=True)
    sources, numbers = _distinct_pairs(sources, numbers, len(targets))
    return sources, targets, numbers


def answer(store: Store, shard: int, questions: Sequence[Question]) -> Iterator[tuple[int, Answer]]:
    """Yield the answers of a shard by the partition that asked."""
    hashes, partitions, ordinals = [], [], []
    for question in questions:
        nodes = ArrayFile(store, question.nodes)
        low, high = nodes.read("shards", shard, shard + 2).tolist()
        hashes.append(nodes.read("hashes", low, high).astype(np.uint64))
        ordinals.append(nodes.read("ordinals", low, high).astype(np.uint32))
        partitions.append(np.full(high - low, question.partition, np.uint32))
    table = np.concatenate(hashes)
    order = np.argsort(table)
    table, homes, places = table[order], np.concatenate(partitions)[order], np.concatenate(ordinals)[order]
    for question in questions:
        at = find(table, np.frombuffer(question.wanted, "<u8").astype(np.uint64))
        lost = at < 0
        home = np.where(lost, NOWHERE, homes[at] if len(homes) else 0).astype("<u4")
        place = np.where(lost, 0, places[at] if len(places) else 0).astype("<u4")
        yield question.partition, Answer(shard, home.tobytes(), place.tobytes())


def build(
    store: Store, partition: int, draft: Draft, answers: Sequence[Answer], round_number: int
) -> tuple[FileEntry, FileEntry]:
    """Write the blocks of a partition; return its nodes and its blocks."""
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
    degrees = np.bincount(sources, minlength=draft.nodes.records).astype(np.uint32)
    arrays: dict[str, NDArray[np.uint32]] = {"degrees": degrees}
    for home in np.unique(homes[targets]).tolist():
        chosen = homes[targets] == home
        arrays |= _block(home, sources[chosen], ordinals[targets[chosen]])
    counters = {"arcs": len(sources), "linking": int(np.count_nonzero(degrees))}
    blocks = write_arrays(
        store,
        arrays,
        partition=partition,
        round_number=round_number,
        records=len(sources),
        facts={"what": "blocks"},
        counters=counters,
    )
    return draft.nodes, blocks


def _block(
    home: int, sources: NDArray[np.uint32], targets: NDArray[np.uint32]
) -> dict[str, NDArray[np.uint32]]:
    block = make_block(sources, targets)
    counts: Numbers = np.diff(block.starts, append=len(block.sources))
    return {
        f"rows.{home}": block.rows.astype(np.uint32),
        f"counts.{home}": counts.astype(np.uint32),
        f"sources.{home}": block.sources.astype(np.uint32),
    }
