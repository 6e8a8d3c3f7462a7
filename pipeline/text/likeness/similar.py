"""Find the similar ones among many texts by their sketches, without comparing each with each."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from crawlctl.pipeline.text.likeness.fingerprint import KEYS, PARITY_BITS, similarity, sketch_keys

# The layout of a sketch.
SKETCH = np.dtype([("size", "<u4"), ("keys", "<u4", (KEYS,)), ("parity", "<u8", (PARITY_BITS // 64,))])
# A text is compared with so many that share a key with it, the last ones.  More share one only where a site
# fills one template again and again, and there one stands for the others.
_MAX_COMPARED = 1024
# Most of the error of an estimate: rather leave two similar pages than fold away one that differs.
_CAUTION = 0.002


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
        places = list(enumerate(sketch_keys(sketch)))
        candidates = {leader for place in places for leader in self._with_key.get(place, ())[-_MAX_COMPARED:]}
        likeness = {leader: similarity(sketch, self._sketches[leader]) for leader in candidates}
        best = max(likeness, key=lambda leader: (likeness[leader], -leader), default=number)
        if likeness.get(best, 0.0) >= min(self._threshold + _CAUTION, 1.0):
            return best
        self._sketches[number] = sketch
        for place in places:
            self._with_key[place].append(number)
        return number
