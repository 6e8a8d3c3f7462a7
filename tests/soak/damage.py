"""Damage to a file: a flipped bit, an end that is missing, a stretch of zeros."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

SECTOR = 512


def flipped_bit(data: bytes, chance: random.Random) -> bytes:
    place = chance.randrange(len(data))
    return data[:place] + bytes([data[place] ^ 1 << chance.randrange(8)]) + data[place + 1 :]


def cut_off(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data))]


def zeroed_sector(data: bytes, chance: random.Random) -> bytes:
    start = chance.randrange(len(data))
    zeros = min(SECTOR, len(data) - start)
    return data[:start] + bytes(zeros) + data[start + zeros :]


def emptied(_data: bytes, _chance: random.Random) -> bytes:
    return b""


Damage = Callable[[bytes, random.Random], bytes]
DAMAGES: tuple[Damage, ...] = (flipped_bit, cut_off, zeroed_sector, emptied)


def damaged_copy(source: Path, target: Path, name: str, damaged: bytes) -> None:
    """Make a folder with the files of another, one of them damaged; the others are the same files."""
    for path in source.rglob("*"):
        copy = target / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        if path.is_file():
            os.link(path, copy)
    (target / name).unlink()
    (target / name).write_bytes(damaged)
