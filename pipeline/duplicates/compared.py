"""What a grouping keeps of the documents that it has compared: a row of 44 bytes per document of a segment.

By these rows the next grouping sees which documents are new or have another text, although merges have moved
all others to new segments and ordinals. By the keys in them it finds the documents that may be similar to the
new ones, without reading all sketches. The rows of a segment never change, as the segment does not. So a
grouping writes the rows of new segments only, in one ranged side file per partition (side_file.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.errors import CorruptFile, StoreError
from crawlctl.pipeline.index.segment.columns import ColumnReader
from crawlctl.pipeline.index.segment.segment_files import COLUMNS, SKETCHES
from crawlctl.pipeline.index.segment.side_file import RangedSideFile, write_ranged
from crawlctl.pipeline.state.kinds import COMPARED
from crawlctl.pipeline.text.likeness.fingerprint import SKETCH_BYTES
from crawlctl.pipeline.text.likeness.similar import SKETCH
from crawlctl.pipeline.text.likeness.sketch_sizes import KEYS, PARITY_BITS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from crawlctl.pipeline.index.segment.segment_files import Segment
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store

# A document: the hash of its URL, a checksum of its sketch (0 if it has no words), the keys of its sketch.
COMPARED_ROW = np.dtype([("hash", "<u8"), ("print", "<u4"), ("keys", "<u4", (KEYS,))])
_WINDOW = 1024  # documents whose sketches are read at once
_NEAR = 16  # ordinals: sketches that lie closer together are read as one range

# Odd numbers without a pattern, one for each word of a sketch: the multiples of the golden ratio.
_WEIGHTS = np.arange(1, PARITY_BITS // 32, 2).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)


class ComparedFiles:
    """The rows in some files, by the names of segments; a segment is read when it is asked for."""

    def __init__(self, store: Store, entries: Iterable[FileEntry]) -> None:
        self._files = [(entry, RangedSideFile(store, entry)) for entry in entries if entry.kind == COMPARED]
        self._holders = {name: file for _, file in self._files for name in file.segments}

    def __contains__(self, segment: str) -> bool:
        return segment in self._holders

    def rows(self, segment: str) -> NDArray[np.void]:
        """Return the rows of a segment, by ordinal."""
        if segment not in self._holders:
            raise StoreError(
                f"{segment} was compared for near duplicates, but no file says what was in it; "
                "`crawlctl check --repair` compares all documents"
            )
        return np.frombuffer(self._holders[segment].of(segment) or b"", COMPARED_ROW)

    def needed(self, segments: Collection[str]) -> tuple[FileEntry, ...]:
        """Return the files that have the rows of one of these segments."""
        return tuple(entry for entry, file in self._files if not set(file.segments).isdisjoint(segments))


def write_compared(
    store: Store, rows: Mapping[str, NDArray[np.void]], *, partition: int, round_number: int
) -> tuple[FileEntry, ...]:
    """Write the rows of some segments of a partition, by their names; without any, write no file."""
    if not rows:
        return ()
    data = {name: found.tobytes() for name, found in rows.items()}
    return (write_ranged(store, COMPARED, data, partition=partition, round_number=round_number),)


def rows_of(store: Store, segment: Segment) -> NDArray[np.void]:
    """Return the rows of a segment, from its columns and sketches."""
    count = segment.documents
    rows = np.zeros(count, COMPARED_ROW)
    rows["hash"] = np.frombuffer(ColumnReader(segment.open(store, COLUMNS), count).raw("hashes"), "<u8")
    for start, sketches in sketches_of(store, segment, np.arange(count)):
        window = rows[start : start + len(sketches)]
        window["keys"] = sketches["keys"]
        window["print"] = _prints(sketches)
    return rows


def _prints(sketches: NDArray[np.void]) -> NDArray[np.uint64]:
    sums = (sketches["parity"] * _WEIGHTS).sum(axis=1, dtype=np.uint64) >> np.uint64(32)
    prints: NDArray[np.uint64] = np.where(sketches["size"] > 0, sums | np.uint64(1), np.uint64(0))
    return prints


def sketches_of(
    store: Store, segment: Segment, ordinals: NDArray[np.intp]
) -> Iterator[tuple[int, NDArray[np.void]]]:
    """Yield the sketches of some documents of a segment, window by window, with the index of the first.

    The ordinals are rising. Sketches that lie close together are read as one range.
    """
    source = segment.open(store, SKETCHES)
    at = 0
    for near in np.split(ordinals, np.flatnonzero(np.diff(ordinals) > _NEAR) + 1):
        for window in (near[some : some + _WINDOW] for some in range(0, len(near), _WINDOW)):
            first, after = int(window[0]), int(window[-1]) + 1
            data = source.read(SKETCH_BYTES * first, SKETCH_BYTES * (after - first))
            if len(data) != SKETCH_BYTES * (after - first):
                raise CorruptFile(source.name, SKETCH_BYTES * first, "sketches are missing at the end")
            yield at, np.frombuffer(data, SKETCH)[window - first]
            at += len(window)
