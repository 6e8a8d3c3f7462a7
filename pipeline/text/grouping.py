"""Find the similar ones among many texts by their sketches, without comparing each with each."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crawlctl.pipeline.text.duplicates import KEYS, PARITY_BITS, keys, similarity

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    Numbers = NDArray[np.intp]

# The layout of a sketch.
SKETCH = np.dtype([("size", "<u4"), ("keys", "<u4", (KEYS,)), ("parity", "<u8", (PARITY_BITS // 64,))])
# A text is compared with so many that share a key with it, those next to it in size.  More share one only
# where a site fills one template again and again, and there a neighbour stands for the others.
_MAX_COMPARED = 1024
# Most of the error of an estimate: rather leave two similar pages than fold away one that differs.
_CAUTION = 0.002


class Pair(NamedTuple):
    """Two similar texts by their numbers, and how similar they are."""

    first: int
    second: int
    similarity: float


def similar_pairs(sketches: Sequence[bytes], threshold: float) -> Iterator[Pair]:
    """Yield the pairs of texts whose similarity reaches the threshold; of equal ones, each with the first."""
    first_with: dict[bytes, int] = {}
    for number, data in enumerate(sketches):
        first = first_with.setdefault(data, number) if data else number
        if first != number:
            yield Pair(first, number, 1.0)
    numbers = list(first_with.values())
    table = np.frombuffer(b"".join(first_with), SKETCH)
    for place in range(KEYS):
        for crowd in _crowds(table, place):
            for one, other, found in _similar_in(table, crowd, place, min(threshold + _CAUTION, 1.0)):
                first, second = sorted((numbers[one], numbers[other]))
                yield Pair(first, second, found)


class Leaders:
    """Takes texts one by one and says which earlier text each is a near duplicate of.

    A text is compared only with those that lead: what is like one of them joins it, and what is like none
    leads itself.  So a site that says the same a hundred thousand times costs one comparison a page, and
    nobody is folded into a text it is not similar to, as happens where groups are made of chains of similar
    pairs.  A leader takes about 2 kB of memory.
    """

    def __init__(self, threshold: float) -> None:
        self._threshold = threshold
        self._sketches: dict[int, bytes] = {}
        self._with_key: defaultdict[tuple[int, int], list[int]] = defaultdict(list)

    def leader_of(self, number: int, sketch: bytes) -> int:
        """Take a text by any number of its own, and return that of its leader, which may be itself."""
        if not sketch:
            return number
        places = list(enumerate(keys(sketch)))
        candidates = {leader for place in places for leader in self._with_key.get(place, ())[-_MAX_COMPARED:]}
        likeness = {leader: similarity(sketch, self._sketches[leader]) for leader in candidates}
        best = max(likeness, key=lambda leader: (likeness[leader], -leader), default=number)
        if likeness.get(best, 0.0) >= min(self._threshold + _CAUTION, 1.0):
            return best
        self._sketches[number] = sketch
        for place in places:
            self._with_key[place].append(number)
        return number


def groups(sketches: Sequence[bytes], threshold: float) -> list[list[int]]:
    """Return groups of two texts or more, led by the first of each, so order them by preference."""
    leaders, found = Leaders(threshold), defaultdict[int, list[int]](list)
    for number, sketch in enumerate(sketches):
        found[leaders.leader_of(number, sketch)].append(number)
    return [members for members in found.values() if len(members) > 1]


def _crowds(table: NDArray[np.void], place: int) -> Iterator[Numbers]:
    """Yield the rows that have a key in common, in the order of their size."""
    key = table["keys"][:, place]
    order: Numbers = np.lexsort((table["size"], key))
    ends = np.flatnonzero(np.diff(key[order])) + 1
    for start, end in zip([0, *ends.tolist()], [*ends.tolist(), len(order)], strict=True):
        if end - start > 1:
            yield order[start:end]


def _similar_in(
    table: NDArray[np.void], crowd: Numbers, place: int, threshold: float
) -> Iterator[tuple[int, int, float]]:
    """Yield two rows of a crowd and their similarity, unless an earlier key has brought them together."""
    sizes, earlier = table["size"][crowd], table["keys"][crowd, :place]
    # No text is more similar than it is long: the larger ones that may be are those up to this place.
    ends = np.searchsorted(sizes, sizes / threshold, side="right")
    for start, end in enumerate(np.minimum(ends, np.arange(len(crowd)) + 1 + _MAX_COMPARED).tolist()):
        others = np.arange(start + 1, end)
        others = others[~(earlier[others] == earlier[start]).any(axis=1)]
        if len(others):
            one, rows = int(crowd[start]), crowd[others]
            found = _similarities(table[one], table[rows])
            for index in np.flatnonzero(found >= threshold).tolist():
                yield one, int(rows[index]), float(found[index])


def _similarities(one: np.void, others: NDArray[np.void]) -> NDArray[np.float64]:
    """Return what `duplicates.similarity` estimates, for one sketch and many."""
    differing = np.bitwise_count(one["parity"] ^ others["parity"]).sum(axis=1, dtype=np.int64)
    saturated = 2 * differing >= PARITY_BITS
    share = np.where(saturated, 0.0, 2 * differing / PARITY_BITS)
    apart = -PARITY_BITS / 2 * np.log1p(-share)
    size, sizes = int(one["size"]), others["size"].astype(np.int64)
    apart = np.maximum(apart, np.abs(sizes - size))
    found: NDArray[np.float64] = np.where(saturated, 0.0, (size + sizes - apart) / (size + sizes + apart))
    return np.maximum(found, 0.0)
