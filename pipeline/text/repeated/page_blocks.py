"""The blocks of a page that pages of its host are compared by, and which of them are left out as repeated.

A slogan such as "Small. Fast. Reliable." may be marked up like content. Then one page does not show that it
is a slogan. Other pages of the host do: they have the same block at the same place of their tree. A block is
known by a hash of its DOM path and its text. Which hashes are repeated was decided before, from the pages of
earlier rounds (webdb/repeated/). This module is given the list of these hashes.

A repeated block may hold real words all the same: pages of an API explain the same parameter in the same
words. So a block is left out only if all of these are true:

* it is in the first or last third of the page, and almost no text that only this page has is
  before it, or behind it;
* it has no h1 in it, and is in no definition list, where it explains the term above it;
* what is left out is less than half of the text. A page that consists of repeated blocks keeps them all: it
  is a licence, or a page that has several URLs.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import lru_cache
from hashlib import blake2b
from itertools import accumulate, compress
from operator import mul
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from selectolax.lexbor import LexborNode

    from crawlctl.pipeline.text.html.block_sizes import Block
    from crawlctl.pipeline.text.html.boilerplate import Verdict
    from crawlctl.pipeline.text.html.outline import Heading

    Hashes = frozenset[bytes]

HASH_BYTES = 8
# the most blocks per page: outermost blocks first, then blocks near the beginning or end of the page
MAX_BLOCKS = 32
_FEWEST = 20  # the fewest characters of a block: shorter texts may be equal by chance
_MOST = 20_000  # the most characters of a block: with longer blocks a hostile page would take too much time
_LEVELS = 64  # the most elements of a DOM path, from the block towards the root
_SLACK = 200  # characters of a page's own text that may stand between a repeated block and the edge …
_SLACK_SHARE = 8  # … and at most this fraction of its own text


class PageBlock(NamedTuple):
    """A block of a page, the hash that it is known by, and the characters of its text."""

    block: Block
    hash: bytes
    size: int


class _Candidate(NamedTuple):
    level: int  # how many candidates are around it
    distance: int  # characters to the nearer edge
    block: Block
    size: int


class PageBlocks:
    """The blocks of one page that were hashed, for as long as the page is parsed."""

    def __init__(
        self, texts: Sequence[str], blocks: Sequence[Block], headings: Sequence[Heading], is_kept: bytes
    ) -> None:
        self._before = [0, *accumulate(map(mul, map(len, texts), is_kept))]
        self._titles = [heading for heading in headings if heading.is_first_level and is_kept[heading.start]]
        found = sorted(self._candidates(blocks), key=lambda one: (one.level, one.distance, one.block.start))
        self._found: list[PageBlock] = []
        for _, _, block, size in found[:MAX_BLOCKS]:
            path = _path(block.node)
            if path:
                start, end = block.start, block.end
                text = "".join(compress(texts[start:end], is_kept[start:end]))
                self._found.append(PageBlock(block, _hash(path, text), size))

    def packed(self) -> bytes:
        """Return all hashes as one string of bytes, each once, in order."""
        return b"".join(sorted({one.hash for one in self._found}))

    def left_out(self, repeated: Hashes) -> list[Block]:
        """Return the blocks to leave out, given the repeated hashes of the host, in the order of the page."""
        known = _outermost(one for one in self._found if one.hash in repeated)
        total, size = self._before[-1], sum(one.size for one in known)
        own = total - size - self._title_size(len(self._before))
        slack = min(_SLACK, own // _SLACK_SHARE)
        edges: list[PageBlock] = []
        passed = 0  # characters of repeated blocks so far
        for one in known:
            before = self._before[one.block.start] - passed - self._title_size(one.block.start)
            passed += one.size
            if before <= slack or own - before <= slack:
                edges.append(one)
        gone = sum(one.size for one in edges)
        return [one.block for one in edges] if gone * 2 < total else []

    def _candidates(self, blocks: Sequence[Block]) -> Iterator[_Candidate]:
        """Yield the blocks that lie wholly in the first or in the last third of the text."""
        before = self._before
        total = before[-1]
        first, last = bisect_right(before, total / 3) - 1, bisect_left(before, total * 2 / 3)
        titles = [heading.start for heading in self._titles]
        around: list[tuple[int, int]] = []  # the start and the size of the candidates around
        for block in reversed(blocks):
            start, end, *_ = block
            size = before[end] - before[start]
            if not _FEWEST <= size <= _MOST or (end > first and start < last):
                continue
            following = bisect_left(titles, start)
            if following < len(titles) and titles[following] < end:
                continue
            while around and start < around[-1][0]:
                around.pop()
            if around and around[-1][1] == size:
                continue  # the block around it has the same text
            yield _Candidate(len(around), min(before[start], total - before[end]), block, size)
            around.append((start, size))

    def _title_size(self, index: int) -> int:
        """Return the characters of h1 elements before a text."""
        return sum(len(heading.text) for heading in self._titles if heading.start < index)


def without_repeated(verdict: Verdict, left_out: Sequence[Block]) -> Verdict:
    """Return a verdict that also takes these blocks for boilerplate."""
    if not left_out:
        return verdict
    outside = [
        block
        for block in verdict.dropped
        if not any(one.start <= block.start and block.end <= one.end for one in left_out)
    ]
    return verdict._replace(dropped=sorted([*outside, *left_out], key=lambda block: block.start))


@lru_cache(maxsize=64)
def unpacked(hashes: bytes) -> Hashes:
    """Return the hashes in one string of bytes; cached, because all pages of a host have the same string."""
    return frozenset(hashes[at : at + HASH_BYTES] for at in range(0, len(hashes), HASH_BYTES))


def _outermost(blocks: Iterator[PageBlock]) -> list[PageBlock]:
    """Return the blocks that are not inside another of the blocks, in the order of the page."""
    found: list[PageBlock] = []
    for one in sorted(blocks, key=lambda one: (one.block.start, -one.block.end)):
        if not found or one.block.start >= found[-1].block.end:
            found.append(one)
    return found


def _path(node: LexborNode) -> str:
    """Return the tags from a block towards the root; nothing for a block that is in a definition list."""
    tags: list[str] = []
    above: LexborNode | None = node
    while above is not None and len(tags) < _LEVELS:
        tag = above.tag or ""
        if tag == "dl":
            return ""
        tags.append(tag)
        above = above.parent
    return "/".join(tags)


def _hash(path: str, text: str) -> bytes:
    words = " ".join(text.split())  # breaks may come from boilerplate that was in the block
    data = f"{path}\0{words}".encode("utf-8", "surrogatepass")
    return blake2b(data, digest_size=HASH_BYTES).digest()
