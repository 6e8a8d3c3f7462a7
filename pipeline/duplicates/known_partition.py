"""The documents of a partition as arrays: which there are now, which group they are in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.duplicates.grouping_due import searched_segments
from crawlctl.pipeline.index.segment.tombstones import read_tombstones

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from crawlctl.pipeline.index.segment.duplicate_groups import DuplicateGroups
    from crawlctl.pipeline.index.segment.segment_files import Segment
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store

# The place of a document in its partition: the number of its segment, in the order of their names.
PLACE = np.dtype([("segment", "<u4"), ("ordinal", "<u4")])
# A document in a group; the group is known by the hash of the URL of its leader.
MEMBERSHIP = np.dtype([*PLACE.descr, ("group", "<u8")])


class AliveNow:
    """Which documents of the segments of a partition have no tombstone."""

    def __init__(self, store: Store, entries: Iterable[FileEntry]) -> None:
        files = tuple(entries)
        self.segments: list[Segment] = searched_segments(files)
        self._tombstones = read_tombstones(store, files)

    def of(self, segment: Segment) -> NDArray[np.bool_]:
        """Return which documents of a segment are alive, by ordinal."""
        return alive(self.dead(segment.name), segment.documents)

    def dead(self, segment: str) -> bytes:
        """Return the bitmap of the deleted documents of a segment; empty if none is deleted."""
        found = self._tombstones.get(segment)
        return found.bitmap if found and found.dead else b""


def alive(dead: bytes, count: int) -> NDArray[np.bool_]:
    """Return which of some documents are alive, from the bitmap of the others."""
    bits = np.frombuffer(dead or bytes(-(-count // 8)), np.uint8)
    found: NDArray[np.bool_] = np.unpackbits(bits, count=count, bitorder="little") == 0
    return found


def groups_by_ordinal(groups: DuplicateGroups, count: int) -> NDArray[np.uint64]:
    """Return the group of each document of a segment, 0 for none."""
    found = np.zeros(count, np.uint64)
    found[np.frombuffer(groups.packed_ordinals, "<u4")] = np.frombuffer(groups.packed_groups, "<u8")
    return found


def memberships(segment: int, ordinals: NDArray[np.intp], groups: NDArray[np.uint64]) -> NDArray[np.void]:
    """Return documents of a segment with their groups as MEMBERSHIP."""
    rows = np.zeros(len(ordinals), MEMBERSHIP)
    rows["segment"], rows["ordinal"], rows["group"] = segment, ordinals, groups
    return rows


def places(segment: int, ordinals: NDArray[np.intp]) -> NDArray[np.void]:
    """Return documents of a segment as PLACE."""
    rows = np.zeros(len(ordinals), PLACE)
    rows["segment"], rows["ordinal"] = segment, ordinals
    return rows
