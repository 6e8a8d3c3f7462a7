"""Many strings of bytes at once, as numpy holds them: to be cut, chosen, sorted and joined without a loop.

An object for each of a hundred thousand terms costs more than all else that is done with it. Here a string is
a start and a length in bytes that many share; choosing some of them copies no bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.formats.stretches import places_of, starts_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Octets = NDArray[np.uint8]
    Keys = NDArray[np.complex128]  # numpy's one type of 16 bytes that it gathers fast; never calculated with

KEY_BYTES = 16

_PADDING = np.zeros(KEY_BYTES, np.uint8)
# What of the 16 bytes from its start on belongs to a string of some length.
_MASKS = np.tri(KEY_BYTES + 1, KEY_BYTES, -1, np.uint8) * np.uint8(255)


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

    def part(self, start: int, stop: int) -> ByteStrings:
        """Return the strings from one place on and below another."""
        return ByteStrings(self.octets, self.starts[start:stop], self.lengths[start:stop])

    def take(self, places: NDArray[np.integer] | NDArray[np.bool_]) -> ByteStrings:
        """Return the strings at these places, or where a mask is set."""
        return ByteStrings(self.octets, self.starts[places], self.lengths[places])

    def tolist(self) -> list[bytes]:
        """Return the strings as objects."""
        data = self.octets.tobytes()
        ends = self.starts + self.lengths
        return [data[start:end] for start, end in zip(self.starts.tolist(), ends.tolist(), strict=True)]

    def laid_out(self, before: int = 0, behind: int = 0) -> tuple[Octets, Integers]:
        """Return the strings end to end with so much room around each, and where each begins."""
        starts = starts_of(self.lengths + (before + behind))
        starts += before
        size = int(self.lengths.sum()) + (before + behind) * len(self)
        octets = np.empty(size, np.uint8)
        octets[places_of(starts, self.lengths)] = self.octets[places_of(self.starts, self.lengths)]
        return octets, starts


def strings_of(strings: Sequence[bytes]) -> ByteStrings:
    """Return these strings."""
    lengths = np.fromiter(map(len, strings), np.int64, len(strings))
    return ByteStrings(np.frombuffer(b"".join(strings), np.uint8), starts_of(lengths), lengths)


def cut_at(separator: int, octets: Octets) -> ByteStrings:
    """Return what stands before each separator; nothing may stand behind the last."""
    ends = np.flatnonzero(octets == separator)
    starts = np.zeros_like(ends)
    starts[1:] = ends[:-1] + 1
    return ByteStrings(octets, starts, ends - starts)


def chained(parts: Sequence[ByteStrings]) -> ByteStrings:
    """Return the strings of all parts, those of the first one first."""
    if len(parts) == 1:
        return parts[0]
    shifts = np.cumsum([0, *(len(part.octets) for part in parts[:-1])])
    return ByteStrings(
        np.concatenate([part.octets for part in parts]),
        np.concatenate([part.starts + shift for part, shift in zip(parts, shifts, strict=True)]),
        np.concatenate([part.lengths for part in parts]),
    )


def byte_order(strings: ByteStrings) -> NDArray[np.intp]:
    """Return the places of the strings in byte order, equal ones as they come."""
    highs, lows = _halves(strings)
    order = np.lexsort((lows, highs))
    highs, lows = highs[order], lows[order]
    alike = np.zeros(len(strings) + 1, np.bool_)
    alike[1:-1] = (highs[1:] == highs[:-1]) & (lows[1:] == lows[:-1])
    doubtful = np.flatnonzero(alike[1:] | alike[:-1])
    if len(doubtful):
        found = strings.take(order[doubtful]).tolist()
        # Only within stretches that begin alike are there doubts, and those are in order.
        order[doubtful] = order[doubtful][sorted(range(len(found)), key=found.__getitem__)]
    return order


def are_rising(strings: ByteStrings) -> bool:
    """Tell whether each string is above the one before it, as bytes compare."""
    highs, lows = _halves(strings)
    below = (highs[:-1] < highs[1:]) | ((highs[:-1] == highs[1:]) & (lows[:-1] < lows[1:]))
    return all(strings[place] < strings[place + 1] for place in np.flatnonzero(~below).tolist())


def first_bytes(octets: Octets, starts: Integers, lengths: Integers) -> Keys:
    """Return the first 16 bytes of each string, zeros behind a shorter one; as many must follow the last."""
    every = np.ndarray(len(octets) - KEY_BYTES + 1, np.complex128, octets, strides=(1,))
    keys: Keys = every[starts]
    words = keys.view(np.uint64)
    words &= _MASKS.view(np.complex128)[:, 0].take(lengths, mode="clip").view(np.uint64)
    return keys


def _halves(strings: ByteStrings) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return the first bytes of each string as two numbers, the first byte highest, which sort as they do."""
    padded = np.concatenate((strings.octets, _PADDING))
    keys = first_bytes(padded, strings.starts, strings.lengths)
    halves = keys.view(">u8").reshape(-1, 2).astype(np.uint64)
    return halves[:, 0], halves[:, 1]
