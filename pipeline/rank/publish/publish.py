"""Writes the results of a ranking for one partition: ranks, crawl scores and priors.

    ranks/<partition>/…     the ranks of its URLs (rank_tables.py)
    priors/<partition>/…    one byte per document of the index
    webdb/<partition>/…     the part with new scores, by which a crawl fetches important pages first

Scores are ranks with a teleport to the seeds, as multiples of the average score: a page that cannot be
reached from the seeds should not be fetched early just because a reader might type its address. Pages that
are found between two rankings get a share of the score of the pages that link to them, on the same scale
(fetch/pages/discovery.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from crawlctl.pipeline.errors import StoreError
from crawlctl.pipeline.formats.sequencefile.sequencefile import SequenceFileWriter
from crawlctl.pipeline.formats.sequencefile.writables import TEXT
from crawlctl.pipeline.index.segment.columns import ColumnReader
from crawlctl.pipeline.index.segment.priors import prior_byte, write_priors
from crawlctl.pipeline.index.segment.segment_files import COLUMNS, segments_of
from crawlctl.pipeline.rank.graph.array_file import ArrayFile, write_arrays
from crawlctl.pipeline.rank.graph.graph_files import MEMBERS, NODES
from crawlctl.pipeline.rank.graph.nodes import MEMBER, find
from crawlctl.pipeline.rank.publish.rank_tables import ALIGNED, BY_URL
from crawlctl.pipeline.rank.solve.warm_start import TOTALS
from crawlctl.pipeline.state.kinds import RANKS, WEBDB
from crawlctl.pipeline.state.layout import KIND_KEY, data_name
from crawlctl.pipeline.state.manifest import FileEntry
from crawlctl.pipeline.urls.hosts import url_in_key, url_of_key
from crawlctl.pipeline.webdb.extract.part_extract import unsettled_in
from crawlctl.pipeline.webdb.layers.layer import newest_number
from crawlctl.pipeline.webdb.packed import with_score
from crawlctl.pipeline.webdb.part import open_part, write_part
from crawlctl.pipeline.webdb.records import decode_entry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from crawlctl.pipeline.rank.graph.sparse_blocks import Floats
    from crawlctl.pipeline.rank.graph.stored_graph import Graph
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.text.words.focus import Focus
    from crawlctl.pipeline.webdb.part import WebDbPart
    from crawlctl.pipeline.webdb.records import Rows


class Ranks(NamedTuple):
    """The ranks of the nodes of a partition, and the sum of the solution that they are shares of."""

    ranks: Floats  # over all partitions they add up to 1
    total: float


def ranks_of(store: Store, solution: Sequence[FileEntry], graph: Graph, partition: int) -> Ranks:
    """Return the ranks of the nodes of a partition."""
    files = [ArrayFile(store, entry) for entry in solution]
    total = sum(file.facts["sum"] for file in files)
    for file in files:
        first, end = file.facts["partitions"]
        if first <= partition < end:
            start = graph.count(NODES, range(first, partition))
            nodes = graph.count(NODES, [partition])
            return Ranks(file.read("vector", start, start + nodes) / (total or 1.0), total)
    raise StoreError(f"{store.uri}: no task has solved partition {partition}; rank again")


def publish_partition(
    store: Store,
    snapshot: Snapshot,
    graph: Graph,
    partition: int,
    *,
    solved: Ranks,
    seen_from_seeds: Ranks,
    damping: float,
    focus: Focus | None = None,
    round_number: int,
) -> Iterator[FileEntry]:
    """Write all files that a ranking publishes for a partition, and yield them."""
    ranks, scores = solved.ranks, seen_from_seeds.ranks
    if not len(ranks):
        return
    members = graph.count(MEMBERS)
    facts = {"damping": damping, TOTALS: [solved.total, seen_from_seeds.total]}
    yield write_aligned(store, ranks, facts, scores, partition=partition, round_number=round_number)
    flags = graph.nodes(partition).read("flags")
    scored = np.where(flags & MEMBER != 0, scores * members, -1.0)
    urls: list[bytes] = []
    part = open_part(store, snapshot, partition)
    rows = _scored(part, scored, focus, urls)
    # Only scores have changed, and the index does not read scores: so the part keeps its number.
    number = newest_number(snapshot.files_of(WEBDB, partition))
    yield from write_part(
        store,
        rows,
        partition=partition,
        round_number=round_number,
        number=number,
        unsettled=unsettled_in(part),
    )
    highest_first = np.argsort(-ranks, kind="stable").tolist()
    table = ((urls[node], float(ranks[node])) for node in highest_first)
    yield write_table(store, table, BY_URL, partition=partition, round_number=round_number)
    yield from _priors(
        store, snapshot, graph, ranks * members, partition=partition, round_number=round_number
    )


def write_aligned(
    store: Store,
    ranks: Floats,
    facts: Mapping[str, Any],
    scores: Floats | None = None,
    *,
    partition: int,
    round_number: int,
) -> FileEntry:
    """Write the ranks of the URLs of a partition in the order of its WebDB part.

    The `scores` are the ranks seen from the seeds, from which the next ranking begins (warm_start.py).
    """
    return write_arrays(
        store,
        {"ranks": ranks} | ({} if scores is None else {"scores": scores}),
        partition=partition,
        round_number=round_number,
        kind=RANKS,
        suffix=ALIGNED,
        records=len(ranks),
        facts=facts,
    )


def write_table(
    store: Store, rows: Iterable[tuple[bytes, float]], suffix: str, *, partition: int, round_number: int
) -> FileEntry:
    """Write names with their ranks in the order of `rows`."""
    with (
        store.write(data_name(RANKS, partition, round_number, suffix)) as sink,
        SequenceFileWriter(sink, value_class=TEXT, metadata={KIND_KEY: RANKS}) as table,
    ):
        for name, rank in rows:
            table.append(name, repr(rank).encode("ascii"))
    return FileEntry(RANKS, partition, sink.name, sink.bytes, table.records, sink.checksum)


def _scored(part: WebDbPart | None, scores: Floats, focus: Focus | None, urls: list[bytes]) -> Iterator[Rows]:
    """Yield the rows of a part with new scores, and add their URLs to `urls`.

    A score below 0 leaves an entry as it is.
    """
    at = 0
    for block in part.blocks() if part else ():
        urls += map(url_in_key, block.keys)
        new = scores[at : at + len(block.keys)].tolist()
        at += len(new)
        if focus is not None:
            new = [
                score * _boost(focus, *row) for score, *row in zip(new, block.keys, block.values, strict=True)
            ]
        pairs = zip(block.values, new, strict=True)
        yield block.keys, [value if score < 0 else with_score(value, score) for value, score in pairs]


def _boost(focus: Focus, key: bytes, value: bytes) -> float:
    anchors = " ".join(decode_entry(value).anchors)
    return focus.boost(focus.link(url_of_key(key), anchors))


def _priors(
    store: Store, snapshot: Snapshot, graph: Graph, ranks: Floats, *, partition: int, round_number: int
) -> tuple[FileEntry, ...]:
    nodes = graph.nodes(partition)
    hashes, ordinals = nodes.read("hashes").astype(np.uint64), nodes.read("ordinals")
    priors = {}
    for segment in segments_of(entry for entry in snapshot.files if entry.partition == partition):
        column = ColumnReader(segment.open(store, COLUMNS), segment.documents).raw("hashes")
        at = find(hashes, np.frombuffer(column, "<u8").astype(np.uint64))
        found = np.where(at >= 0, ranks[ordinals[at]] if len(ordinals) else 0, -1.0)
        priors[segment.name] = bytes([0 if rank < 0 else prior_byte(rank) for rank in found.tolist()])
    return write_priors(store, priors, partition=partition, round_number=round_number)
