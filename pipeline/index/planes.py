"""Numbers in byte planes: the low bytes of all of them, then the next higher ones.

Plain Python turns a plane into numbers without a loop, deflate finds a plane more alike than mixed bytes, and
numpy puts the planes of thousands of lists in their places at once.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from crawlctl.pipeline.formats.stretches import places_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Octets = NDArray[np.uint8]

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


def scatter(blob: Octets, base: Integers, numbers: Integers, lengths: Integers, planes: Integers) -> None:
    """Put each stretch of numbers behind its base, plane by plane."""
    import numpy as np

    for plane in range(int(planes.max(initial=0))):
        places = places_of(base + plane * lengths, lengths)
        octets = (numbers >> 8 * plane).astype(np.uint8)
        if planes.min() <= plane:
            used = np.repeat(planes > plane, lengths)
            places, octets = places[used], octets[used]
        blob[places] = octets


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
