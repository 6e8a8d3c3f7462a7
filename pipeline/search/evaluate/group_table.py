"""GroupTable: the duplicate groups of all documents of an open index, by document and by group."""

from __future__ import annotations

from bisect import bisect_right
from operator import itemgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crawlctl.pipeline.index.segment.duplicate_groups import DuplicateGroups

_GROUP_BYTES = 8
_FEW = 50  # searches before tables are made; a process that answers one query does fewer searches than this

_base = itemgetter(0)


class GroupTable:
    """Finds the group of a document, and the documents of a group, by the numbers of documents.

    The first searches read the groups as they are stored. After that it makes tables of all groups and keeps
    them as long as the index is open: so in a process that answers many queries the time of a search does not
    grow with the number of groups.
    """

    def __init__(self, segments: Iterable[tuple[int, DuplicateGroups]]) -> None:
        # Each with the number of the first document of its segment, in rising order.
        self._segments = [(base, groups) for base, groups in segments if groups.packed_ordinals]
        self._searches = 0
        self._by_document: dict[int, int] | None = None
        self._by_group: dict[int, list[int]] = {}

    def __bool__(self) -> bool:
        return bool(self._segments)

    def group_of(self, document: int) -> int | None:
        """Return the group of a document, None if it has no near duplicate."""
        if self._by_document is not None:
            return self._by_document.get(document)
        self._searches += 1
        if self._searches > _FEW:
            return self._tables().get(document)
        index = bisect_right(self._segments, document, key=_base) - 1
        if index < 0:
            return None
        base, groups = self._segments[index]
        return groups.group_of(document - base)

    def members(self, group: int) -> Sequence[int]:
        """Return the documents of a group, rising."""
        if self._by_document is not None:
            return self._by_group[group]
        packed = group.to_bytes(_GROUP_BYTES, "little")
        return [
            base + groups.ordinals[index]
            for base, groups in self._segments
            for index in _indices(packed, groups.packed_groups)
        ]

    def _tables(self) -> dict[int, int]:
        by_document: dict[int, int] = {}
        for base, groups in self._segments:
            for ordinal, group in zip(groups.ordinals, groups.groups, strict=True):
                by_document[base + ordinal] = group
                self._by_group.setdefault(group, []).append(base + ordinal)
        self._by_document = by_document
        return by_document


def _indices(packed: bytes, groups: bytes) -> list[int]:
    """Return the indices of a group among packed groups; `bytes.find` looks for its bytes in C."""
    found: list[int] = []
    at = groups.find(packed)
    while at >= 0:
        index, rest = divmod(at, _GROUP_BYTES)
        if not rest:
            found.append(index)
        at = groups.find(packed, at + (_GROUP_BYTES - rest if rest else _GROUP_BYTES))
    return found
