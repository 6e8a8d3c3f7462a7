"""Finds the blocks of links, and the controls such as buttons, that stand around the prose of a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.text.html.block_sizes import Span, between, less
from crawlctl.pipeline.text.html.elements import HEADINGS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selectolax.lexbor import LexborNode

    from crawlctl.pipeline.text.html.block_sizes import Block, Sizes

_CONTROLS = frozenset(("button", "select"))
_CORE_SHARE = 0.9  # of the prose of a page
LINKS_SHARE = 0.65  # of the text of a block: with more it is a block of links
_MOST_PLAIN = 200  # characters outside of links in a block of links


def with_link_blocks(dropped: list[Block], blocks: Sequence[Block], sizes: Sizes) -> list[Block]:
    """Return the dropped blocks, with the controls and the blocks of links that are not among the prose."""
    gone = {(block.start, block.end) for block in dropped}
    core = _core(blocks, gone, less(Span(0, len(sizes.prose) - 1), dropped, sizes.prose), sizes)
    found: list[Block] = []
    outside = len(sizes.letters)
    for block in reversed(blocks):
        start, end, node = block
        if start >= outside:
            continue
        plain, letters = between(sizes.plain, block), between(sizes.letters, block)
        is_around = start < core.start or end > core.end
        if (
            (start, end) in gone
            or (is_around and plain < min(_MOST_PLAIN, letters * (1 - LINKS_SHARE)))
            or (node.tag in _CONTROLS and (is_around or not _is_in_heading(node)))
        ):
            found.append(block)
            outside = start
    found.reverse()
    return found


def _is_in_heading(node: LexborNode) -> bool:
    """Return whether a button is a heading that opens the text below it."""
    return node.parent is not None and node.parent.tag in HEADINGS


def _core(blocks: Sequence[Block], gone: set[tuple[int, int]], prose: int, sizes: Sizes) -> Span:
    """Return the smallest block with nearly all `prose` of the page."""
    core = Span(0, len(sizes.prose) - 1)
    outside = len(sizes.prose)
    for block in reversed(blocks):
        start, end, _ = block
        if start >= outside:
            continue
        if (start, end) in gone:
            outside = start
        elif end <= core.end and start >= core.start and between(sizes.prose, block) >= prose * _CORE_SHARE:
            core = Span(start, end)
    return core
