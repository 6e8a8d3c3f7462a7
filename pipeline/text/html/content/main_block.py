"""Finds the block that has the content of a page: main, article, or the body of an article."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.text.html.block_names import kinds_of_entry
from crawlctl.pipeline.text.html.block_sizes import Span, is_in, less

if TYPE_CHECKING:
    from crawlctl.pipeline.text.html.block_sizes import Block, Sizes

# Kinds of blocks that may have the content, and the share of the remaining prose that each must have.
MAIN, ARTICLE, BODY_OF_ARTICLE = range(3)
_MAIN_SHARES = (0.35, 0.3, 0.3)
_MANY = 64  # if a page has more articles, none of them is its content
# a block with a smaller share of the prose of the main block (without comments) is only a part of it
_INNER_SHARE = 0.5
# articles with this share of the prose of the longest article are entries of the same list
_ENTRY_SHARE = 0.25


class Look(NamedTuple):
    """The blocks of one page that may matter, sorted by kind."""

    dropped: list[Block]  # in the order of the page, none inside another one
    # blocks that are dropped or have comments, from the last to the first; none is inside another
    remarks: list[Block]
    mains: tuple[list[Block], list[Block], list[Block]]  # main, article, body of an article; none inside


def main_block(look: Look, sizes: Sizes) -> Block | None:
    """Return the block that has the content of the page; None if this cannot be decided."""
    found: Block | None = None
    for kind, share in enumerate(_MAIN_SHARES):
        within = [block for block in look.mains[kind] if found is None or is_in(block, found)]
        if not within or len(within) > _MANY:
            continue
        prose = [less(block, look.dropped, sizes.prose) for block in within]
        most = max(prose)
        best = within[prose.index(most)]
        if not most and kind != MAIN:
            continue
        if _has_share(best, found, share, look, sizes) and not _is_one_of_many(best, within, prose):
            found = best
    return found


def _has_share(block: Block, found: Block | None, share: float, look: Look, sizes: Sizes) -> bool:
    """Return whether a block has enough of the page, or of the main block that was found around it."""
    around = found or Span(0, len(sizes.prose) - 1)

    def has(share: float, left_out: list[Block], before: list[int]) -> bool:
        return less(block, left_out, before) >= less(around, left_out, before) * share

    if not less(around, look.dropped, sizes.prose):
        return has(share, look.dropped, sizes.plain) or has(share, look.dropped, sizes.letters)
    if not has(share, look.dropped, sizes.prose):
        return False
    return found is None or has(_INNER_SHARE, look.remarks, sizes.prose)


def _is_one_of_many(best: Block, blocks: list[Block], prose: list[int]) -> bool:
    """Return whether a block is an entry of a list, such as a forum post: other blocks have the same classes.

    Other blocks with nearly the same classes may also be teasers of other posts; these are much shorter.
    """
    if len(blocks) == 1:
        return False
    names = best.node.attributes.get("class")
    most = max(prose)
    return any(
        _is_same_entry(names, block.node.attributes.get("class"), is_long=size >= most * _ENTRY_SHARE)
        for block, size in zip(blocks, prose, strict=True)
        if size and block is not best
    )


def _is_same_entry(names: str | None, others: str | None, *, is_long: bool) -> bool:
    if names == others:
        return True
    one, other = kinds_of_entry(names or ""), kinds_of_entry(others or "")
    return is_long and len(one & other) * 2 > len(one | other)
