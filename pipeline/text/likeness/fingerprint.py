"""Makes the signature (for equal texts) and the sketch (for nearly equal texts) of a document.

Both are small enough to be kept with every document. Texts with the same words have the same signature. Two
sketches give an estimate of how similar two texts are: which share of their word triples they have in common
(the Jaccard similarity of their sets of triples). A sketch of 292 bytes holds

* the number of different triples;
* eight keys, each made of six min-hashes. Texts of similarity .9 have at least one key in common in 998 of
  1000 cases, texts of similarity .3 in 6 of 1000. So similar.py finds candidates by their keys, without
  comparing all pairs;
* an odd sketch of 2048 bits (Mitzenmacher, Pagh and Pham 2014): each triple flips one bit. If two odd
  sketches are XORed, the triples of both texts cancel out, and the bits left over count the triples of one
  text only.

On pairs of real pages with a similarity of at least .8 the error is .004. A 64-bit simhash has an error of
.07: to find 97 % of the pairs from .9 on it must report as many other pairs, a third of them below .85. Only
the first 16,384 words of a text count.
"""

from __future__ import annotations

import math
import re
import struct
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Hashes = NDArray[np.uint64]

SIGNATURE_BYTES = 16
KEYS = 8
_HASHES_PER_KEY = 6
_BINS = KEYS * _HASHES_PER_KEY
_THROWN = 9 * _BINS  # how many hashes are thrown; enough that only one text in a hundred leaves a bin empty
_EMPTY = 2**64 - 1
PARITY_BITS = 2048
MAX_WORDS = 1 << 14  # of a text that count
_LAYOUT = struct.Struct(f"<I{KEYS}I{PARITY_BITS // 8}s")
SKETCH_BYTES = _LAYOUT.size

_LETTERS = bytes(byte if byte >= 128 or chr(byte).isalnum() else 32 for byte in range(256)).lower()
# First bytes in UTF-8 of characters that are words by themselves: all from U+3000 on, mainly Chinese.
_NOT_IDEOGRAPH = bytes({*range(256)} - {*range(0xE3, 0xEE), *range(0xF0, 0xF5)})
_WORD = re.compile(rb"[\xe3-\xed\xf0-\xf4][\x80-\xbf]*|[^ \xe3-\xed\xf0-\xf4]+")


class Fingerprint(NamedTuple):
    """The signature (16 bytes) and the sketch of a text; both are empty if it has no words."""

    signature: bytes = b""
    sketch: bytes = b""


def fingerprint(text: str) -> Fingerprint:
    """Return the signature and the sketch of a text."""
    words = _words(text)
    if not words:
        return Fingerprint()
    return Fingerprint(
        blake2b(b" ".join(words), digest_size=SIGNATURE_BYTES).digest(), _sketch(words[:MAX_WORDS])
    )


def _sketch(words: list[bytes]) -> bytes:
    import numpy as np

    triples = _triples(words)
    flips = np.bincount((triples >> np.uint64(53)).astype(np.intp), minlength=PARITY_BITS)
    parity = np.packbits((flips & 1).astype(np.uint8)).tobytes()
    return _LAYOUT.pack(len(triples), *_keys(triples), parity)


def similarity(one: bytes, other: bytes) -> float:
    """Return the estimated similarity of two texts, 0 to 1, by their sketches; 0 if one has no words."""
    if not one or not other:
        return 0.0
    size: int = _LAYOUT.unpack(one)[0]
    other_size: int = _LAYOUT.unpack(other)[0]
    differing = (_parity(one) ^ _parity(other)).bit_count()
    if 2 * differing >= PARITY_BITS:
        return 0.0
    # The number of triples that, each flipping a random bit, are expected to leave `differing` bits set.
    apart = -PARITY_BITS / 2 * math.log1p(-2 * differing / PARITY_BITS)
    apart = max(apart, abs(size - other_size))
    return max(0.0, (size + other_size - apart) / (size + other_size + apart))


def sketch_keys(data: bytes) -> tuple[int, ...]:
    """Return the keys of a sketch; similar texts share at least one, at the same index."""
    return _LAYOUT.unpack(data)[1:-1]


def different_triples(data: bytes) -> int:
    """Return how many different triples of words a text has, by its sketch; 0 if it has no words."""
    return int(_LAYOUT.unpack(data)[0]) if data else 0


def _parity(data: bytes) -> int:
    return int.from_bytes(data[-PARITY_BITS // 8 :], "little")


def _words(text: str) -> list[bytes]:
    """Return the words of a text, ASCII letters in lower case; a Chinese character is a word."""
    letters = text.encode("utf-8", "replace").translate(_LETTERS)
    return _WORD.findall(letters) if letters.translate(None, _NOT_IDEOGRAPH) else letters.split()


def _triples(words: list[bytes]) -> Hashes:
    """Return the distinct hashes of three consecutive words; a text of one or two words is padded."""
    import numpy as np

    count = max(len(words), 3)
    hashes = np.zeros(count, np.uint64)
    hashes[: len(words)] = np.fromiter(map(crc32, words), np.uint64, len(words))
    found = _mix(hashes[:-2].copy())
    for following in (hashes[1:-1], hashes[2:]):
        found += following
        _mix(found)
    found.sort()
    is_new = np.ones(len(found), np.bool_)  # np.unique is seven times slower
    np.not_equal(found[1:], found[:-1], out=is_new[1:])
    distinct: Hashes = found[is_new]
    return distinct


def _keys(triples: Hashes) -> list[int]:
    """Return the keys, made of min-hashes drawn by Fast Similarity Sketching (Dahlgaard et al. 2017).

    Each triple is thrown into one of 48 bins, and the smallest hash in a bin counts. While a bin is empty,
    all triples are thrown once more, and count only in the bins that were empty before.
    """
    import numpy as np

    throws = math.ceil(_THROWN / len(triples))
    smallest = np.full(_BINS, _EMPTY, np.uint64)
    done = 0
    while (empty := smallest == _EMPTY).any():
        seeds = np.arange(done, done + throws, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        thrown = _mix(triples + seeds[:, np.newaxis])
        smallest[empty] = _drawn(thrown)[empty]
        done += throws
    combined = np.zeros(KEYS, np.uint64)
    for column in smallest.reshape(KEYS, _HASHES_PER_KEY).T:
        combined += column
        _mix(combined)
    keys: list[int] = (combined >> np.uint64(32)).tolist()
    return keys


def _drawn(thrown: Hashes) -> Hashes:
    """Return the smallest hash in each bin, from the first throw (row) that has one there, else _EMPTY."""
    import numpy as np

    throws = len(thrown)
    bins = ((thrown >> np.uint64(32)) * np.uint64(_BINS)) >> np.uint64(32)
    cells = bins.astype(np.intp) + np.arange(throws)[:, np.newaxis] * _BINS
    lowest = np.full(throws * _BINS, _EMPTY, np.uint64)
    np.minimum.at(lowest, cells.ravel(), thrown.ravel())  # numpy does this fast in one dimension only
    table = lowest.reshape(throws, _BINS)
    drawn: Hashes = table[np.argmax(table != _EMPTY, axis=0), np.arange(_BINS)]
    return drawn


def _mix(values: Hashes) -> Hashes:
    """Mix the values in place by the finaliser of SplitMix64, and return them."""
    import numpy as np

    values ^= values >> np.uint64(30)
    values *= np.uint64(0xBF58476D1CE4E5B9)
    values ^= values >> np.uint64(27)
    values *= np.uint64(0x94D049BB133111EB)
    values ^= values >> np.uint64(31)
    return values
