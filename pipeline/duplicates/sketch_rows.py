"""The messages in which documents meet: one row of fixed size per document.

A row never holds a text. Similar texts have at least one of the eight keys of their sketches in common. So a
document is sent to the shard of each of its keys, once per shard, and two similar documents meet in at least
one shard. A row holds the sketch, with which the pair is compared there, and the values that choose the
leader of a group: whether the document leads already, the prior of its rank, the length of its URL, and the
hash of the URL, which breaks all ties.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.duplicates.compared import sketches_of
from crawlctl.pipeline.index.segment.columns import ColumnReader
from crawlctl.pipeline.index.segment.priors import read_priors
from crawlctl.pipeline.index.segment.segment_files import COLUMNS
from crawlctl.pipeline.text.likeness.similar import SKETCH

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from crawlctl.pipeline.index.segment.segment_files import Segment
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store

# A document; the fields are in the order in which the leader of a group is chosen.
MEMBER = np.dtype(
    [
        ("joins", "u1"),  # 0 for a document that leads already, if only itself; 1 for one that is compared
        ("demerit", "u1"),  # 255 minus the prior
        ("characters", "<u4"),  # of the URL
        ("hash", "<u8"),  # of the URL
        ("partition", "<u4"),
        ("segment", "<u4"),  # number of the segment within its partition
        ("ordinal", "<u4"),
    ]
)
ROW = np.dtype([("member", MEMBER), ("sketch", SKETCH)])


class SketchRows:
    """Reads the rows of documents of a partition."""

    def __init__(self, store: Store, entries: Iterable[FileEntry], partition: int) -> None:
        self._store = store
        self._partition = partition
        self._priors = read_priors(store, entries).get(partition)

    def of(
        self, number: int, segment: Segment, ordinals: NDArray[np.intp], joins: NDArray[np.bool_]
    ) -> Iterator[NDArray[np.void]]:
        """Yield the rows of some documents of a segment, which are at rising ordinals, some at a time."""
        if not len(ordinals):
            return
        members = self._members(number, segment, ordinals)
        members["joins"] = joins[ordinals]
        for start, sketches in sketches_of(self._store, segment, ordinals):
            rows = np.zeros(len(sketches), ROW)
            rows["member"] = members[start : start + len(sketches)]
            rows["sketch"] = sketches
            yield rows

    def _members(self, number: int, segment: Segment, ordinals: NDArray[np.intp]) -> NDArray[np.void]:
        count = segment.documents
        columns = ColumnReader(segment.open(self._store, COLUMNS), count)
        prior = self._priors.of(segment.name) if self._priors else None
        members = np.zeros(len(ordinals), MEMBER)
        members["demerit"] = 255 - np.frombuffer(prior or bytes(count), np.uint8)[ordinals]
        members["characters"] = np.frombuffer(columns.raw("characters"), "<u4")[ordinals]
        members["hash"] = np.frombuffer(columns.raw("hashes"), "<u8")[ordinals]
        members["partition"], members["segment"] = self._partition, number
        members["ordinal"] = ordinals
        return members


def dealt(rows: NDArray[np.void], shards: int) -> Iterator[tuple[int, bytes]]:
    """Yield (shard, packed rows): a row goes to the shards of all keys of its sketch."""
    homes = rows["sketch"]["keys"] % shards
    for shard in range(shards):
        found = rows[(homes == shard).any(axis=1)] if shards > 1 else rows
        if len(found):
            yield shard, found.tobytes()


def rows_in(messages: Sequence[bytes]) -> NDArray[np.void]:
    """Return the rows that a shard was sent, the preferred leaders first."""
    rows = np.frombuffer(b"".join(messages), ROW)
    return rows[np.argsort(rows["member"], order=list(MEMBER.names or ()))]
