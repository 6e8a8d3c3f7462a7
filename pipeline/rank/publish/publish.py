"""What a ranking leaves behind for a partition, once it is solved.

    ranks/<partition>/…/ranks    float64, one for each URL in the order of the WebDB part
    ranks/<partition>/…/url      URL → rank, the highest first (a SequenceFile of Text)
    ranks/00000/…/host, domain   the same for hosts and registrable domains (hosts.py)
    priors/<partition>/…         a byte for each document of the index
    webdb/<partition>/…          the part with scores: by them a crawl goes on with the pages that matter

Scores are ranks with a teleport to the seeds, as multiples of the average: a page that nobody links to from
where the crawl began should not be fetched for the chance that a reader types its address. Between two
rankings pages that are found get a share of the score of those that link to them, on the same scale
(fetch/pages/discovery.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.errors import StoreError
from crawlctl.pipeline.formats.sequencefile.sequencefile import SequenceFileWriter
from crawlctl.pipeline.formats.sequencefile.writables import TEXT
from crawlctl.pipeline.index.segment.columns import ColumnReader
from crawlctl.pipeline.index.segment.priors import prior_byte, write_priors
from crawlctl.pipeline.index.segment.segment_files import COLUMNS, segments_of
from crawlctl.pipeline.rank.graph.array_file import ArrayFile, write_arrays
from crawlctl.pipeline.rank.graph.nodes import MEMBER, find
from crawlctl.pipeline.state.kinds import RANKS
from crawlctl.pipeline.state.layout import KIND_KEY, data_name
from crawlctl.pipeline.state.manifest import FileEntry
from crawlctl.pipeline.urls.hosts import url_in_key, url_of_key
from crawlctl.pipeline.webdb.packed import with_score
from crawlctl.pipeline.webdb.part import open_part, write_part
from crawlctl.pipeline.webdb.records import decode_entry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crawlctl.pipeline.rank.graph.sparse_blocks import Floats
    from crawlctl.pipeline.rank.graph.stored_graph import Graph
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.text.words.focus import Focus
    from crawlctl.pipeline.webdb.merge.join import Rows

ALIGNED, BY_URL, BY_HOST, BY_DOMAIN = "/ranks", "/url", "/host", "/domain"
_TABLE_ROWS = 4096


def ranks_of(store: Store, solution: Sequence[FileEntry], graph: Graph, partition: int) -> Floats:
    """Return the ranks of the nodes of a partition; over all partitions they add up to 1."""
    files = [ArrayFile(store, entry) for entry in solution]
    total = sum(file.facts["sum"] for file in files)
    for file in files:
        first, last = file.facts["partitions"]
        if first <= partition < last:
            start = graph.count("nodes", range(first, partition))
            nodes = graph.count("nodes", [partition])
            return file.read("vector", start, start + nodes) / (total or 1.0)
    raise StoreError(f"{store.uri}: no task has solved partition {partition}; rank again")


def publish_partition(
    store: Store,
    snapshot: Snapshot,
    graph: Graph,
    partition: int,
    *,
    ranks: Floats,
    scores: Floats,
    damping: float,
    focus: Focus | None = None,
    round_number: int,
) -> Iterator[FileEntry]:
    """Write all that a partition has to publish and yield the files."""
    if not len(ranks):
        return
    members = graph.count("members")
    yield write_arrays(
        store,
        {"ranks": ranks},
        partition=partition,
        round_number=round_number,
        kind=RANKS,
        suffix=ALIGNED,
        records=len(ranks),
        facts={"damping": damping},
    )
    part = open_part(store, snapshot, partition)
    urls = [url_in_key(key) for block in (part.blocks() if part else ()) for key in block.keys]
    order = np.argsort(-ranks, kind="stable").tolist()
    rows = ((urls[node], float(ranks[node])) for node in order)
    yield write_table(store, rows, BY_URL, partition=partition, round_number=round_number)
    flags = graph.nodes(partition).read("flags")
    scored = np.where(flags & MEMBER != 0, scores * members, -1.0)
    rows_with_scores = _scored(store, snapshot, partition, scored, focus)
    yield from write_part(store, rows_with_scores, partition=partition, round_number=round_number)
    yield from _priors(
        store, snapshot, graph, ranks * members, partition=partition, round_number=round_number
    )


def write_table(
    store: Store, rows: Iterable[tuple[bytes, float]], suffix: str, *, partition: int, round_number: int
) -> FileEntry:
    """Write names with their ranks in the order given."""
    with (
        store.write(data_name(RANKS, partition, round_number, suffix)) as sink,
        SequenceFileWriter(sink, value_class=TEXT, metadata={KIND_KEY: RANKS}) as table,
    ):
        for name, rank in rows:
            table.append(name, repr(rank).encode("ascii"))
    return FileEntry(RANKS, partition, sink.name, sink.bytes, table.records, sink.checksum)


def _scored(
    store: Store, snapshot: Snapshot, partition: int, scores: Floats, focus: Focus | None
) -> Iterator[Rows]:
    """Yield the rows of a part with new scores; those below 0 leave an entry as it is."""
    part = open_part(store, snapshot, partition)
    at = 0
    for block in part.blocks() if part else ():
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
