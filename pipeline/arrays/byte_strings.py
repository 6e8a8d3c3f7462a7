"""Many byte strings in one numpy array: cut, chosen, sorted and joined without a loop over them.

One object per string, for a hundred thousand terms, costs more than all other work on them. Here a string is
a start and a length in an array of bytes that many strings share; choosing some of them copies no bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import lt, ne
from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.arrays.ragged import starts_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from crawlctl.pipeline.arrays.array_types import (
        BoolArray,
        IndexArray,
        Int64Array,
        KeyArray,
        Octets,
        UInt64Array,
    )

KEY_BYTES = 16
MAX_MOVED_BYTES = 512  # each longer string is moved by itself
_FEW = 32  # at most this many of the longest strings are moved one by one: the rest then takes few rounds

_PADDING = np.zeros(KEY_BYTES, np.uint8)
# By length: which of the 16 bytes from its start on belong to a string.
_MASKS = np.tri(KEY_BYTES + 1, KEY_BYTES, -1, np.uint8) * np.uint8(255)
_WHOLE_MASKS = np.concatenate((_MASKS, np.zeros((1, KEY_BYTES), np.uint8)))


@dataclass(frozen=True, eq=False)
class ByteStrings:
    """Strings in one array of bytes: string i is `octets[starts[i] : starts[i] + lengths[i]]`."""

    octets: Octets
    starts: Int64Array
    lengths: Int64Array

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, index: int) -> bytes:
        start = int(self.starts[index])
        return self.octets[start : start + int(self.lengths[index])].tobytes()

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.tolist())

    def between(self, start: int, stop: int) -> ByteStrings:
        """Return the strings with an index from `start` on and below `stop`."""
        return ByteStrings(self.octets, self.starts[start:stop], self.lengths[start:stop])

    def take(self, indices: NDArray[np.integer] | BoolArray) -> ByteStrings:
        """Return the strings at these indices, or where a mask is set."""
        return ByteStrings(self.octets, self.starts[indices], self.lengths[indices])

    def trimmed(self) -> ByteStrings:
        """Return the same strings without the unused bytes before the first and far behind the last."""
        if not len(self):
            return ByteStrings(self.octets[:0], self.starts, self.lengths)
        first, end = int(self.starts.min()), self._end()
        return ByteStrings(self.octets[first : end + KEY_BYTES], self.starts - first, self.lengths)

    def padded(self) -> ByteStrings:
        """Return the same strings with at least 16 bytes behind the last."""
        if self._end() + KEY_BYTES <= len(self.octets):
            return self
        strings = self.trimmed()
        return ByteStrings(np.concatenate((strings.octets, _PADDING)), strings.starts, strings.lengths)

    def _end(self) -> int:
        return int((self.starts + self.lengths).max(initial=0))

    def tolist(self) -> list[bytes]:
        """Return the strings as a list of bytes objects."""
        strings = self.trimmed()
        data = strings.octets.tobytes()
        ends = strings.starts + strings.lengths
        return [data[start:end] for start, end in zip(strings.starts.tolist(), ends.tolist(), strict=True)]

    def joined(self, separator: int) -> bytes:
        """Return the strings end to end, with a separator behind each."""
        octets, starts = self.laid_out(behind=1)
        octets[starts + self.lengths] = separator
        return octets.tobytes()

    def laid_out(self, before: int = 0, behind: int = 0) -> tuple[Octets, Int64Array]:
        """Return the strings end to end, with room of some bytes around each, and their starts."""
        starts = starts_of(self.lengths + (before + behind))
        starts += before
        size = int(self.lengths.sum()) + (before + behind) * len(self)
        octets = np.empty(size + KEY_BYTES, np.uint8)
        long = self.lengths > _most_moved(self.lengths)
        if not long.any():
            self._move(octets, starts)
            return octets[:size], starts
        self.take(~long)._move(octets, starts[~long])
        bounds = np.column_stack((starts[long], self.starts[long], self.lengths[long]))
        for at, start, length in bounds.tolist():
            octets[at : at + length] = self.octets[start : start + length]
        return octets[:size], starts

    def _move(self, octets: Octets, starts: Int64Array) -> None:
        """Copy the strings to `octets`, each to its start, 16 bytes at a time; the starts must rise."""
        strings = self.padded()
        source, sink = _windows(strings.octets), _windows(octets)
        several = np.flatnonzero(self.lengths > KEY_BYTES)
        # Bytes that are copied too far land in the first 16 bytes of the strings that follow. These are
        # copied later: numpy assigns one by one, in the order of the indices.
        for at in range((int(self.lengths.max(initial=1)) - 1) // KEY_BYTES * KEY_BYTES, 0, -KEY_BYTES):
            longer = several[self.lengths[several] > at]
            sink[starts[longer] + at] = source[strings.starts[longer] + at]
        sink[starts] = source[strings.starts]


def _most_moved(lengths: Int64Array) -> int:
    """Return the length above which a string is copied by itself: very long, or one of the longest."""
    longest = int(lengths.max(initial=0))
    if longest <= 2 * KEY_BYTES or len(lengths) <= _FEW:
        return MAX_MOVED_BYTES
    return min(MAX_MOVED_BYTES, int(np.partition(lengths, -_FEW)[-_FEW]))


def strings_of(strings: Sequence[bytes]) -> ByteStrings:
    """Return these bytes objects as strings in one array."""
    lengths = np.fromiter(map(len, strings), np.int64, len(strings))
    octets = np.frombuffer(b"".join((*strings, bytes(KEY_BYTES))), np.uint8)
    return ByteStrings(octets, starts_of(lengths), lengths)


def cut_at(separator: int, octets: Octets) -> ByteStrings:
    """Return the string before each separator; bytes behind the last separator are left out."""
    ends = np.flatnonzero(octets == separator)
    starts = np.zeros_like(ends)
    starts[1:] = ends[:-1] + 1
    return ByteStrings(octets, starts, ends - starts)


def chained(items: Sequence[ByteStrings]) -> ByteStrings:
    """Return the strings of all items, beginning with the first item."""
    items = [item for item in items if len(item)] or items[:1]
    if len(items) == 1:
        return items[0]
    items = [
        item.trimmed() for item in items
    ]  # else strings that are chained repeatedly would keep all bytes
    shifts = starts_of(np.array([len(item.octets) for item in items]))
    return ByteStrings(
        np.concatenate([*(item.octets for item in items), _PADDING]),
        np.concatenate([item.starts + shift for item, shift in zip(items, shifts, strict=True)]),
        np.concatenate([item.lengths for item in items]),
    )


def replaced(strings: ByteStrings, others: Mapping[int, bytes]) -> ByteStrings:
    """Return the strings, with the strings `others` at some indices."""
    if not others:
        return strings
    order = np.arange(len(strings))
    order[list(others)] = len(strings) + np.arange(len(others))
    return chained([strings, strings_of([*others.values()])]).take(order)


def byte_order(strings: ByteStrings) -> IndexArray:
    """Return the indices of the strings in byte order; equal strings keep their order."""
    highs, lows = _halves(strings)
    order = np.argsort(highs, kind="stable")
    highs, lows = highs[order], lows[order]
    tied = highs[1:] == highs[:-1]
    wrong = _groups_with(tied & (lows[1:] < lows[:-1]), tied)
    righted = wrong[np.lexsort((lows[wrong], highs[wrong]))]
    order[wrong], lows[wrong] = order[righted], lows[righted]
    lengths = strings.lengths[order]
    alike = tied & (lows[1:] == lows[:-1])
    doubtful = _groups_with(alike & ((lengths[1:] != lengths[:-1]) | (lengths[1:] > KEY_BYTES)), alike)
    found = strings.take(order[doubtful]).tolist()
    # The groups of strings that begin with the same bytes are in order already; only the order within each
    # group is not known yet.
    order[doubtful] = order[doubtful][sorted(range(len(found)), key=found.__getitem__)]
    return order


def _groups_with(marked: BoolArray, alike: BoolArray) -> IndexArray:
    """Return the indices of every group of equal neighbours that contains a marked pair."""
    if not marked.any():
        return np.zeros(0, np.intp)
    groups = np.append(0, np.cumsum(~alike))
    chosen = np.zeros(len(groups), np.bool_)
    chosen[groups[1:][marked]] = True
    return np.flatnonzero(chosen[groups])


def are_rising(strings: ByteStrings) -> bool:
    """Return whether each string is above the string before it in byte order."""
    highs, lows = _halves(strings)
    below = (highs[:-1] < highs[1:]) | ((highs[:-1] == highs[1:]) & (lows[:-1] < lows[1:]))
    doubtful = np.flatnonzero(~below)
    return all(map(lt, strings.take(doubtful), strings.take(doubtful + 1)))


def last_above(last: bytes | None, strings: ByteStrings) -> bytes | None:
    """Return the last string; raise ValueError unless the strings rise and are all above `last`."""
    if not len(strings):
        return last
    if not are_rising(strings) or (last is not None and strings[0] <= last):
        raise ValueError("strings that should be in order are not")
    return strings[-1]


def distinct(strings: ByteStrings) -> tuple[ByteStrings, Int64Array]:
    """Return the distinct strings in byte order, and the index of each string among them."""
    order = byte_order(strings)
    ordered = strings.take(order)
    first = first_of_equals(ordered)
    numbers = np.empty(len(strings), np.int64)
    numbers[order] = np.cumsum(first) - 1
    return ordered.take(first), numbers


def first_of_equals(strings: ByteStrings) -> BoolArray:
    """Return for each string whether it differs from the string before it."""
    highs, lows = _halves(strings)
    lengths = strings.lengths
    first = np.ones(len(strings), np.bool_)
    first[1:] = (highs[1:] != highs[:-1]) | (lows[1:] != lows[:-1]) | (lengths[1:] != lengths[:-1])
    doubtful = np.flatnonzero(~first & (lengths > KEY_BYTES))
    first[doubtful] = list(map(ne, strings.take(doubtful), strings.take(doubtful - 1)))
    return first


def first_bytes(octets: Octets, starts: Int64Array, lengths: Int64Array) -> KeyArray:
    """Return the first 16 bytes of each string, zeros behind a shorter one.

    At least 16 bytes must follow the last string.
    """
    return _masked(octets, starts, _MASKS, lengths)


def whole_strings(strings: ByteStrings) -> KeyArray:
    """Return each string of up to 16 bytes as `first_bytes` does, and zeros for a longer one."""
    return _masked(strings.octets, strings.starts, _WHOLE_MASKS, strings.lengths)


def _masked(octets: Octets, starts: Int64Array, masks: Octets, lengths: Int64Array) -> KeyArray:
    keys: KeyArray = _windows(octets)[starts]
    words = keys.view(np.uint64)
    words &= masks.view(np.complex128)[:, 0].take(lengths, mode="clip").view(np.uint64)
    return keys


def big_endian(numbers: Int64Array, width: int) -> Octets:
    """Return the lowest `width` bytes of each number, the highest byte first: one row per number."""
    return numbers.astype(">i8").view(np.uint8).reshape(-1, 8)[:, 8 - width :]


def _windows(octets: Octets) -> KeyArray:
    """Return the 16 bytes from each index on; all of them share their memory."""
    windows: KeyArray = np.ndarray(len(octets) - KEY_BYTES + 1, np.complex128, octets, strides=(1,))
    return windows


def _halves(strings: ByteStrings) -> tuple[UInt64Array, UInt64Array]:
    """Return the first 16 bytes of each string as two numbers that sort in byte order."""
    strings = strings.padded()
    keys = first_bytes(strings.octets, strings.starts, strings.lengths)
    halves = keys.view(">u8").reshape(-1, 2).astype(np.uint64)
    return halves[:, 0], halves[:, 1]
