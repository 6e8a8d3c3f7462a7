"""Many strings of bytes at once, as numpy holds them: to be cut, chosen, sorted and joined without a loop.

An object for each of a hundred thousand terms costs more than all else that is done with it. Here a string is
a start and a length in bytes that many share; choosing some of them copies no bytes.
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

    Integers = NDArray[np.int64]
    Octets = NDArray[np.uint8]
    Words = NDArray[np.uint64]
    Keys = NDArray[np.complex128]  # numpy's one type of 16 bytes that it gathers fast; never calculated with

KEY_BYTES = 16
MAX_MOVED_BYTES = 512  # each longer string is moved by itself
_FEW = 32  # so many longest strings may be moved by themselves, so that the others take few rounds

_PADDING = np.zeros(KEY_BYTES, np.uint8)
# What of the 16 bytes from its start on belongs to a string of some length.
_MASKS = np.tri(KEY_BYTES + 1, KEY_BYTES, -1, np.uint8) * np.uint8(255)
_WHOLE_MASKS = np.concatenate((_MASKS, np.zeros((1, KEY_BYTES), np.uint8)))


@dataclass(frozen=True, eq=False)
class ByteStrings:
    """Strings that lie somewhere in `octets`."""

    octets: Octets
    starts: Integers
    lengths: Integers

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, place: int) -> bytes:
        start = int(self.starts[place])
        return self.octets[start : start + int(self.lengths[place])].tobytes()

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.tolist())

    def part(self, start: int, stop: int) -> ByteStrings:
        """Return the strings from one place on and below another."""
        return ByteStrings(self.octets, self.starts[start:stop], self.lengths[start:stop])

    def take(self, places: NDArray[np.integer] | NDArray[np.bool_]) -> ByteStrings:
        """Return the strings at these places, or where a mask is set."""
        return ByteStrings(self.octets, self.starts[places], self.lengths[places])

    def trimmed(self) -> ByteStrings:
        """Return the same strings without most bytes before and behind all of them."""
        if not len(self):
            return ByteStrings(self.octets[:0], self.starts, self.lengths)
        first, end = int(self.starts.min()), self._end()
        return ByteStrings(self.octets[first : end + KEY_BYTES], self.starts - first, self.lengths)

    def padded(self) -> ByteStrings:
        """Return the same strings with 16 bytes at least behind the last."""
        if self._end() + KEY_BYTES <= len(self.octets):
            return self
        strings = self.trimmed()
        return ByteStrings(np.concatenate((strings.octets, _PADDING)), strings.starts, strings.lengths)

    def _end(self) -> int:
        return int((self.starts + self.lengths).max(initial=0))

    def tolist(self) -> list[bytes]:
        """Return the strings as objects."""
        strings = self.trimmed()
        data = strings.octets.tobytes()
        ends = strings.starts + strings.lengths
        return [data[start:end] for start, end in zip(strings.starts.tolist(), ends.tolist(), strict=True)]

    def joined(self, separator: int) -> bytes:
        """Return the strings with a separator behind each."""
        octets, starts = self.laid_out(behind=1)
        octets[starts + self.lengths] = separator
        return octets.tobytes()

    def laid_out(self, before: int = 0, behind: int = 0) -> tuple[Octets, Integers]:
        """Return the strings end to end with so much room around each, and where each begins."""
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
        for place, start, length in bounds.tolist():
            octets[place : place + length] = self.octets[start : start + length]
        return octets[:size], starts

    def _move(self, octets: Octets, starts: Integers) -> None:
        """Move the strings to where they begin, one behind the other, 16 bytes at a time."""
        strings = self.padded()
        source, sink = _windows(strings.octets), _windows(octets)
        several = np.flatnonzero(self.lengths > KEY_BYTES)
        # What is moved too much lies in the first 16 bytes of strings that follow, which are moved later:
        # numpy assigns one by one, in the order of the places.
        for at in range((int(self.lengths.max(initial=1)) - 1) // KEY_BYTES * KEY_BYTES, 0, -KEY_BYTES):
            longer = several[self.lengths[several] > at]
            sink[starts[longer] + at] = source[strings.starts[longer] + at]
        sink[starts] = source[strings.starts]


def _most_moved(lengths: Integers) -> int:
    """Return above which length a string is moved by itself: where it is so long, or one of a few."""
    longest = int(lengths.max(initial=0))
    if longest <= 2 * KEY_BYTES or len(lengths) <= _FEW:
        return MAX_MOVED_BYTES
    return min(MAX_MOVED_BYTES, int(np.partition(lengths, -_FEW)[-_FEW]))


def strings_of(strings: Sequence[bytes]) -> ByteStrings:
    """Return these strings."""
    lengths = np.fromiter(map(len, strings), np.int64, len(strings))
    octets = np.frombuffer(b"".join((*strings, bytes(KEY_BYTES))), np.uint8)
    return ByteStrings(octets, starts_of(lengths), lengths)


def cut_at(separator: int, octets: Octets) -> ByteStrings:
    """Return what stands before each separator; what stands behind the last is left out."""
    ends = np.flatnonzero(octets == separator)
    starts = np.zeros_like(ends)
    starts[1:] = ends[:-1] + 1
    return ByteStrings(octets, starts, ends - starts)


def chained(parts: Sequence[ByteStrings]) -> ByteStrings:
    """Return the strings of all parts, those of the first one first."""
    parts = [part for part in parts if len(part)] or parts[:1]
    if len(parts) == 1:
        return parts[0]
    parts = [part.trimmed() for part in parts]  # what is chained again and again would keep all bytes
    shifts = starts_of(np.array([len(part.octets) for part in parts]))
    return ByteStrings(
        np.concatenate([*(part.octets for part in parts), _PADDING]),
        np.concatenate([part.starts + shift for part, shift in zip(parts, shifts, strict=True)]),
        np.concatenate([part.lengths for part in parts]),
    )


def replaced(strings: ByteStrings, others: Mapping[int, bytes]) -> ByteStrings:
    """Return the strings with others at some places."""
    if not others:
        return strings
    order = np.arange(len(strings))
    order[list(others)] = len(strings) + np.arange(len(others))
    return chained([strings, strings_of([*others.values()])]).take(order)


def byte_order(strings: ByteStrings) -> NDArray[np.intp]:
    """Return the places of the strings in byte order, equal ones as they come."""
    highs, lows = _halves(strings)
    order = np.argsort(highs, kind="stable")
    highs, lows = highs[order], lows[order]
    tied = highs[1:] == highs[:-1]
    wrong = _stretches_with(tied & (lows[1:] < lows[:-1]), tied)
    righted = wrong[np.lexsort((lows[wrong], highs[wrong]))]
    order[wrong], lows[wrong] = order[righted], lows[righted]
    lengths = strings.lengths[order]
    alike = tied & (lows[1:] == lows[:-1])
    doubtful = _stretches_with(alike & ((lengths[1:] != lengths[:-1]) | (lengths[1:] > KEY_BYTES)), alike)
    found = strings.take(order[doubtful]).tolist()
    # Only within stretches that begin alike are there doubts, and those are in order.
    order[doubtful] = order[doubtful][sorted(range(len(found)), key=found.__getitem__)]
    return order


def _stretches_with(marked: NDArray[np.bool_], alike: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the places in stretches of neighbours that are alike, of those in which a pair is marked."""
    if not marked.any():
        return np.zeros(0, np.intp)
    stretches = np.append(0, np.cumsum(~alike))
    chosen = np.zeros(len(stretches), np.bool_)
    chosen[stretches[1:][marked]] = True
    return np.flatnonzero(chosen[stretches])


def are_rising(strings: ByteStrings) -> bool:
    """Tell whether each string is above the one before it, as bytes compare."""
    highs, lows = _halves(strings)
    below = (highs[:-1] < highs[1:]) | ((highs[:-1] == highs[1:]) & (lows[:-1] < lows[1:]))
    doubtful = np.flatnonzero(~below)
    return all(map(lt, strings.take(doubtful), strings.take(doubtful + 1)))


def last_above(last: bytes | None, strings: ByteStrings) -> bytes | None:
    """Return the last of some strings; unless they rise, and lie above the last one before, a ValueError."""
    if not len(strings):
        return last
    if not are_rising(strings) or (last is not None and strings[0] <= last):
        raise ValueError("strings that should be in order are not")
    return strings[-1]


def distinct(strings: ByteStrings) -> tuple[ByteStrings, Integers]:
    """Return the different strings in byte order, and the number of each string among them."""
    order = byte_order(strings)
    ordered = strings.take(order)
    first = first_of_equals(ordered)
    numbers = np.empty(len(strings), np.int64)
    numbers[order] = np.cumsum(first) - 1
    return ordered.take(first), numbers


def first_of_equals(strings: ByteStrings) -> NDArray[np.bool_]:
    """Tell of each string whether it is another than the one before it."""
    highs, lows = _halves(strings)
    lengths = strings.lengths
    first = np.ones(len(strings), np.bool_)
    first[1:] = (highs[1:] != highs[:-1]) | (lows[1:] != lows[:-1]) | (lengths[1:] != lengths[:-1])
    doubtful = np.flatnonzero(~first & (lengths > KEY_BYTES))
    first[doubtful] = list(map(ne, strings.take(doubtful), strings.take(doubtful - 1)))
    return first


def first_bytes(octets: Octets, starts: Integers, lengths: Integers) -> Keys:
    """Return the first 16 bytes of each string, zeros behind a shorter one; as many must follow the last."""
    return _masked(octets, starts, _MASKS, lengths)


def whole_strings(strings: ByteStrings) -> Keys:
    """Return the bytes of each string of up to 16 as `first_bytes` does, and zeros for a longer one."""
    return _masked(strings.octets, strings.starts, _WHOLE_MASKS, strings.lengths)


def _masked(octets: Octets, starts: Integers, masks: Octets, lengths: Integers) -> Keys:
    keys: Keys = _windows(octets)[starts]
    words = keys.view(np.uint64)
    words &= masks.view(np.complex128)[:, 0].take(lengths, mode="clip").view(np.uint64)
    return keys


def big_endian(numbers: Integers, width: int) -> Octets:
    """Return the last bytes of each number, so many, the highest first: a row for each."""
    return numbers.astype(">i8").view(np.uint8).reshape(-1, 8)[:, 8 - width :]


def _windows(octets: Octets) -> Keys:
    """Return the 16 bytes from each place on, which all share their memory."""
    windows: Keys = np.ndarray(len(octets) - KEY_BYTES + 1, np.complex128, octets, strides=(1,))
    return windows


def _halves(strings: ByteStrings) -> tuple[Words, Words]:
    """Return the first bytes of each string as two numbers, the first byte highest, which sort as they do."""
    strings = strings.padded()
    keys = first_bytes(strings.octets, strings.starts, strings.lengths)
    halves = keys.view(">u8").reshape(-1, 2).astype(np.uint64)
    return halves[:, 0], halves[:, 1]
