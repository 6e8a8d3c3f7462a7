"""Numbers keys of 16 bytes, many at once with numpy; string_numbers.py numbers the pieces of a text with it.

A hash table is looked up and filled for all keys together: of the new keys that meet in a slot the first one
takes it, as numpy keeps what it wrote last, and the others go on to another slot. What is frequent comes
early, so that 19 of 20 keys are found in the first slot they may be in, their home. The hash is keyed at
random, so that no page can make keys meet on purpose.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crawlctl.pipeline.arrays.byte_strings import Keys

    Words = NDArray[np.uint64]
    Places = NDArray[np.int64]
    Numbers = NDArray[np.int32]

_FIRST_SLOTS = 1 << 11  # of which a language has four tables
_NO_KEY = (1 << 64) - 1
_ALIKE = 0x0101  # both halves, as numpy compares them
_KEYS = np.array([secrets.randbits(64) | 1 for _ in range(3)], np.uint64)


class KeyTable:
    """The keys met so far, each with a number from 0 on; no key has all bits set."""

    def __init__(self) -> None:
        self._count = 0
        self._keys = _room(_FIRST_SLOTS // 2)  # by number
        self._slots = np.full(_FIRST_SLOTS, -1, np.int32)  # by hash the number of a key, -1 for none

    def __len__(self) -> int:
        return self._count

    @property
    def memory(self) -> int:
        """The bytes held."""
        return self._keys.nbytes + self._slots.nbytes

    def at_home(self, keys: Keys) -> tuple[Numbers, Places]:
        """Return the numbers of the keys that are at home, and the places of all others."""
        numbers = self._slots.take(self._home(_hashed(keys)), mode="wrap")
        return numbers, self._wrong(keys, numbers)

    def numbers(self, keys: Keys) -> tuple[Numbers, Places]:
        """Return the numbers of keys, and the places of new ones in the order of theirs."""
        hashes = _hashed(keys)
        slots = self._home(hashes)
        numbers, new = self._looked_up(keys, slots)
        found = [new]
        places = others = self._wrong(keys, numbers)
        while len(others):
            keys, hashes, slots = keys[others], hashes[others], slots[others]
            slots = self._home(hashes) if self._make_room() else self._next(slots, hashes)
            looked_up, new = self._looked_up(keys, slots)
            numbers[places] = looked_up  # wrong ones are set again by a later round
            found.append(places[new])
            others = self._wrong(keys, looked_up)
            places = places[others]
        self._make_room()
        return numbers, np.concatenate(found)

    def _looked_up(self, keys: Keys, slots: Places) -> tuple[Numbers, Places]:
        """Return the numbers in these slots, of which the vacant ones are filled, and which keys did so."""
        found = self._slots.take(slots, mode="wrap")
        vacant = (found < 0).nonzero()[0]
        if not len(vacant):
            return found, vacant
        winners = self._fill(keys, slots, vacant)
        found[vacant] = self._slots[slots[vacant]]
        return found, winners

    def _wrong(self, keys: Keys, numbers: Numbers) -> Places:
        """Return the places of the keys that are not those of these numbers."""
        alike = self._keys.take(numbers, mode="wrap").view(np.uint64) == keys.view(np.uint64)
        wrong: Places = (alike.view(np.uint16) != _ALIKE).nonzero()[0]
        return wrong

    def _fill(self, keys: Keys, slots: Places, vacant: Places) -> Places:
        """Give each vacant slot to one of the keys that want it, and return which ones got theirs."""
        wanted = slots[vacant]
        self._slots[wanted[::-1]] = vacant[::-1]
        winners: Places = vacant[self._slots[wanted] == vacant]
        filled = self._count + len(winners)
        self._keys = _enlarged(self._keys, filled)
        self._keys[self._count : filled] = keys[winners]
        self._slots[slots[winners]] = np.arange(self._count, filled)
        self._count = filled
        return winners

    def _make_room(self) -> bool:
        """Make more slots where more than a quarter of them are taken, and tell whether that was so."""
        if 4 * self._count <= len(self._slots):
            return False
        self._slots = np.full(1 << (4 * self._count - 1).bit_length(), -1, np.int32)
        numbers = np.arange(self._count, dtype=np.int32)
        hashes = _hashed(self._keys[: self._count])
        slots = self._home(hashes)
        while len(slots):
            vacant = np.flatnonzero(self._slots[slots] < 0)[::-1]  # so that the lowest numbers are kept
            self._slots[slots[vacant]] = numbers[vacant]
            other = (self._slots[slots] != numbers).nonzero()[0]
            numbers, hashes = numbers[other], hashes[other]
            slots = self._next(slots[other], hashes)
        return True

    def _next(self, slots: Places, hashes: Words) -> Places:
        """Return the slots in which keys of these hashes are looked for next; odd steps lead to all slots."""
        following: Words = slots.view(np.uint64) + (hashes | np.uint64(1))
        following &= np.uint64(len(self._slots) - 1)
        return following.view(np.int64)

    def _home(self, hashes: Words) -> Places:
        """Return the slots in which keys of these hashes are looked for first."""
        bits = len(self._slots).bit_length() - 1
        slots: Places = (hashes >> np.uint64(64 - bits)).view(np.int64)
        return slots


def _hashed(keys: Keys) -> Words:
    halves = keys.view(np.uint64).reshape(-1, 2)
    hashes: Words = halves[:, 1] * _KEYS[1]
    hashes >>= np.uint64(32)  # else what differs in the last bytes of both halves would meet
    hashes ^= halves[:, 0] * _KEYS[0]
    hashes ^= hashes >> np.uint64(32)
    hashes *= _KEYS[2]
    return hashes


def _room(size: int) -> Keys:
    """Return room for keys, and behind them one that is found by -1, the number in vacant slots."""
    keys = np.zeros(size + 1, np.complex128)
    keys[-1:].view(np.uint64)[:] = _NO_KEY
    return keys


def _enlarged(keys: Keys, size: int) -> Keys:
    """Return the keys, with room for so many."""
    if size < len(keys):
        return keys
    enlarged = _room(2 * size)
    enlarged[: len(keys) - 1] = keys[:-1]
    return enlarged
