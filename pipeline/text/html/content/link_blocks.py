"""Finds the blocks of links, and the controls such as buttons, that stand around the prose of a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.text.html.block_sizes import Span, less
from crawlctl.pipeline.text.html.elements import HEADINGS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selectolax.lexbor import LexborNode

    from crawlctl.pipeline.text.html.block_sizes import Block, Sizes

_CONTROLS = frozenset(("button", "select"))
_CORE_SHARE = 0.9  # the share of the prose of a page that its core has
LINKS_SHARE = 0.65  # a block with a greater share of its text in links is a block of links
_MOST_PLAIN = 200  # the most characters outside of links in a block of links


def with_link_blocks(dropped: list[Block], blocks: Sequence[Block], sizes: Sizes) -> list[Block]:
    """Return the dropped blocks, with the controls and the blocks of links that are not among the prose."""
    gone = {(block.start, block.end) for block in dropped}
    first, last = _core(blocks, gone, less(Span(0, len(sizes.prose) - 1), dropped, sizes.prose), sizes)
    letters, plain, _ = sizes
    found: list[Block] = []
    outside = len(letters)
    for block in reversed(blocks):
        start, end, node, tag = block
        if start >= outside:
            continue
        is_around = start < first or end > last
        if (
            (is_around and _is_of_links(letters[end] - letters[start], plain[end] - plain[start]))
            or (tag in _CONTROLS and (is_around or not _is_in_heading(node)))
            or (start, end) in gone
        ):
            found.append(block)
            outside = start
    found.reverse()
    return found


def _is_of_links(letters: int, plain: int) -> bool:
    """Return whether a block has few characters outside of links."""
    return plain < _MOST_PLAIN and plain < letters * (1 - LINKS_SHARE)


def _is_in_heading(node: LexborNode) -> bool:
    """Return whether a button is a heading that opens the text below it."""
    return node.parent is not None and node.parent.tag in HEADINGS


def _core(blocks: Sequence[Block], gone: set[tuple[int, int]], prose: int, sizes: Sizes) -> Span:
    """Return the smallest block with nearly all `prose` of the page."""
    before, least = sizes.prose, prose * _CORE_SHARE
    first, last = core = Span(0, len(before) - 1)
    outside = len(before)
    for start, end, *_ in reversed(blocks):
        if start >= outside or before[end] - before[start] < least:
            continue  # blocks inside have no more prose
        if (start, end) in gone:
            outside = start
        elif end <= last and start >= first:
            first, last = core = Span(start, end)
    return core
