"""Cuts texts into chunks and chunks into words with numpy, many at once, by the rules of tokens.py.

For most characters the folded form and its class do not depend on the neighbours. A chunk with a character
for which they do, such as a combining mark, is refused; the caller uses `tokens_of_chunk` for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from unicodedata import category

import numpy as np

from crawlctl.pipeline.arrays.byte_strings import KEY_BYTES, ByteStrings
from crawlctl.pipeline.arrays.ragged import indices_of, starts_of
from crawlctl.pipeline.text.words.tokens import MAX_CHARACTERS, class_of, folded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Octets = NDArray[np.uint8]
    Points = NDArray[np.uint32]
    Indices = NDArray[np.int64]

_SPACE = 32
_UNDERSCORE = 95
_HASH, _PLUS, _DOT = b"#+."
_TABLE = 0x10000  # characters beyond the first plane are refused; few texts have them
_CLASSES = {"w": 1, "_": 2, "u": 3}
_WORD, _JOINER, _UNSPACED = _CLASSES.values()


def chunks_of(data: bytes) -> ByteStrings:
    """Return the chunks of a text in UTF-8, with ASCII in lower case: as `tokens` cuts them, but faster.

    A chunk with a capital behind a small letter keeps its case, because its parts count (`parts_of`). At
    least 16 bytes follow the last chunk, so that keys of 16 bytes can be read at each start.
    """
    raw = np.frombuffer(data, np.uint8)
    octets = np.zeros(1 + len(raw) + KEY_BYTES, np.uint8)  # a zero is a separator
    capital = _in_range(raw, b"AZ")
    np.bitwise_or(raw, capital.view(np.uint8) * np.uint8(32), out=octets[1 : 1 + len(raw)])
    inside = _in_range(octets, b"az")
    inside |= _in_range(octets, b"09")
    inside |= octets == _UNDERSCORE
    inside |= octets.view(np.int8) < 0
    _take_in_signs(octets, inside)
    # The index of the last byte of each separator and of each chunk.
    edges = (inside[:-1] != inside[1:]).nonzero()[0]
    starts, lengths = edges[0::2], edges[1::2] - edges[0::2]
    humps = (capital[1:] & _in_range(raw, b"az")[:-1]).nonzero()[0] + 1
    if len(humps):
        chosen = np.unique(np.searchsorted(starts, humps, side="right") - 1)
        kept = indices_of(starts[chosen], lengths[chosen])
        octets[kept + 1] = raw[kept]
    return ByteStrings(octets[1:], starts, lengths)


def _take_in_signs(octets: Octets, inside: NDArray[np.bool_]) -> None:
    """Let the signs of `c++`, `c#`, `f#` and `.net` belong to their chunks, by the rule in tokens.py."""
    signs = ((octets == _HASH) | (octets == _PLUS) | (octets == _DOT)).nonzero()[0]
    sign, before, behind = octets[signs], octets[signs - 1], octets[signs + 1]
    bounded = ~_bound(octets, inside, signs - 2, dot=True)
    hashes = signs[(sign == _HASH) & ((before == ord("c")) | (before == ord("f"))) & bounded]
    hashes = hashes[~_bound(octets, inside, hashes + 1)]
    pluses = signs[(sign == _PLUS) & (before == ord("c")) & (behind == _PLUS) & bounded]
    pluses = pluses[~_bound(octets, inside, pluses + 2)]
    dots = signs[(sign == _DOT) & (behind == ord("n")) & ~_bound(octets, inside, signs - 1, dot=True)]
    dots = dots[(octets[dots + 2] == ord("e")) & (octets[dots + 3] == ord("t"))]
    dots = dots[~_bound(octets, inside, dots + 4)]
    for taken in (hashes, pluses, pluses + 1, dots):
        inside[taken] = True


def _bound(octets: Octets, inside: NDArray[np.bool_], at: Indices, *, dot: bool = False) -> NDArray[np.bool_]:
    """Return the places of letters, digits and other signs, next to which a sign is not the end of a name."""
    found = octets[at]
    bound: NDArray[np.bool_] = inside[at] | (found == _HASH) | (found == _PLUS)
    return bound | (found == _DOT) if dot else bound


def _in_range(octets: Octets, ends: bytes) -> NDArray[np.bool_]:
    first, last = ends
    inside: NDArray[np.bool_] = octets - np.uint8(first) <= np.uint8(last - first)
    return inside


class ChunkWords(NamedTuple):
    """The words of many chunks in UTF-8, each with a space behind it, and the number of words per chunk."""

    words: bytes
    counts: NDArray[np.intp]
    # True for chunks that the caller must pass to `tokens_of_chunk`; their count of words is 0
    refused: NDArray[np.bool_]


def words_of_chunks(joined: bytes) -> ChunkWords:
    """Return the words of chunks in UTF-8, each with a space behind it."""
    points = _points(joined.decode("utf-8", "replace"))
    ends = np.flatnonzero(points == _SPACE)
    refused = np.zeros(len(ends), np.bool_)
    odd = ~_FOLDS.know(points)
    if odd.any():
        refused[np.searchsorted(ends, np.flatnonzero(odd))] = True
        points = np.where(odd, np.uint32(_SPACE), points)
    lengths = _FOLDS.lengths[points]
    text = _FOLDS.text[indices_of(_FOLDS.starts[points], lengths)]
    ends = np.cumsum(lengths, dtype=np.int64)[ends] - 1
    starts, sizes = _cut(text)
    counts = np.diff(np.searchsorted(starts, ends), prepend=0)
    if refused.any():
        kept = np.repeat(~refused, counts)
        starts, sizes = starts[kept], sizes[kept]
        counts[refused] = 0
    return ChunkWords(_joined(text, starts, sizes), counts, refused)


def _cut(text: Points) -> tuple[Indices, Indices]:
    """Return the starts and lengths of the words of a folded text that ends with a space."""
    classes = _FOLDS.classes[text]
    sizes = np.zeros(len(text), np.int64)
    unspaced = np.flatnonzero(classes == _UNSPACED)
    if len(unspaced):
        before, behind = (classes[unspaced + step] == _UNSPACED for step in (-1, 1))
        sizes[unspaced[behind]] = 2  # each pair of neighbours
        sizes[unspaced[~(before | behind)]] = 1
    inside = (classes == _WORD) | (classes == _JOINER)
    edges = np.flatnonzero(np.diff(inside, prepend=False))
    starts, stops = edges[0::2], edges[1::2]
    if (text[starts] == ord("_")).any() or (text[stops - 1] == ord("_")).any():
        starts, stops = _stripped(classes == _WORD, starts, stops)
    long = np.flatnonzero(stops - starts > MAX_CHARACTERS)
    if len(long):
        cut = starts[long] + MAX_CHARACTERS
        starts[long], stops[long] = _stripped(classes == _WORD, starts[long], cut)
    sizes[starts] = stops - starts
    found = np.flatnonzero(sizes)
    return found, sizes[found]


def _stripped(letters: NDArray[np.bool_], starts: Indices, stops: Indices) -> tuple[Indices, Indices]:
    """Return ranges without the characters at their ends that are no letters; drop ranges without letters."""
    indices = np.arange(len(letters))
    following = np.minimum.accumulate(np.where(letters, indices, len(letters))[::-1])[::-1]
    preceding = np.maximum.accumulate(np.where(letters, indices, -1))
    having = following[starts] < stops
    return following[starts[having]], preceding[stops[having] - 1] + 1


def _joined(text: Points, starts: Indices, sizes: Indices) -> bytes:
    """Return words of a text in UTF-8, each with a space behind it."""
    points = np.full(int(sizes.sum()) + len(sizes), _SPACE, "<u4")
    ends = np.cumsum(sizes + 1)
    points[indices_of(ends - 1 - sizes, sizes)] = text[indices_of(starts, sizes)]
    return points.tobytes().decode("utf-32-le").encode()


def _points(text: str) -> Points:
    return np.frombuffer(text.encode("utf-32-le"), "<u4").astype(np.uint32, copy=False)


class _Folds:
    """The folded form of each character met so far, and the classes of these, for the life of the process."""

    def __init__(self) -> None:
        self.starts = np.zeros(_TABLE, np.int64)
        self.lengths = np.zeros(_TABLE, np.uint8)
        self.classes = np.zeros(_TABLE, np.uint8)
        self.text = np.zeros(0, np.uint32)
        self._known = np.zeros(_TABLE, np.bool_)
        self._odd = np.zeros(_TABLE, np.bool_)

    def know(self, points: Points) -> NDArray[np.bool_]:
        """Return which characters fold the same way in any context; new characters are learned first."""
        near = np.minimum(points, np.uint32(_TABLE - 1))  # U+FFFF, which is no character
        known = self._known[near]
        if not known.all():
            self._learn(np.unique(near[~known]).tolist())
        odd: NDArray[np.bool_] = self._odd[near]
        return ~odd

    def _learn(self, points: list[int]) -> None:
        folds = {point: folded(chr(point)) for point in points}
        self._known[points] = True
        self._odd[[point for point, fold in folds.items() if _is_odd(point, fold)]] = True
        for character in set("".join(folds.values())):
            if ord(character) < _TABLE:
                self.classes[ord(character)] = _CLASSES.get(class_of(character), 0)
        lengths = np.fromiter(map(len, folds.values()), np.int64, len(folds))
        self.starts[points] = starts_of(lengths) + len(self.text)
        self.lengths[points] = lengths
        self.text = np.concatenate((self.text, _points("".join(folds.values()))))


def _is_odd(point: int, fold: str) -> bool:
    """Tell whether the folded form of a character depends on its neighbours.

    Only marks and Korean vowels and finals are composed with the character before them or swapped with it.
    """
    return point == _TABLE - 1 or any(
        category(c)[0] == "M" or 0x1160 <= ord(c) < 0x1200 or ord(c) >= _TABLE for c in fold
    )


_FOLDS = _Folds()
