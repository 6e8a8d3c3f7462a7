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
from typing import NamedTuple

from crawlctl.pipeline.text.likeness.sketch_sizes import KEYS, PARITY_BITS

SIGNATURE_BYTES = 16
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
    from crawlctl.pipeline.text.likeness.word_triples import hashed_triples, keys_of, parity_of

    triples = hashed_triples(words)
    return _LAYOUT.pack(len(triples), *keys_of(triples), parity_of(triples))


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
