"""Numbers in byte planes: the low bytes of all of them, then the next higher ones.

Plain Python turns a plane into numbers without a loop, deflate finds a plane more alike than mixed bytes, and
numpy puts the planes of thousands of lists in their places at once.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from crawlctl.pipeline.arrays.ragged import places_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Octets = NDArray[np.uint8]

_LONG = 64  # bytes that are copied faster by themselves than place by place

MAX_NUMBER = (1 << 24) - 1  # of ordinals and positions: three planes


def read_planes(value: bytes, start: int, length: int, planes: int) -> Sequence[int]:
    """Return the numbers whose planes, none to four, begin at `start`; that they are there is known."""
    if planes < 2:
        return value[start : start + length] if planes else bytes(length)
    width = 2 if planes == 2 else 4
    woven = bytearray(width * length)
    for plane in range(planes):
        place = plane if sys.byteorder == "little" else width - 1 - plane
        woven[place::width] = value[start + plane * length : start + (plane + 1) * length]
    return memoryview(woven).cast("H" if width == 2 else "I")


def put(blob: Octets, base: Integers, octets: Octets, starts: Integers, lengths: Integers) -> None:
    """Put the stretches of octets that begin at `starts` behind their bases."""
    import numpy as np

    single = np.flatnonzero(lengths == 1)
    blob[base[single]] = octets[starts[single]]
    several = np.flatnonzero(lengths > 1)
    base, starts, lengths = base[several], starts[several], lengths[several]
    long = lengths >= _LONG
    short = np.flatnonzero(~long)
    counts = lengths[short]
    blob[places_of(base[short], counts)] = octets[places_of(starts[short], counts)]
    into, source = blob.data, octets.data
    columns = (base[long].tolist(), starts[long].tolist(), lengths[long].tolist())
    for at, start, length in zip(*columns, strict=True):
        into[at : at + length] = source[start : start + length]


def scatter(blob: Octets, base: Integers, numbers: Integers, lengths: Integers, planes: Integers) -> None:
    """Put each stretch of numbers behind its base, plane by plane."""
    import numpy as np

    places, steps = places_of(base, lengths), np.repeat(lengths, lengths)
    for plane in range(int(planes.max(initial=0))):
        octets = (numbers >> 8 * plane).astype(np.uint8)
        if planes.min() > plane:
            blob[places] = octets
        else:
            used = np.repeat(planes > plane, lengths)
            blob[places[used]] = octets[used]
        places += steps


def gather(blob: Octets, base: Integers, lengths: Integers, planes: Integers) -> Integers:
    """Return the numbers that `scatter` has put there."""
    import numpy as np

    numbers = np.zeros(int(lengths.sum()), np.int64)
    for plane in range(int(planes.max(initial=0))):
        places = places_of(base + plane * lengths, lengths)
        if planes.min() > plane:
            numbers |= blob[places].astype(np.int64) << 8 * plane
        else:
            used = np.repeat(planes > plane, lengths)
            numbers[used] |= blob[places[used]].astype(np.int64) << 8 * plane
    return numbers
