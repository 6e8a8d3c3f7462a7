"""Duplicate groups: which documents of a segment have near duplicates.

The near duplicates may be in any segment of the crawl. There is one side file of records per partition
(side_file.py). A record has the ordinals of the grouped documents of a segment, rising (4 bytes each,
little-endian), and the group of each document (8 bytes each): the `stable_hash` of the URL of its leader. It
also says which documents were deleted when the segment was compared: the next grouping must know which
documents the last one has seen.
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.index.segment.side_file import RecordLayout
from crawlctl.pipeline.state.kinds import GROUPS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store


# Counters of the groups of a partition: what was compared (marks_of), and the least similarity in millionths.
OF_INDEX, LEAST = "of index", "least similarity"


class DuplicateGroups(msgspec.Struct, frozen=True, array_like=True, dict=True):
    """The grouped documents of one segment; most documents are in no group."""

    segment: str  # the name of the segment
    packed_ordinals: bytes
    packed_groups: bytes
    dead: bytes = b""  # one bit per document, set for those that were deleted; empty if none was

    @cached_property
    def ordinals(self) -> array[int]:
        """The ordinals of the grouped documents, rising."""
        return _numbers("I", self.packed_ordinals)

    @cached_property
    def groups(self) -> array[int]:
        """The group of each grouped document, in the order of `ordinals`."""
        return _numbers("Q", self.packed_groups)

    def group_of(self, ordinal: int) -> int | None:
        """Return the group of a document, None if it has no near duplicate."""
        index = bisect_left(self.ordinals, ordinal)
        found = index < len(self.ordinals) and self.ordinals[index] == ordinal
        return self.groups[index] if found else None


def pack_groups(segment: str, members: Mapping[int, int]) -> DuplicateGroups:
    """Return the groups of a segment from a mapping of ordinal to group."""
    ordinals = sorted(members)
    groups = [members[ordinal] for ordinal in ordinals]
    return DuplicateGroups(segment, _bytes("I", ordinals), _bytes("Q", groups))


def write_groups(
    store: Store,
    segments: Iterable[DuplicateGroups],
    *,
    partition: int,
    round_number: int,
    counters: Mapping[str, int] | None = None,
) -> tuple[FileEntry, ...]:
    """Write the groups of all segments of a partition.

    A segment without groups is written too: its record says that its documents were compared.
    """
    kept = tuple(segments)
    counters = {"grouped": sum(len(groups.ordinals) for groups in kept), **(counters or {})}
    return (_LAYOUT.write(store, kept, partition=partition, round_number=round_number, counters=counters),)


def read_groups(store: Store, entries: Iterable[FileEntry]) -> dict[str, DuplicateGroups]:
    """Return the groups in the files of a snapshot, by the name of their segment."""
    return _LAYOUT.read(store, entries)


def _checked(groups: DuplicateGroups) -> tuple[bytes, ...]:
    return groups.segment.encode(), groups.packed_ordinals, groups.packed_groups, groups.dead


def _unpacked(groups: DuplicateGroups) -> DuplicateGroups:
    """Check a record; its arrays are unpacked when a query first asks for them."""
    count, rest = divmod(len(groups.packed_ordinals), 4)
    if rest or len(groups.packed_groups) != 8 * count:
        raise ValueError(f"{groups.segment} has not as many groups as documents")
    return groups


_LAYOUT = RecordLayout(GROUPS, DuplicateGroups, _checked, lambda groups: groups, _unpacked)


def _numbers(code: str, data: bytes) -> array[int]:
    numbers = array(code, data)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def _bytes(code: str, numbers: list[int]) -> bytes:
    packed = array(code, numbers)
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()
