"""Finds what has changed in a partition since the last grouping: new texts, and leaders that are gone.

A document is known by the hash of its URL and by its sketch, so that it stays the same when a merge moves it
to another segment. A document whose text has changed counts as gone and as new.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crawlctl.pipeline.duplicates.compared import COMPARED_ROW, ComparedFiles, rows_of, write_compared
from crawlctl.pipeline.duplicates.grouping_due import marks_of
from crawlctl.pipeline.duplicates.known_partition import (
    MEMBERSHIP,
    PLACE,
    AliveNow,
    alive,
    groups_by_ordinal,
    memberships,
    places,
)
from crawlctl.pipeline.duplicates.order import Home, Wanted, encode_message
from crawlctl.pipeline.index.segment.duplicate_groups import OF_INDEX, read_groups
from crawlctl.pipeline.state.kinds import GROUPS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from crawlctl.pipeline.duplicates.order import GroupOrder, PartitionFiles
    from crawlctl.pipeline.index.segment.duplicate_groups import DuplicateGroups
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store

    Rows = NDArray[np.void]


class _Moving(NamedTuple):
    """Documents that are not where the last grouping has seen them, and their groups (0 for none)."""

    rows: Rows  # COMPARED_ROW, by rising hashes
    groups: NDArray[np.uint64]


class Changes(NamedTuple):
    """What has changed in a partition."""

    home: Home
    new: Rows  # COMPARED_ROW of the documents that were not compared yet
    gone: NDArray[np.uint64]  # the leaders of groups that are gone, by the hashes of their URLs


def messages_about(store: Store, order: GroupOrder, files: PartitionFiles) -> Iterator[tuple[int, bytes]]:
    """Yield (partition, message) for what has changed in a partition.

    If all documents are compared, no partition has to be told which ones are.
    """
    changes = _unchanged(order, files) or changes_of(store, order, files)
    yield files.partition, encode_message(changes.home)
    left = followers_of(store, order, changes.gone)
    if order.state and (len(changes.new) or len(left)):
        keys = np.concatenate([changes.new["keys"], left["keys"]])
        wanted = encode_message(Wanted(keys.tobytes(), left["hash"].tobytes()))
        yield from ((partition, wanted) for partition in order.partitions)


def _unchanged(order: GroupOrder, files: PartitionFiles) -> Changes | None:
    """Return no changes if a partition has the same segments and tombstones, None if it may have changed."""
    entries = [entry for entry in order.state if entry.partition == files.partition]
    marks = [entry.counters[OF_INDEX] for entry in entries if entry.kind == GROUPS]
    if not marks or marks_of(files.entries) != {files.partition: marks[0]}:
        return None
    compared = tuple(entry for entry in entries if entry.kind != GROUPS)
    return Changes(Home(files, compared), np.zeros(0, COMPARED_ROW), np.zeros(0, np.uint64))


def changes_of(store: Store, order: GroupOrder, files: PartitionFiles) -> Changes:
    """Return what has changed in a partition, and write the rows of its new segments."""
    state = [entry for entry in order.state if entry.partition == files.partition]
    before, compared = read_groups(store, state), ComparedFiles(store, state)
    now = AliveNow(store, files.entries)
    moving = _moving(compared, before, now)
    found, new_rows, new, grouped = np.zeros(len(moving.rows), np.bool_), {}, [], []
    new_places = [np.zeros(0, PLACE)]
    for number, segment in enumerate(now.segments):
        living = now.of(segment)
        if segment.name in before:
            groups = np.where(living, groups_by_ordinal(before[segment.name], segment.documents), 0)
        else:
            rows = new_rows[segment.name] = rows_of(store, segment)
            at = _find(moving.rows, rows, living)
            found[at[at >= 0]] = True
            groups = np.append(moving.groups, np.uint64(0))[at]
            fresh = np.flatnonzero(living & (at < 0) & (rows["print"] > 0))
            new.append(rows[fresh])
            new_places.append(places(number, fresh))
        members = np.flatnonzero(groups)
        grouped.append(memberships(number, members, groups[members]))
    written = write_compared(store, new_rows, partition=files.partition, round_number=order.round)
    kept = compared.needed({segment.name for segment in now.segments})
    home = Home(
        files,
        (*kept, *written),
        is_changed=True,
        new=np.concatenate(new_places).tobytes(),
        grouped=np.concatenate([np.zeros(0, MEMBERSHIP), *grouped]).tobytes(),
    )
    led = ~found & (moving.groups == moving.rows["hash"])
    return Changes(home, np.concatenate([np.zeros(0, COMPARED_ROW), *new]), moving.rows["hash"][led])


def _moving(compared: ComparedFiles, before: dict[str, DuplicateGroups], now: AliveNow) -> _Moving:
    """Return the documents that the last grouping has seen and that are no longer alive in their place."""
    segments = {segment.name: segment for segment in now.segments}
    rows, groups = [np.zeros(0, COMPARED_ROW)], [np.zeros(0, np.uint64)]
    for name, known in before.items():
        segment = segments.get(name)
        if segment and now.dead(name) == known.dead:
            continue
        some = compared.rows(name)
        left = alive(known.dead, len(some)) & ~(now.of(segment) if segment else np.False_)
        rows.append(some[left])
        groups.append(groups_by_ordinal(known, len(some))[left])
    together, of_groups = np.concatenate(rows), np.concatenate(groups)
    order = np.argsort(together["hash"], kind="stable")
    return _Moving(together[order], of_groups[order])


def _find(moving: Rows, rows: Rows, wanted: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return for each row the index of the same document among those that move; -1 if it is not there."""
    at = np.full(len(rows), -1)
    asked = np.flatnonzero(wanted)
    if len(moving):
        near = np.minimum(np.searchsorted(moving["hash"], rows["hash"][asked]), len(moving) - 1)
        same = moving[near] == rows[asked]
        at[asked[same]] = near[same]
    return at


def followers_of(store: Store, order: GroupOrder, leaders: NDArray[np.uint64]) -> Rows:
    """Return the documents of all partitions that were in the group of one of these leaders, as they were."""
    found = [np.zeros(0, COMPARED_ROW)]
    if len(leaders):
        partitions = {entry.partition for entry in order.state if entry.kind == GROUPS}
        for partition in sorted(partitions):
            found += _followers_in(store, [e for e in order.state if e.partition == partition], leaders)
    rows = np.concatenate(found)
    return rows[~np.isin(rows["hash"], leaders)]


def _followers_in(store: Store, state: Sequence[FileEntry], leaders: NDArray[np.uint64]) -> Iterator[Rows]:
    compared: ComparedFiles | None = None
    for name, groups in read_groups(store, state).items():
        following = np.isin(np.frombuffer(groups.packed_groups, "<u8"), leaders)
        if following.any():
            compared = compared or ComparedFiles(store, state)
            yield compared.rows(name)[np.frombuffer(groups.packed_ordinals, "<u4")[following]]
