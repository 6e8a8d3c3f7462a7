"""Blocks of a page as ranges of its texts, and how much text, text outside of links, and prose is in them."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from selectolax.lexbor import LexborNode

_PROSE = 40  # the fewest characters outside of links, without a break, that count as prose


class Block(NamedTuple):
    """A range of the texts of a page, and the element that they are in, with its tag."""

    start: int
    end: int
    node: LexborNode
    tag: str  # the walk knows it anyway, and to ask the node for it takes longer


class Span(NamedTuple):
    """A range of the texts of a page."""

    start: int
    end: int


class Sizes(NamedTuple):
    """Characters before each text of a page: all, outside of links, and in prose."""

    letters: list[int]
    plain: list[int]
    prose: list[int]


def sizes_of(texts: Sequence[str], linked: Sequence[tuple[int, int]]) -> Sizes:
    """Return the sizes of the texts of a page; `linked` are the ranges of its links."""
    letters = list(map(len, map(str.strip, texts)))
    plain = letters.copy()
    outside = len(letters)
    for start, end in reversed(linked):  # a link may be inside another link; the outer link ends later
        if start < outside:
            outside = start
            if end - start == 1:  # most links
                plain[start] = 0
            else:
                plain[start:end] = bytes(end - start)
    prose = [size if size >= _PROSE else 0 for size in plain]
    return Sizes(*(list(accumulate(sizes, initial=0)) for sizes in (letters, plain, prose)))


def is_in(block: Block, other: Block) -> bool:
    """Return whether a block is inside another block."""
    return other.start <= block.start and block.end <= other.end


def between(before: list[int], block: Block | Span) -> int:
    """Return how many characters a block has; `before` counts the characters before each text."""
    return before[block.end] - before[block.start]


def without(before: list[int], dropped: Iterable[Block]) -> list[int]:
    """Return the characters before each text, not counting `dropped`, which are in the order of the page."""
    found: list[int] = []
    gone = 0
    for block in dropped:
        found += [size - gone for size in before[len(found) : block.start]]
        found += [before[block.start] - gone] * (block.end - block.start)
        gone += between(before, block)
    return found + [size - gone for size in before[len(found) :]]


def less(block: Block | Span, dropped: Iterable[Block], before: list[int]) -> int:
    """Return how many characters a block has without the dropped blocks."""
    inside = [each for each in dropped if block.start <= each.start and each.end <= block.end]
    return between(before, block) - sum(between(before, each) for each in inside)
