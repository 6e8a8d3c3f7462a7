"""Finds the body of a page that says it is an article (article_signs.py): news, posts of blogs.

Such a page has one text in paragraphs. So ambiguous parts, which are content on other pages, are taken for
boilerplate here. If the article has only a line or two, the page is judged like other pages. Not in the body
are:

- what lies outside of the smallest block that has nearly all of the prose;
- what readers wrote;
- what stands before the first paragraph: title, authors, date. The title is among the headings of the page;
- blocks without prose after the last paragraph, blocks of links anywhere, and captions.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.text.html.block_names import CAPTION, meaning
from crawlctl.pipeline.text.html.block_sizes import Block, between, is_in, less, without
from crawlctl.pipeline.text.html.content.link_blocks import LINKS_SHARE
from crawlctl.pipeline.text.html.elements import BREAK

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crawlctl.pipeline.text.html.block_sizes import Sizes
    from crawlctl.pipeline.text.html.content.main_block import Look

_BODY_SHARE = 0.8  # the share of the prose of an article that the block with its body must have
_LEAST_PROSE = 300  # characters of prose: a page with less is not an article, whatever it states
_CAPTION_SHARE = 0.25  # a block with a greater share of the prose of an article is not a caption
_CAPTIONS_MOST = 0.5  # if captions have a greater share of the prose, the article consists of captions
# Lists and tables may have short lines only. In a list before the first paragraph stand authors and dates.
_TABLES = frozenset(("dl", "ol", "table"))
_LISTS = _TABLES | {"td", "ul"}


class _Body(NamedTuple):
    """The block that has the body of an article, and where its prose begins and ends."""

    block: Block
    prose: list[int]  # characters of prose before each text of the page, without what is dropped
    first: int  # the index of the first text of the first paragraph
    end: int  # the index behind the last text with prose


def article_body(
    texts: Sequence[str], blocks: Sequence[Block], look: Look, main: Block | None, sizes: Sizes
) -> tuple[list[Block], Block] | None:
    """Return the dropped blocks of an article, and the block and range of its body; None if it has no body.

    `blocks` are given in the order in which they end. If `main` is known, the body is inside it.
    """
    known = look.remarks[::-1]
    body = _body(texts, blocks, main, without(sizes.prose, known))
    return None if body is None else _without_asides(texts, blocks, known, body, sizes)


def _without_asides(
    texts: Sequence[str], blocks: Sequence[Block], known: Sequence[Block], body: _Body, sizes: Sizes
) -> tuple[list[Block], Block]:
    """Return what is dropped of an article besides the blocks that are known, and the range of its body."""
    gone = {(block.start, block.end) for block in known}
    dropped: list[Block] = []
    outside = len(texts)
    for block in reversed(blocks):
        if block.start < outside and ((block.start, block.end) in gone or _is_aside(block, body, sizes)):
            dropped.append(block)
            outside = block.start
    dropped.reverse()
    if less(body.block, dropped, body.prose) < between(body.prose, body.block) * (1 - _CAPTIONS_MOST):
        return list(known), body.block
    start = min((block.start for block in _tables_before(body, blocks, sizes)), default=body.first)
    return dropped, body.block._replace(start=start)


def _body(
    texts: Sequence[str], blocks: Sequence[Block], main: Block | None, prose: list[int]
) -> _Body | None:
    """Return the smallest block with nearly all prose of the page, or of its main block."""
    all_prose = prose[-1] if main is None else between(prose, main)
    if all_prose < _LEAST_PROSE:
        return None
    found = main
    least = all_prose * _BODY_SHARE
    for block in reversed(blocks):
        if between(prose, block) >= least and (found is None or is_in(block, found)):
            found = block
    if found is None:
        return None
    first = bisect_right(prose, prose[found.start]) - 1
    while first > found.start and texts[first - 1] is not BREAK:  # the line may begin with a link
        first -= 1
    return _Body(found, prose, first, bisect_left(prose, prose[found.end]))


def _is_aside(block: Block, body: _Body, sizes: Sizes) -> bool:
    """Return whether a block in the body of an article is not a part of it."""
    start, end, node, tag = block
    if start < body.first or end > body.block.end:
        return False
    prose, letters = between(body.prose, block), between(sizes.letters, block)
    if not prose and letters:
        if between(sizes.plain, block) < letters * (1 - LINKS_SHARE):
            return True
        if start >= body.end and tag not in _LISTS:
            return True
    if prose > body.prose[-1] * _CAPTION_SHARE:
        return False
    return tag == "figcaption" or bool(meaning(node.attributes.get("class") or "") & CAPTION)


def _tables_before(body: _Body, blocks: Sequence[Block], sizes: Sizes) -> Iterator[Block]:
    """Yield the tables and lists with text of their own before the first paragraph of a body."""
    for block in blocks:
        if block.start < body.block.start or block.end > body.first or block.tag not in _TABLES:
            continue
        if between(sizes.plain, block) >= between(sizes.letters, block) * (1 - LINKS_SHARE):
            yield block
