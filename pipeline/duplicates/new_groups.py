"""Writes the groups of a partition: those that are as they were, and those that were found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.duplicates.grouping_due import marks_of, millionths
from crawlctl.pipeline.duplicates.known_partition import MEMBERSHIP, AliveNow
from crawlctl.pipeline.duplicates.meetings import grouped_now
from crawlctl.pipeline.duplicates.order import Home, Labels, decode_messages
from crawlctl.pipeline.duplicates.pairs import GROUPED
from crawlctl.pipeline.index.segment.duplicate_groups import LEAST, OF_INDEX, DuplicateGroups, write_groups
from crawlctl.pipeline.state.kinds import GROUPS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from crawlctl.pipeline.duplicates.order import GroupOrder
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store


def write_partition(
    store: Store, order: GroupOrder, partition: int, messages: Iterable[bytes]
) -> tuple[FileEntry, ...]:
    """Return the files of the groups of a partition, the old ones if nothing in them has changed."""
    told = decode_messages(messages)
    home = next(one for one in told if isinstance(one, Home))
    found = np.frombuffer(b"".join(one.rows for one in told if isinstance(one, Labels)), GROUPED)
    if not home.is_changed and not len(found):
        return (*(entry for entry in home.files.entries if entry.kind == GROUPS), *home.compared)
    now = AliveNow(store, home.files.entries)
    if not now.segments:
        return ()
    groups = [*_groups(now, _together(grouped_now(store, home, now), found))]
    counters = {OF_INDEX: marks_of(home.files.entries)[partition], LEAST: millionths(order.threshold)}
    written = write_groups(store, groups, partition=partition, round_number=order.round, counters=counters)
    return (*written, *home.compared)


def _together(kept: NDArray[np.void], found: NDArray[np.void]) -> NDArray[np.void]:
    """Return all documents that are in a group, by segment and ordinal; what was found is newer."""
    rows = np.zeros(len(kept) + len(found), MEMBERSHIP)
    for name in MEMBERSHIP.names or ():
        rows[name] = np.concatenate([found[name], kept[name]])
    order = np.lexsort((rows["ordinal"], rows["segment"]))  # keeps the order of equals
    rows = rows[order]
    is_first = np.ones(len(rows), np.bool_)
    is_first[1:] = (np.diff(rows["segment"]) != 0) | (np.diff(rows["ordinal"]) != 0)
    return rows[is_first]


def _groups(now: AliveNow, rows: NDArray[np.void]) -> Iterator[DuplicateGroups]:
    for number, segment in enumerate(now.segments):
        mine = rows[rows["segment"] == number]
        packed = mine["ordinal"].astype("<u4").tobytes(), mine["group"].astype("<u8").tobytes()
        yield DuplicateGroups(segment.name, *packed, now.dead(segment.name))
