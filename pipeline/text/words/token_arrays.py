"""A text cut into chunks, and the words of many chunks at once, by the rules of words/tokens.py, with numpy.

What a character folds to and of which class that is does not depend on its neighbours, but for marks and
such; a chunk that has one of these is refused, and `tokens_of_chunk` has to see to it.
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
    Places = NDArray[np.int64]

_SPACE = 32
_UNDERSCORE = 95
_TABLE = 0x10000  # beyond the first plane there may be marks of other kinds, but few texts go there
_CLASSES = {"w": 1, "_": 2, "u": 3}
_WORD, _JOINER, _UNSPACED = _CLASSES.values()


def chunks_of(data: bytes) -> ByteStrings:
    """Return the chunks of a text in UTF-8, with ASCII in lower case: those of TO_CHUNKS, but faster.

    Behind the last are 16 bytes.
    """
    raw = np.frombuffer(data, np.uint8)
    octets = np.zeros(1 + len(raw) + KEY_BYTES, np.uint8)  # zeros separate
    capital = _in_range(raw, b"AZ")
    np.bitwise_or(raw, capital.view(np.uint8) * np.uint8(32), out=octets[1 : 1 + len(raw)])
    inside = _in_range(octets, b"az")
    inside |= _in_range(octets, b"09")
    inside |= octets == _UNDERSCORE
    inside |= octets.view(np.int8) < 0
    edges = (inside[:-1] != inside[1:]).nonzero()[0]  # the last places of what separates and of chunks
    return ByteStrings(octets[1:], edges[0::2], edges[1::2] - edges[0::2])


def _in_range(octets: Octets, ends: bytes) -> NDArray[np.bool_]:
    first, last = ends
    inside: NDArray[np.bool_] = octets - np.uint8(first) <= np.uint8(last - first)
    return inside


class ChunkWords(NamedTuple):
    """The words of some chunks in UTF-8, a space behind each, and how many each chunk has."""

    words: bytes
    counts: NDArray[np.intp]
    refused: NDArray[np.bool_]  # chunks that count as without words


def words_of_chunks(joined: bytes) -> ChunkWords:
    """Return the words of chunks that have a space behind each."""
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


def _cut(text: Points) -> tuple[Places, Places]:
    """Return where the words of a folded text begin, and how long they are; it ends with a space."""
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


def _stripped(letters: NDArray[np.bool_], starts: Places, stops: Places) -> tuple[Places, Places]:
    """Return stretches without what is no letter at their ends, and none of those without letters."""
    places = np.arange(len(letters))
    following = np.minimum.accumulate(np.where(letters, places, len(letters))[::-1])[::-1]
    preceding = np.maximum.accumulate(np.where(letters, places, -1))
    having = following[starts] < stops
    return following[starts[having]], preceding[stops[having] - 1] + 1


def _joined(text: Points, starts: Places, sizes: Places) -> bytes:
    """Return words of a text in UTF-8, a space behind each."""
    points = np.full(int(sizes.sum()) + len(sizes), _SPACE, "<u4")
    ends = np.cumsum(sizes + 1)
    points[indices_of(ends - 1 - sizes, sizes)] = text[indices_of(starts, sizes)]
    return points.tobytes().decode("utf-32-le").encode()


def _points(text: str) -> Points:
    return np.frombuffer(text.encode("utf-32-le"), "<u4").astype(np.uint32, copy=False)


class _Folds:
    """What each character met so far folds to, and the classes of characters that are folded to."""

    def __init__(self) -> None:
        self.starts = np.zeros(_TABLE, np.int64)
        self.lengths = np.zeros(_TABLE, np.uint8)
        self.classes = np.zeros(_TABLE, np.uint8)
        self.text = np.zeros(0, np.uint32)
        self._known = np.zeros(_TABLE, np.bool_)
        self._odd = np.zeros(_TABLE, np.bool_)

    def know(self, points: Points) -> NDArray[np.bool_]:
        """Tell of which characters it is known, having learnt those that are new."""
        near = np.minimum(points, np.uint32(_TABLE - 1))  # which is no character
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
    """Tell whether what becomes of a character depends on its neighbours.

    What composes with the character before it, or changes places with it, is a mark or a Korean vowel or
    final.
    """
    return point == _TABLE - 1 or any(
        category(c)[0] == "M" or 0x1160 <= ord(c) < 0x1200 or ord(c) >= _TABLE for c in fold
    )


_FOLDS = _Folds()
