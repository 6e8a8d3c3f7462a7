"""Finds near duplicates among many texts by their sketches, without comparing all pairs."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from crawlctl.pipeline.text.likeness.fingerprint import similarity, sketch_keys
from crawlctl.pipeline.text.likeness.sketch_sizes import KEYS, PARITY_BITS

# The layout of a sketch.
SKETCH = np.dtype([("size", "<u4"), ("keys", "<u4", (KEYS,)), ("parity", "<u8", (PARITY_BITS // 64,))])
# A text is compared with the last this many leaders that share a key with it. More share a key only where a
# site fills the same template again and again, and there one of them is as good as another.
_MAX_COMPARED = 1024
# Covers most of the error of an estimate: to show two similar pages is better than to hide a different one.
_CAUTION = 0.002


class Leaders:
    """Takes texts one by one and says of which earlier text, its leader, each is a near duplicate.

    A text is compared with leaders only: it joins the most similar one, or becomes a leader itself. So a site
    that says the same a hundred thousand times costs one comparison per page. And no text joins a text to
    which it is not similar, as happens where groups are chains of similar pairs. A leader takes about 2 kB of
    memory for the life of this object.
    """

    def __init__(self, threshold: float) -> None:
        self._threshold = threshold
        self._sketches: dict[int, bytes] = {}
        self._with_key: defaultdict[tuple[int, int], list[int]] = defaultdict(list)

    def leader_of(self, number: int, sketch: bytes) -> int:
        """Take the sketch of a text with a unique number; return the number of its leader, maybe its own."""
        if not sketch:
            return number
        keys = enumerate(sketch_keys(sketch))
        candidates = {leader for key in keys for leader in self._with_key.get(key, ())[-_MAX_COMPARED:]}
        likeness = {leader: similarity(sketch, self._sketches[leader]) for leader in candidates}
        best = max(likeness, key=lambda leader: (likeness[leader], -leader), default=number)
        if likeness.get(best, 0.0) >= min(self._threshold + _CAUTION, 1.0):
            return best
        self.add(number, sketch)
        return number

    def add(self, number: int, sketch: bytes) -> None:
        """Take the sketch of a text that is a leader, whatever it resembles."""
        self._sketches[number] = sketch
        for key in enumerate(sketch_keys(sketch)):
            self._with_key[key].append(number)
