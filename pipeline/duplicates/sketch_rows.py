"""The messages of the job that finds near duplicates: one row of fixed size per document.

A row never holds a text. Similar texts have at least one of the eight keys of their sketches in common. So a
document is sent to the shard of each of its keys, once per shard, and two similar documents meet in at least
one shard. A row holds the sketch, with which the pair is compared there, and the values that choose the
representative of a group: the prior of the rank, the length of the URL, and the hash of the URL, which breaks
all ties.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.index.segment.columns import ColumnReader
from crawlctl.pipeline.index.segment.priors import read_priors
from crawlctl.pipeline.index.segment.segment_files import COLUMNS, SKETCHES, segments_of
from crawlctl.pipeline.index.segment.tombstones import read_tombstones
from crawlctl.pipeline.text.likeness.fingerprint import SKETCH_BYTES
from crawlctl.pipeline.text.likeness.similar import SKETCH

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from crawlctl.pipeline.index.segment.segment_files import Segment
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store

# A document; the fields are in the order in which the representative of a group is chosen.
MEMBER = np.dtype(
    [
        ("demerit", "u1"),  # 255 minus the prior
        ("characters", "<u4"),  # of the URL
        ("hash", "<u8"),  # of the URL
        ("partition", "<u4"),
        ("segment", "<u4"),  # number of the segment within its partition
        ("ordinal", "<u4"),
    ]
)
ROW = np.dtype([("member", MEMBER), ("sketch", SKETCH)])
WINDOW_ROWS = 16_384  # documents whose rows are in memory at the same time


def spread_rows(
    store: Store, entries: Sequence[FileEntry], partition: int, shards: int
) -> Iterator[tuple[int, bytes]]:
    """Yield (shard, packed rows) for the documents of a partition that have no tombstone."""
    priors = read_priors(store, entries).get(partition)
    tombstones = read_tombstones(store, entries)
    for number, segment in enumerate(segments_of(entries)):
        if not segment.frontier:
            dead = tombstones.get(segment.name)
            prior = priors.of(segment.name) if priors else None
            members = _members(store, segment, number, prior)
            alive = _alive(dead.bitmap if dead else b"", segment.documents)
            for rows in _windows(store, segment, members, alive):
                yield from dealt(rows, shards)


def _members(store: Store, segment: Segment, number: int, prior: bytes | None) -> NDArray[np.void]:
    count = segment.documents
    columns = ColumnReader(segment.open(store, COLUMNS), count)
    members = np.zeros(count, MEMBER)
    members["demerit"] = 255 - np.frombuffer(prior or bytes(count), np.uint8)
    members["characters"] = np.frombuffer(columns.raw("characters"), "<u4")
    members["hash"] = np.frombuffer(columns.raw("hashes"), "<u8")
    members["partition"], members["segment"] = segment.partition, number
    members["ordinal"] = np.arange(count)
    return members


def _alive(dead: bytes, count: int) -> NDArray[np.bool_]:
    bits = np.frombuffer(dead or bytes(-(-count // 8)), np.uint8)
    alive: NDArray[np.bool_] = np.unpackbits(bits, count=count, bitorder="little") == 0
    return alive


def _windows(
    store: Store, segment: Segment, members: NDArray[np.void], alive: NDArray[np.bool_]
) -> Iterator[NDArray[np.void]]:
    source = segment.open(store, SKETCHES)
    for start in range(0, len(members), WINDOW_ROWS):
        window = members[start : start + WINDOW_ROWS]
        sketches = source.read(SKETCH_BYTES * start, SKETCH_BYTES * len(window))
        if len(sketches) != SKETCH_BYTES * len(window):
            raise CorruptFile(source.name, SKETCH_BYTES * start, "sketches are missing at the end")
        rows = np.zeros(len(window), ROW)
        rows["member"] = window
        rows["sketch"] = np.frombuffer(sketches, SKETCH)
        yield rows[alive[start : start + WINDOW_ROWS] & (rows["sketch"]["size"] > 0)]


def dealt(rows: NDArray[np.void], shards: int) -> Iterator[tuple[int, bytes]]:
    """Yield (shard, packed rows): a row goes to the shards of all keys of its sketch."""
    homes = rows["sketch"]["keys"] % shards
    for shard in range(shards):
        found = rows[(homes == shard).any(axis=1)] if shards > 1 else rows
        if len(found):
            yield shard, found.tobytes()


def rows_in(messages: Sequence[bytes]) -> NDArray[np.void]:
    """Return the rows that a shard was sent, the preferred representatives first."""
    rows = np.frombuffer(b"".join(messages), ROW)
    return rows[np.argsort(rows["member"], order=list(MEMBER.names or ()))]
