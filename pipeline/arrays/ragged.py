"""Stretches of an array: where they begin, and all the places in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]


def starts_of(lengths: NDArray[np.integer]) -> Integers:
    """Return where stretches of these lengths begin that lie end to end."""
    import numpy as np

    starts = np.zeros(len(lengths), np.int64)
    np.cumsum(lengths[:-1], out=starts[1:])
    return starts


def places_of(base: Integers, lengths: NDArray[np.integer]) -> Integers:
    """Return the places of stretches of these lengths that begin at `base`."""
    import numpy as np

    places: Integers = np.repeat(base - starts_of(lengths), lengths)
    places += np.arange(len(places))
    return places
