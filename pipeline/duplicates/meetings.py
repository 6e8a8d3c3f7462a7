"""Chooses the documents of a partition that must be compared: those that have no group yet, and leaders.

A document without a group is compared with the leaders of groups, and a document that is in no group leads
itself. Only leaders that share a key with a document to be compared, of whatever partition, have to be sent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from crawlctl.pipeline.duplicates.compared import ComparedFiles
from crawlctl.pipeline.duplicates.known_partition import (
    MEMBERSHIP,
    PLACE,
    AliveNow,
    groups_by_ordinal,
    memberships,
)
from crawlctl.pipeline.duplicates.order import Home, Wanted, decode_messages, encode_message
from crawlctl.pipeline.duplicates.sketch_rows import SketchRows, dealt
from crawlctl.pipeline.index.segment.duplicate_groups import read_groups
from crawlctl.pipeline.text.likeness.sketch_sizes import KEYS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from crawlctl.pipeline.duplicates.order import GroupOrder
    from crawlctl.pipeline.store.base import Store

    Mask = NDArray[np.bool_]


_TABLE_BITS = 24  # of keys at most; a table of 16 MB, one for each of the eight columns of keys


class _Wishes:
    """What all partitions want: the keys of documents to be compared, and who has lost a leader."""

    def __init__(self, wanted: Sequence[Wanted]) -> None:
        keys = np.frombuffer(b"".join(one.keys for one in wanted), "<u4").reshape(-1, KEYS)
        self.left = np.sort(np.frombuffer(b"".join(one.left for one in wanted), "<u8"))
        self._columns = [_KeySet(column) for column in keys.T]

    def share_a_key(self, keys: NDArray[np.uint32]) -> Mask:
        """Return which documents share a key with a document to be compared."""
        shared = np.zeros(len(keys), np.bool_)
        for wanted, column in zip(self._columns, keys.T, strict=True):
            shared |= wanted.has(column)
        return shared


class _KeySet:
    """Some keys; a table of their first bits rules most other keys out without a search."""

    def __init__(self, keys: NDArray[np.uint32]) -> None:
        self._sorted = np.sort(keys)
        bits = min(_TABLE_BITS, (16 * len(keys)).bit_length())
        self._shift = np.uint32(32 - bits)
        self._beginnings = np.zeros(1 << bits, np.bool_)
        self._beginnings[self._sorted >> self._shift] = True

    def has(self, keys: NDArray[np.uint32]) -> Mask:
        """Return which keys are among them."""
        found: Mask = self._beginnings[keys >> self._shift]
        found[found] = _are_in(keys[found], self._sorted)
        return found


def _are_in(numbers: NDArray[np.unsignedinteger], sorted_numbers: NDArray[np.unsignedinteger]) -> Mask:
    """Return which numbers are among others; np.isin, which looks for duplicates first, is much slower."""
    if not len(sorted_numbers):
        return np.zeros(len(numbers), np.bool_)
    near = np.minimum(np.searchsorted(sorted_numbers, numbers), len(sorted_numbers) - 1)
    found: Mask = sorted_numbers[near] == numbers
    return found


def meetings(
    store: Store, order: GroupOrder, partition: int, messages: Iterable[bytes]
) -> Iterator[tuple[int, bytes]]:
    """Yield (shard, rows) for the documents of a partition that meet others, and (task, Home) for its end.

    `task` is the number of the shards and the partition added up.
    """
    told = decode_messages(messages)
    home = next(one for one in told if isinstance(one, Home))
    wanted = [one for one in told if isinstance(one, Wanted)]
    if wanted or home.new:
        choice = _Choice(store, home, _Wishes(wanted))
        for rows in choice.rows():
            yield from dealt(rows, order.shards)
        home = choice.home
    yield order.shards + partition, encode_message(home)


class _Choice:
    """The documents of a partition that are compared or lead; `home` is what stays as it was."""

    def __init__(self, store: Store, home: Home, wishes: _Wishes) -> None:
        self.home = home
        self._store = store
        self._wishes = wishes
        self._now = AliveNow(store, home.files.entries)
        self._compared = ComparedFiles(store, home.compared)
        self._new = np.frombuffer(home.new, PLACE)
        self._grouped = grouped_now(store, home, self._now)

    def rows(self) -> Iterator[NDArray[np.void]]:
        """Yield the rows of the documents that must be compared, some at a time."""
        sketches = SketchRows(self._store, self.home.files.entries, self.home.files.partition)
        for number, segment in enumerate(self._now.segments):
            rows, living = self._compared.rows(segment.name), self._now.of(segment)
            groups = self._groups_of(number, len(rows))
            joins = np.zeros(len(rows), np.bool_)
            joins[self._new["ordinal"][self._new["segment"] == number]] = True
            joins |= self._released(number, rows["hash"], groups)
            leads = living & ~joins & (rows["print"] > 0) & ((groups == 0) | (groups == rows["hash"]))
            leads[leads] = self._wishes.share_a_key(rows["keys"][leads])
            yield from sketches.of(number, segment, np.flatnonzero(joins | leads), joins)

    def _groups_of(self, number: int, count: int) -> NDArray[np.uint64]:
        mine = self._grouped[self._grouped["segment"] == number]
        groups = np.zeros(count, np.uint64)
        groups[mine["ordinal"]] = mine["group"]
        return groups

    def _released(self, number: int, hashes: NDArray[np.uint64], groups: NDArray[np.uint64]) -> Mask:
        """Return which documents of a segment have lost the leader of their group; they leave the group."""
        left: Mask = groups != 0
        left[left] = _are_in(hashes[left], self._wishes.left)
        if left.any():
            mine = self._grouped["segment"] == number
            keep = np.ones(len(self._grouped), np.bool_)
            keep[mine] = ~left[self._grouped["ordinal"][mine]]
            self._grouped = self._grouped[keep]
            self.home = replace(self.home, is_changed=True, grouped=self._grouped.tobytes())
        return left


def grouped_now(store: Store, home: Home, now: AliveNow) -> NDArray[np.void]:
    """Return the documents of a partition that are in a group before any is compared, as MEMBERSHIP."""
    if home.is_changed:
        return np.frombuffer(home.grouped, MEMBERSHIP)
    known = read_groups(store, home.files.entries)
    found = [np.zeros(0, MEMBERSHIP)]
    for number, segment in enumerate(now.segments):
        groups = groups_by_ordinal(known[segment.name], segment.documents)
        members = np.flatnonzero(groups)
        found.append(memberships(number, members, groups[members]))
    return np.concatenate(found)
