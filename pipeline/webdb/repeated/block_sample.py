"""The sample of a host: the hashes of the blocks of some of its pages, and which of them are repeated.

A host has up to SAMPLED_PAGES pages in its sample: the pages whose URLs have the smallest hashes, which is as
good as a random choice (a "bottom-k sample"). So the sample depends only on which pages were read, not on
their order, nor on how tasks, kills and runs have split them. It never grows beyond its limit. When a page is
read again, its new blocks replace the old ones.

Counters per block would need a rule for which counters to drop, and would count a page twice that was read in
two rounds.
"""

from __future__ import annotations

from collections import Counter
from heapq import nsmallest
from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.text.repeated.page_blocks import HASH_BYTES, unpacked
from crawlctl.pipeline.urls.hosts import stable_digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SAMPLED_PAGES = 32  # the most pages in the sample of a host
FEWEST_PAGES = 6  # the fewest pages that must have a block, so that it counts as repeated
SHARE = 0.5  # the share of the sampled pages that must have a block, so that it counts as repeated
_MARK_BYTES = 4
NO_BOUND = 1 << 8 * _MARK_BYTES


class BlockSample(msgspec.Struct, frozen=True, array_like=True):
    """The sampled pages of a host, in order: the mark of each page, and the hashes of its blocks."""

    pages: tuple[tuple[int, bytes], ...] = ()

    @property
    def bound(self) -> int:
        """The mark up to which a page belongs to the sample."""
        return self.pages[-1][0] if len(self.pages) >= SAMPLED_PAGES else NO_BOUND

    def repeated(self) -> bytes:
        """Return the hashes of the blocks that are repeated, in order."""
        needed = max(FEWEST_PAGES, len(self.pages) * SHARE)
        if len(self.pages) < needed:
            return b""
        counts = Counter(one for _, hashes in self.pages for one in unpacked(hashes))
        return b"".join(sorted(one for one, pages in counts.items() if pages >= needed))

    def updated(self, newer: BlockSample) -> BlockSample:
        """Return the sample after pages were read; their blocks replace their old blocks."""
        return _sample(dict(self.pages) | dict(newer.pages))


def mark_of(key: bytes) -> int:
    """Return the mark of a page, by its WebDB key; pages with small marks are sampled."""
    return int.from_bytes(stable_digest(key)[:_MARK_BYTES], "big")


def sample_of(pages: Iterable[tuple[int, bytes]]) -> BlockSample:
    """Return the sample of pages that were read in one round, in any order.

    If a page was read twice, the greater hashes count: this rule only makes the sample independent of the
    order.
    """
    found: dict[int, bytes] = {}
    for mark, hashes in pages:
        found[mark] = max(hashes, found.get(mark, b""))
    return _sample(found)


def _sample(pages: Mapping[int, bytes]) -> BlockSample:
    return BlockSample(tuple(nsmallest(SAMPLED_PAGES, pages.items())))


_decode = msgspec.msgpack.Decoder(BlockSample).decode
encode_sample = msgspec.msgpack.Encoder().encode


def decode_sample(value: bytes, name: str = "blocks", offset: int = 0) -> BlockSample:
    """Return a packed sample; errors call its file `name`."""
    try:
        sample = _decode(value)
    except (msgspec.MsgspecError, UnicodeDecodeError) as err:
        raise CorruptFile(name, offset, f"not a sample of blocks ({err})") from err
    marks = [mark for mark, _ in sample.pages]
    if marks != sorted(set(marks)) or any(len(hashes) % HASH_BYTES for _, hashes in sample.pages):
        raise CorruptFile(name, offset, "not a sample of blocks (its pages are out of order or cut off)")
    return sample
