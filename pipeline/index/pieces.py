"""Numbers the pieces of a text, which is what stands between spaces, for a whole batch at once with numpy.

A piece of up to 16 bytes, as 99 of 100 are, is its own key, and a hash table of such keys is looked up and
filled for all pieces together: of the new pieces that meet in a slot numpy keeps the one it wrote last, and
the others go on to the next slot. That takes half the time of `split` and a dictionary. The key of a longer
piece is its number in a dictionary. The hash is keyed at random, so that no page can make pieces meet on
purpose.
"""

from __future__ import annotations

import secrets
from collections import defaultdict
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.formats.bytestrings import KEY_BYTES, first_bytes
from crawlctl.pipeline.formats.stretches import places_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crawlctl.pipeline.formats.bytestrings import Keys

    Words = NDArray[np.uint64]
    Octets = NDArray[np.uint8]
    Places = NDArray[np.int64]
    Numbers = NDArray[np.int32]

_FIRST_SLOTS = 1 << 12  # of which a language has two tables
_LONG_PIECE_BYTES = 160  # a bytes object, a number, and their place in a dictionary
_SPACE = 32
_PADDING = bytes((_SPACE,)) * KEY_BYTES
_OF_LONG = np.uint64((1 << 64) - 1)  # the second half of the keys of long pieces; no text has such bytes
_ALIKE = 0x0101  # both halves, as numpy compares them
_KEYS = np.array([secrets.randbits(64) | 1 for _ in range(3)], np.uint64)


class PieceTable:
    """The pieces met so far, each with a number from 0 on."""

    def __init__(self) -> None:
        self._count = 0
        self._keys = np.zeros(_FIRST_SLOTS // 2, np.complex128)  # by number
        self._slots = np.full(_FIRST_SLOTS, -1, np.int32)  # by hash the number of a piece, -1 for none
        self._long: defaultdict[bytes, int] = defaultdict(count().__next__)
        self._long_bytes = 0

    def __len__(self) -> int:
        return self._count

    @property
    def memory(self) -> int:
        """An estimate of the bytes held."""
        return self._keys.nbytes + self._slots.nbytes + self._long_bytes

    def numbers(self, data: bytes) -> tuple[Numbers, bytes]:
        """Return the numbers of the pieces of a text, and the new ones by theirs, a space behind each."""
        octets = np.frombuffer(b"".join((_PADDING[:1], data, _PADDING)), np.uint8)
        starts, lengths = _cut(octets)
        keys = first_bytes(octets, starts, lengths)
        long = np.flatnonzero(lengths > KEY_BYTES)
        if len(long):
            _halves(keys)[long, 0] = self._numbers_of_long(data, starts[long] - 1, lengths[long])
            _halves(keys)[long, 1] = _OF_LONG
        numbers, new = self._find(keys)
        return numbers, octets[places_of(starts[new], lengths[new] + 1)].tobytes()

    def _numbers_of_long(self, data: bytes, starts: Places, lengths: Places) -> list[int]:
        bounds = zip(starts.tolist(), (starts + lengths).tolist(), strict=True)
        known, held = self._long, len(self._long)
        numbers = [known[data[start:end]] for start, end in bounds]
        if len(known) > held:
            new = np.array(numbers) >= held
            self._long_bytes += _LONG_PIECE_BYTES * (len(known) - held) + int(lengths[new].sum())
        return numbers

    def _find(self, keys: Keys) -> tuple[Numbers, Places]:
        """Return the numbers of pieces, and the places of new ones in the order of theirs."""
        hashes = _hashed(keys)
        slots = self._home(hashes)
        numbers, new = self._looked_up(keys, slots)
        found = [new]
        places = others = self._wrong(keys, numbers)
        while len(others):
            keys, hashes, slots = keys[others], hashes[others], slots[others]
            slots = self._home(hashes) if self._make_room() else (slots + 1) & (len(self._slots) - 1)
            looked_up, new = self._looked_up(keys, slots)
            numbers[places] = looked_up  # wrong ones are set again by a later round
            found.append(places[new])
            others = self._wrong(keys, looked_up)
            places = places[others]
        self._make_room()
        return numbers, np.concatenate(found)

    def _looked_up(self, keys: Keys, slots: Places) -> tuple[Numbers, Places]:
        """Return the numbers in these slots, of which the vacant ones are filled, and which pieces did so."""
        found = self._slots[slots]
        vacant = np.flatnonzero(found < 0)
        if not len(vacant):
            return found, vacant
        winners = self._fill(keys, slots, vacant)
        found[vacant] = self._slots[slots[vacant]]
        return found, winners

    def _wrong(self, keys: Keys, numbers: Numbers) -> Places:
        """Return the places of the keys that are not those of these numbers."""
        alike = self._keys[numbers].view(np.uint64) == keys.view(np.uint64)
        return np.flatnonzero(alike.view(np.uint16) != _ALIKE)

    def _fill(self, keys: Keys, slots: Places, vacant: Places) -> Places:
        """Give each vacant slot to one of the pieces that want it, and return which ones got theirs."""
        wanted = slots[vacant]
        self._slots[wanted] = vacant
        winners: Places = vacant[self._slots[wanted] == vacant]
        filled = self._count + len(winners)
        self._keys = _enlarged(self._keys, filled)
        self._keys[self._count : filled] = keys[winners]
        self._slots[slots[winners]] = np.arange(self._count, filled)
        self._count = filled
        return winners

    def _make_room(self) -> bool:
        """Make more slots where less than half of them are vacant, and tell whether that was so."""
        if 2 * self._count <= len(self._slots):
            return False
        self._slots = np.full(1 << (4 * self._count - 1).bit_length(), -1, np.int32)
        numbers = np.arange(self._count, dtype=np.int32)
        slots = self._home(_hashed(self._keys[: self._count]))
        while len(slots):
            vacant = self._slots[slots] < 0
            self._slots[slots[vacant]] = numbers[vacant]
            other = self._slots[slots] != numbers
            numbers, slots = numbers[other], (slots[other] + 1) & (len(self._slots) - 1)
        return True

    def _home(self, hashes: Words) -> Places:
        """Return the slots in which pieces of these hashes are looked for first."""
        bits = len(self._slots).bit_length() - 1
        slots: Places = (hashes >> np.uint64(64 - bits)).view(np.int64)
        return slots


def _cut(octets: Octets) -> tuple[Places, Places]:
    """Return where the pieces begin, and their lengths; the first and the last byte are spaces."""
    spaces = octets == _SPACE
    edges = np.flatnonzero(spaces[:-1] != spaces[1:])
    return edges[0::2] + 1, edges[1::2] - edges[0::2]


def _halves(keys: Keys) -> Words:
    halves: Words = keys.view(np.uint64).reshape(-1, 2)
    return halves


def _hashed(keys: Keys) -> Words:
    halves = _halves(keys)
    hashes: Words = halves[:, 0] * _KEYS[0]
    hashes ^= halves[:, 1] * _KEYS[1]
    hashes ^= hashes >> np.uint64(32)
    hashes *= _KEYS[2]
    return hashes


def _enlarged(keys: Keys, size: int) -> Keys:
    """Return the keys, with room for so many."""
    if size <= len(keys):
        return keys
    enlarged = np.zeros(2 * size, np.complex128)
    enlarged[: len(keys)] = keys
    return enlarged
