"""All that a crawl holds, record by record, however it is partitioned: what the tests of a copy compare."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from crawlctl.pipeline.captures.capture_table import tables_of
from crawlctl.pipeline.captures.capture_tiers import merged_rows
from crawlctl.pipeline.formats.sequencefile.mapfile import MapFileReader
from crawlctl.pipeline.formats.sequencefile.sequencefile import SequenceFileReader
from crawlctl.pipeline.formats.sequencefile.writables import pack_long
from crawlctl.pipeline.index.runs.run_files import runs_of
from crawlctl.pipeline.index.segment.columns import COLUMNS as WIDTHS
from crawlctl.pipeline.index.segment.columns import ColumnReader
from crawlctl.pipeline.index.segment.duplicate_groups import read_groups
from crawlctl.pipeline.index.segment.postings.plain_lists import decode_documents, decode_positions
from crawlctl.pipeline.index.segment.priors import read_priors
from crawlctl.pipeline.index.segment.segment_files import (
    COLUMNS,
    DOCS_DATA,
    DOCS_INDEX,
    LINKS,
    POSTINGS,
    SKETCHES,
    TERMS_DATA,
    TERMS_INDEX,
    segments_of,
)
from crawlctl.pipeline.index.segment.stored_documents import DocRecord, decode_record
from crawlctl.pipeline.index.segment.term_info import decode_term_info
from crawlctl.pipeline.index.segment.tombstones import read_tombstones
from crawlctl.pipeline.index.statistics import totals_of
from crawlctl.pipeline.rank.graph.array_file import ArrayFile
from crawlctl.pipeline.rank.graph.stored_graph import Graph, read_block
from crawlctl.pipeline.state.snapshots import load_current
from crawlctl.pipeline.text.likeness.fingerprint import SKETCH_BYTES
from crawlctl.pipeline.urls.hosts import host_of, host_of_key, partition_of, webdb_key
from crawlctl.pipeline.webdb.part import open_part
from crawlctl.tests.pipeline.index.runs.whole_run import WholeRun

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.captures.capture_record import CaptureRecord
    from crawlctl.pipeline.index.segment.columns import Hosts
    from crawlctl.pipeline.index.segment.segment_files import Segment
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store

Name = tuple[str, int, bool]  # a URL, when it was fetched, and whether its segment is that of the frontier


class Posting(NamedTuple):
    """What a list says of one document."""

    impact: int
    mask: int
    positions: tuple[int, ...]


class Holdings(NamedTuple):
    """What is in a store."""

    webdb: dict[bytes, bytes]
    hosts: dict[bytes, bytes]
    documents: dict[Name, tuple[Any, ...]]
    postings: dict[bytes, dict[Name, Posting]]
    runs: Counter[tuple[int, DocRecord, bytes]]
    run_words: Counter[tuple[bytes, str, tuple[int, ...]]]
    ranks: dict[bytes, bytes]
    names: dict[str, dict[bytes, bytes]]  # ranks of hosts and domains
    links: Counter[tuple[int, int]]  # of the graph, by hash
    totals: Any
    archives: Counter[bytes]
    captures: dict[bytes, list[CaptureRecord]]
    blocks: dict[bytes, bytes]


def holdings(store: Store) -> Holdings:
    """Return all that the current snapshot of a store holds; each thing has to be in its own partition."""
    snapshot = load_current(store)
    documents, postings = _index(store, snapshot)
    runs, run_words = _runs(store, snapshot)
    return Holdings(
        _webdb(store, snapshot),
        _by_host(store, snapshot, "hosts"),
        documents,
        postings,
        runs,
        run_words,
        _ranks(store, snapshot),
        {by: _table(store, snapshot, by) for by in ("host", "domain")},
        _graph(store, snapshot),
        totals_of(snapshot.files),
        Counter(store.read(entry.name) for entry in snapshot.files_of("pages")),
        _captures(store, snapshot),
        _by_host(store, snapshot, "blocks"),
    )


def _captures(store: Store, snapshot: Snapshot) -> dict[bytes, list[CaptureRecord]]:
    found: dict[bytes, list[CaptureRecord]] = {}
    for number in range(snapshot.partitions):
        for key, captures in merged_rows(store, tables_of(snapshot.files_of("captures", number))):
            assert partition_of(host_of_key(key), snapshot.partitions) == number
            found[key] = captures
    return found


def _webdb(store: Store, snapshot: Snapshot) -> dict[bytes, bytes]:
    found: dict[bytes, bytes] = {}
    for number in range(snapshot.partitions):
        part = open_part(store, snapshot, number)
        for block in part.blocks() if part else ():
            rows = dict(zip(block.keys, block.values, strict=True))
            assert all(partition_of(host_of_key(key), snapshot.partitions) == number for key in rows)
            assert found.keys().isdisjoint(rows)
            found |= rows
    assert len(found) == sum(entry.records for entry in snapshot.files_of("webdb"))
    return found


def _by_host(store: Store, snapshot: Snapshot, kind: str) -> dict[bytes, bytes]:
    found: dict[bytes, bytes] = {}
    for entry in snapshot.files_of(kind):
        rows = list(SequenceFileReader(store.open(entry.name)))
        keys = [key for key, _ in rows]
        assert keys == sorted(set(keys))
        assert all(partition_of(key.decode(), snapshot.partitions) == entry.partition for key in keys)
        found.update(rows)
    return found


def _index(
    store: Store, snapshot: Snapshot
) -> tuple[dict[Name, tuple[Any, ...]], dict[bytes, dict[Name, Posting]]]:
    documents: dict[Name, tuple[Any, ...]] = {}
    postings: defaultdict[bytes, dict[Name, Posting]] = defaultdict(dict)
    for segment in segments_of(snapshot.files):
        names, facts = _documents(store, snapshot, segment)
        assert documents.keys().isdisjoint(names)
        documents.update(zip(names, facts, strict=True))
        for term, found in _postings(store, segment, names):
            postings[term] |= found
    return documents, dict(postings)


def _documents(
    store: Store, snapshot: Snapshot, segment: Segment
) -> tuple[list[Name], list[tuple[Any, ...]]]:
    columns = ColumnReader(segment.open(store, COLUMNS), segment.documents)
    columns.check()
    numbers = {name: columns.column(name) for name in WIDTHS}
    docs = MapFileReader(segment.open(store, DOCS_DATA), segment.open(store, DOCS_INDEX))
    links = dict(SequenceFileReader(segment.open(store, LINKS)))
    sketches = segment.open(store, SKETCHES).read(0, segment.entries[SKETCHES].bytes)
    dead = read_tombstones(store, snapshot.files).get(segment.name)
    groups = read_groups(store, snapshot.files).get(segment.name)
    priors = [reader.of(segment.name) for reader in read_priors(store, snapshot.files).values()]
    prior = next((data for data in priors if data is not None), bytes(segment.documents))
    names: list[Name] = []
    facts: list[tuple[Any, ...]] = []
    for ordinal in range(segment.documents):
        place = pack_long(numbers["rows"][ordinal])
        value = docs.get(place)
        assert value is not None
        record = decode_record(value)
        assert partition_of(host_of(record.url), snapshot.partitions) == segment.partition
        names.append((record.url, record.fetched_at, segment.frontier))
        facts.append(
            (
                record,
                links[place],
                sketches[ordinal * SKETCH_BYTES : (ordinal + 1) * SKETCH_BYTES],
                tuple(numbers[name][ordinal] for name in WIDTHS if name != "rows"),
                dead is not None and ordinal in dead,
                groups and groups.group_of(ordinal),
                prior[ordinal],
            )
        )
    _check_order([webdb_key(url) for url, _, _ in names], columns.hosts())
    return names, facts


def _check_order(keys: list[bytes], hosts: Hosts) -> None:
    assert keys == sorted(set(keys)), "documents are in the order of the WebDB"
    for number, host in enumerate(hosts.names):
        first, after = hosts.bounds(number, len(keys))
        assert after > first
        assert all(key.startswith(host + b" ") for key in keys[first:after])


def _postings(
    store: Store, segment: Segment, names: list[Name]
) -> Iterator[tuple[bytes, dict[Name, Posting]]]:
    data = segment.open(store, POSTINGS).read(0, segment.entries[POSTINGS].bytes)
    for term, value in MapFileReader(segment.open(store, TERMS_DATA), segment.open(store, TERMS_INDEX)):
        place, _ = decode_term_info(value)
        parts = place.inlined or data[place.offset :][: place.documents_bytes + place.positions_bytes]
        documents = decode_documents(parts[: place.documents_bytes], place.count, segment.documents)
        positions = decode_positions(parts[place.documents_bytes :], place.count)
        assert max(documents.impacts) == place.max_impact
        rows = zip(documents.impacts, documents.masks, positions, strict=True)
        found = [Posting(impact, mask, tuple(where)) for impact, mask, where in rows]
        yield term, dict(zip([names[ordinal] for ordinal in documents.ordinals], found, strict=True))


def _runs(
    store: Store, snapshot: Snapshot
) -> tuple[Counter[tuple[int, DocRecord, bytes]], Counter[tuple[bytes, str, tuple[int, ...]]]]:
    """Return the documents and the words of runs; a run may be cut in several."""
    documents: Counter[tuple[int, DocRecord, bytes]] = Counter()
    words: Counter[tuple[bytes, str, tuple[int, ...]]] = Counter()
    for run in runs_of(snapshot.files):
        reader = WholeRun(store, run)
        number = int(run.links.split("/")[1])
        records = reader.records()
        links = [value for _, value in SequenceFileReader(store.open(run.links))]
        assert reader.documents == len(records) == len(links)
        for (ordinal, record), head in zip(records.items(), reader.heads(), strict=True):
            assert record.url == head.url
            assert partition_of(host_of(record.url), snapshot.partitions) == number
            documents[int(run.links.split("/")[2][:8]), record, links[ordinal]] += 1
        for term, found in reader.lists():
            for ordinal, where in zip(found.documents, found.positions, strict=True):
                words[term, records[ordinal].url, tuple(where)] += 1
    return documents, words


def _ranks(store: Store, snapshot: Snapshot) -> dict[bytes, bytes]:
    found: dict[bytes, bytes] = {}
    for entry in snapshot.files_of("ranks"):
        if entry.name.endswith("/url"):
            rows = list(SequenceFileReader(store.open(entry.name)))
            ranks = [float(rank) for _, rank in rows]
            assert ranks == sorted(ranks, reverse=True)
            hosts = {host_of(url.decode()) for url, _ in rows}
            assert all(partition_of(host, snapshot.partitions) == entry.partition for host in hosts)
            (aligned,) = (
                ArrayFile(store, other)
                for other in snapshot.files_of("ranks", entry.partition)
                if other.name.endswith("/ranks")
            )
            in_order = sorted((webdb_key(url.decode()), float(rank)) for url, rank in rows)
            assert aligned.read("ranks").tolist() == [rank for _, rank in in_order]
            found.update(rows)
    return found


def _table(store: Store, snapshot: Snapshot, by: str) -> dict[bytes, bytes]:
    entries = [entry for entry in snapshot.files_of("ranks") if entry.name.endswith(f"/{by}")]
    return {key: value for entry in entries for key, value in SequenceFileReader(store.open(entry.name))}


def _graph(store: Store, snapshot: Snapshot) -> Counter[tuple[int, int]]:
    graph = Graph(store, snapshot.files_of("graph"))
    links: Counter[tuple[int, int]] = Counter()
    if not graph.entries:
        return links
    nodes = range(snapshot.partitions)
    hashes = [_hashes(graph, number) for number in nodes]
    for source in nodes:
        degrees = np.zeros(len(hashes[source]), np.int64)
        for target in nodes:
            block = read_block(graph.blocks(source), target)
            counts = np.diff(block.starts, append=len(block.sources))
            ends = hashes[target][np.repeat(block.rows, counts)].tolist()
            links.update(zip(hashes[source][block.sources].tolist(), ends, strict=True))
            degrees += np.bincount(block.sources, minlength=len(degrees))
        assert degrees.tolist() == graph.blocks(source).read("degrees").tolist()
    assert graph.count("arcs") == links.total()
    return links


def _hashes(graph: Graph, number: int) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """Return the hashes of members by node, 0 for the others."""
    file = graph.nodes(number)
    found = np.zeros(graph.count("nodes", [number]), np.uint64)
    found[file.read("ordinals")] = file.read("hashes")
    assert file.read("hashes").tolist() == sorted(file.read("hashes").tolist())
    return found
