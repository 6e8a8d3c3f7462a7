"""Makes inputs nobody would write out of those that people write; the same number gives the same input."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from crawlctl.tests.fuzz.tree_mutation import Trees

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_BYTES = 64 << 10
_SPAN = 64  # bytes, mostly
_MAX_CHANGES = 8
_NUMBERS = (
    b"0",
    b"-1",
    b"255",
    b"65536",
    b"4294967296",
    b"99999999999999999999",
    b"1e308",
    b"nan",
    b"0x7f",
    b".5",
)


class Mutator:
    """Draws inputs from seeds; `tokens` are what the format is made of.

    With `is_xml`, half of the inputs made from XML are changed as trees and stay well-formed.
    """

    def __init__(self, seeds: Sequence[bytes], tokens: Sequence[bytes], *, is_xml: bool = False) -> None:
        self._seeds = seeds
        self._trees = Trees(seeds) if is_xml else None
        self._tokens = (*tokens, *_NUMBERS)
        self._changes = (
            self._flip,
            self._overwrite,
            self._insert,
            self._insert,
            self._delete,
            self._double,
            self._splice,
            self._truncate,
            self._multiply,
        )

    def make(self, number: int, seed: int) -> bytes:
        """Return the input with a number; another seed is another series of them."""
        draw = random.Random(seed * 1_000_003 + number)
        seed_data = draw.choice(self._seeds)
        if self._trees and draw.random() < 0.5 and (changed := self._trees.changed(seed_data, draw)):
            return changed[:MAX_BYTES]
        data = bytearray(seed_data)
        for _ in range(draw.randint(1, _MAX_CHANGES)):
            draw.choice(self._changes)(data, draw)
        return bytes(data[:MAX_BYTES])

    def _place(self, data: bytearray, draw: random.Random) -> tuple[int, int]:
        start = draw.randint(0, len(data))
        return start, min(start + draw.randint(1, _SPAN), len(data))

    def _flip(self, data: bytearray, draw: random.Random) -> None:
        if data:
            data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)

    def _overwrite(self, data: bytearray, draw: random.Random) -> None:
        start, end = self._place(data, draw)
        data[start:end] = draw.randbytes(end - start)

    def _insert(self, data: bytearray, draw: random.Random) -> None:
        start, _ = self._place(data, draw)
        data[start:start] = draw.choice(self._tokens)

    def _delete(self, data: bytearray, draw: random.Random) -> None:
        start, end = self._place(data, draw)
        del data[start:end]

    def _double(self, data: bytearray, draw: random.Random) -> None:
        start, end = self._place(data, draw)
        data[end:end] = data[start:end]

    def _splice(self, data: bytearray, draw: random.Random) -> None:
        other = draw.choice(self._seeds)
        data[draw.randint(0, len(data)) :] = other[draw.randint(0, len(other)) :]

    def _truncate(self, data: bytearray, draw: random.Random) -> None:
        del data[draw.randint(0, len(data)) :]

    def _multiply(self, data: bytearray, draw: random.Random) -> None:
        start, _ = self._place(data, draw)
        token = draw.choice(self._tokens)
        # Mostly a few of them, now and then as many as there is room for.
        most = MAX_BYTES // len(token) if draw.random() < 0.02 else _SPAN
        data[start:start] = token * draw.randint(2, max(most, 2))
