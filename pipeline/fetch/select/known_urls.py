"""A Bloom filter of the URLs that the crawl knows already.

A page may add only a limited number of *new* URLs. If the task did not know the old URLs, the menu of the
page would use up the limit on every visit. The filter holds the URLs of the partition and all URLs that the
task has found. If the filter errs, a new URL counts as known: it is still taken, but it does not count for
the limit of its page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_BITS_PER_URL = 16  # with two probes, one new URL in a hundred counts as known
_MIN_BITS = 1 << 20
_MAX_BITS = 1 << 28  # 32 MB
_SECOND_HASH = np.uint64(0x9E3779B97F4A7C15)


class Known(Protocol):
    """The URLs that a task knows: this filter, or the extract of the part (webdb/extract/part_extract.py)."""

    def add(self, keys: Sequence[bytes], /) -> None:
        """Add keys."""

    def contains(self, keys: Sequence[bytes], /) -> list[bool]:
        """Return for each key whether it is known."""


class KnownUrls:
    """A set of WebDB keys in a fixed amount of memory; `expected` is the estimated number of keys."""

    def __init__(self, expected: int = 0) -> None:
        wanted = min(max(expected * _BITS_PER_URL, _MIN_BITS), _MAX_BITS)
        bits = 1 << (wanted - 1).bit_length()
        self._octets = np.zeros(bits // 8, np.uint8)
        self._shift = np.uint64(64 - bits.bit_length() + 1)

    def add(self, keys: Sequence[bytes]) -> None:
        """Add keys."""
        for octets, bits in self._probes(keys):
            np.bitwise_or.at(self._octets, octets, bits)

    def contains(self, keys: Sequence[bytes]) -> list[bool]:
        """Return for each key whether it was added; about one in a hundred True values is wrong."""
        (one, one_bit), (other, other_bit) = self._probes(keys)
        found = (self._octets[one] & one_bit).astype(bool) & (self._octets[other] & other_bit).astype(bool)
        verdicts: list[bool] = found.tolist()
        return verdicts

    def _probes(self, keys: Sequence[bytes]) -> tuple[tuple[NDArray[np.uint64], NDArray[np.uint8]], ...]:
        # Python's hash differs from process to process, but the filter lives only as long as its process.
        hashes = np.fromiter(map(hash, keys), np.int64, len(keys)).view(np.uint64)
        probes = (hashes >> self._shift, (hashes * _SECOND_HASH) >> self._shift)
        return tuple(
            (probe >> np.uint64(3), np.uint8(1) << (probe & np.uint64(7)).astype(np.uint8))
            for probe in probes
        )
