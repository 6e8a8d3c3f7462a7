"""The side files of the segments of a partition of a copy: tombstones, priors and duplicate groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.copies.repartition.share import last_round
from crawlctl.pipeline.index.segment.duplicate_groups import pack_groups, read_groups, write_groups
from crawlctl.pipeline.index.segment.priors import read_priors, write_priors
from crawlctl.pipeline.index.segment.tombstones import Tombstones, read_tombstones, write_tombstones
from crawlctl.pipeline.state.kinds import DELETED, GROUPS, PRIORS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawlctl.pipeline.copies.repartition.moved_segments import MovedSegment
    from crawlctl.pipeline.copies.repartition.share import Share
    from crawlctl.pipeline.index.segment.duplicate_groups import DuplicateGroups
    from crawlctl.pipeline.index.segment.side_file import RangedSideFile
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store


def move_tombstones(
    source: Store, destination: Store, share: Share, segments: Sequence[MovedSegment]
) -> tuple[FileEntry, ...]:
    """Write the tombstones of a partition."""
    files = share.files_of(DELETED)
    known = read_tombstones(source, files)
    moved = [_tombstones(known, segment) for segment in segments]
    return write_tombstones(
        destination,
        moved,
        partition=share.number,
        round_number=last_round(files),
        frontiers=[segment.name for segment in segments if segment.frontier],
    )


def _tombstones(known: dict[str, Tombstones], segment: MovedSegment) -> Tombstones:
    dead = np.zeros(segment.documents, np.bool_)
    reanchored = 0
    for name, new in segment.members:
        if (old := known.get(name)) is not None:
            bits = np.unpackbits(np.frombuffer(old.bitmap, np.uint8), bitorder="little", count=len(new))
            dead[new[(new >= 0) & (bits != 0)]] = True
            # It is not stored which documents got new anchors, so their share is estimated; the next merge
            # counts them.
            reanchored += -(-old.reanchored * int((new >= 0).sum()) // max(len(new), 1))
    bitmap = np.packbits(dead, bitorder="little").tobytes()
    return Tombstones(segment.name, segment.documents, int(dead.sum()), reanchored, bitmap)


def move_priors(
    source: Store, destination: Store, share: Share, segments: Sequence[MovedSegment]
) -> tuple[FileEntry, ...]:
    """Write the priors of a partition."""
    files = share.files_of(PRIORS)
    readers = list(read_priors(source, files).values())
    found = {segment.name: _priors(readers, segment) for segment in segments}
    known = {name: data for name, data in found.items() if data is not None}
    return write_priors(destination, known, partition=share.number, round_number=last_round(files))


def _priors(readers: Sequence[RangedSideFile], segment: MovedSegment) -> bytes | None:
    """Return the priors of a segment, 0 for pages without a rank; None if no page has one."""
    priors = np.zeros(segment.documents, np.uint8)
    ranked = False
    for name, new in segment.members:
        for data in (reader.of(name) for reader in readers if name in reader):
            stay = np.flatnonzero(new >= 0)
            priors[new[stay]] = np.frombuffer(data or b"", np.uint8)[stay]
            ranked = True
    return priors.tobytes() if ranked else None


def move_groups(
    source: Store, destination: Store, share: Share, segments: Sequence[MovedSegment]
) -> tuple[FileEntry, ...]:
    """Write the duplicate groups of a partition, without segments whose sources were never compared."""
    files = share.files_of(GROUPS)
    known = read_groups(source, files)
    groups = [
        _groups(known, segment) for segment in segments if all(name in known for name, _ in segment.members)
    ]
    if not groups:
        return ()
    return write_groups(destination, groups, partition=share.number, round_number=last_round(files))


def _groups(known: dict[str, DuplicateGroups], segment: MovedSegment) -> DuplicateGroups:
    members: dict[int, int] = {}
    for name, new in segment.members:
        groups = known[name]
        ordinals = new[np.array(groups.ordinals, np.int64)].tolist()
        members.update(
            (ordinal, group) for ordinal, group in zip(ordinals, groups.groups, strict=True) if ordinal >= 0
        )
    return pack_groups(segment.name, members)
