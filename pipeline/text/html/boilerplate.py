"""Tells the content of a page from its boilerplate: menus, side bars, footers, teasers, share buttons.

The walk notes each block (a div, a section, a list …) as a range of the texts it gathered, and which of them
are links. The decision is made here, after the walk, by four kinds of signs, the most reliable first:

1. tags and ARIA roles that say so: nav, footer, aside, role=navigation …
2. main, article and the body of an article: the text around them is boilerplate, unless much of the prose
   of the page lies there. An article that readers wrote, such as a comment, does not count.
3. the class or id of a block: sidebar, breadcrumbs, share …
4. blocks of links, and controls such as buttons, outside of main and article.

What is ambiguous is content. A block that holds much of the prose of a page is never judged by its class. If
almost nothing would be left, the less reliable signs are ignored one after the other, at last all: a page
that has text keeps text. Prose is text outside of links in runs of at least 40 characters: menus have none. A
page that says it is an article is judged more strictly (content/article_body.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.text.html.block_names import (
    ASIDE,
    BODY,
    EXTRA,
    NAVIGATION,
    REMARK,
    SECTION,
    meaning,
)
from crawlctl.pipeline.text.html.block_sizes import Span, between, less, sizes_of
from crawlctl.pipeline.text.html.content.article_body import article_body
from crawlctl.pipeline.text.html.content.link_blocks import with_link_blocks
from crawlctl.pipeline.text.html.content.main_block import ARTICLE, BODY_OF_ARTICLE, MAIN, Look, main_block

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from selectolax.lexbor import LexborNode

    from crawlctl.pipeline.text.html.block_sizes import Block, Sizes

    Attributes = Mapping[str, str | None]

# Elements whose text is judged as a whole.
_WORDS_OF_CONTAINERS = """
    article aside button div dl fieldset figcaption footer form header main menu nav ol search section
    select table td ul
"""
CONTAINERS = frozenset(_WORDS_OF_CONTAINERS.split())
# Tags that do not say what they contain, and the attributes besides class and id that may say it.
_SILENT = frozenset(("button", "div", "dl", "fieldset", "figcaption", "ol", "select", "table", "td", "ul"))
_TELLING = frozenset(("role", "itemprop"))
_WORDS_OF_ROLES = """
    alertdialog banner complementary contentinfo dialog directory doc-toc menu menubar navigation search
    tablist toolbar
"""
_ROLES = frozenset(_WORDS_OF_ROLES.split())
_TAGS = frozenset(("aside", "footer", "nav", "menu", "search"))
_QUOTATIONS = frozenset(("blockquote", "figcaption", "figure"))

_ENOUGH = 140  # characters: if fewer remain, almost nothing is left of a page
_LEAST = 25  # characters that are enough if they are in the main block
_NAMED_SHARE = 0.4  # a block with more of the plain text of a page is not judged by its name
_NAVIGATION_SHARE = 0.5  # a side bar whose text has a greater share of prose is content
_LINKS_MOST = 0.5  # if a smaller share of the text would be left, the page consists of links
# a form with a greater share of the page is content: some servers put the whole page into one form
_FORM_SHARE = 0.25
_UNNAMED = (0, 0)  # what the class and the id of a block say if it has none
# Where a block is, as bits of a number.
_IN_MAIN, _IN_SECTION, _IN_REMARK = 1, 2, 4


class Verdict(NamedTuple):
    """Which blocks of a page are boilerplate, and where its main block begins and ends if it has one."""

    dropped: list[Block]  # in the order of the page; none is inside another
    main: Block | None = None

    def kept(self, length: int) -> bytes:
        """Return 1 for each of the `length` texts that is content, and for the end; 0 for dropped texts."""
        kept = bytearray(b"\x01" * (length + 1))
        for start, end, *_ in self.dropped:
            kept[start:end] = bytes(end - start)
        if self.main is not None:
            kept[: self.main.start] = bytes(self.main.start)
            kept[self.main.end : length] = bytes(length - self.main.end)
        return bytes(kept)

    def drops(self, index: int) -> bool:
        """Return whether the text at an index is in one of the dropped blocks."""
        return any(block.start <= index < block.end for block in self.dropped)


def judged(
    texts: Sequence[str],
    blocks: Sequence[Block],
    linked: Sequence[tuple[int, int]],
    *,
    is_article: bool = False,
) -> Verdict:
    """Return which blocks of a page are boilerplate; `blocks` are given in the order in which they end.

    `is_article`: the page says that it is an article; then more of it is taken for boilerplate.
    """
    sizes = sizes_of(texts, linked)
    for by_name in (True, False):
        look = _look(blocks, sizes, by_name=by_name)
        main = main_block(look, sizes)
        if is_article and by_name and (body := article_body(texts, blocks, look, main, sizes)):
            return Verdict(*body)
        verdict = Verdict(look.dropped, main)
        left = _left(verdict, sizes)
        if left >= (_ENOUGH if verdict.main is None else _LEAST):
            return _without_links(verdict, blocks, sizes, left) if by_name else verdict
    return Verdict([])


def _look(blocks: Sequence[Block], sizes: Sizes, *, by_name: bool) -> Look:
    """Look at the blocks from outside to inside; blocks inside of boilerplate are skipped."""
    look = Look([], [], ([], [], []))
    # the surrounding blocks that matter: start of each, and where its contents are
    above: list[tuple[int, int]] = []
    letters = sizes.letters
    outside = len(letters)  # the start of the last block dropped
    for block in reversed(blocks):
        start, end, node, tag = block
        if start >= outside or letters[start] == letters[end]:
            continue
        attributes = node.attributes
        names = _names(attributes) if attributes else _UNNAMED
        if names == _UNNAMED and tag in _SILENT and _TELLING.isdisjoint(attributes):
            continue
        while above and start < above[-1][0]:
            above.pop()
        around = above[-1][1] if above else 0
        kind = _kind_of_main(tag, attributes, names)
        is_dropped = kind is None and (
            _is_marked(block, tag, attributes, sizes, around)
            or (by_name and _is_named(block, tag, names, sizes, around))
        )
        inside = around | _what_is_in(tag, kind, names)
        if (is_dropped or inside & _IN_REMARK) and not around & _IN_REMARK:
            look.remarks.append(block)
        if is_dropped:
            look.dropped.append(block)
            outside = start
            continue
        if kind is not None and (kind == MAIN or not inside & _IN_REMARK):
            _add_outermost(look.mains[kind], block)
        if inside != around:
            above.append((start, inside))
    look.dropped.reverse()
    return look


def _what_is_in(tag: str, kind: int | None, names: tuple[int, int]) -> int:
    """Return where blocks in a block are."""
    inside = _IN_REMARK if (names[0] | names[1]) & REMARK and kind != MAIN else 0
    if kind in (MAIN, ARTICLE):
        return inside | _IN_MAIN
    return inside | _IN_SECTION if tag == "section" else inside


def _add_outermost(blocks: list[Block], block: Block) -> None:
    if not (blocks and block.start >= blocks[-1].start):
        blocks.append(block)


def _names(attributes: Attributes) -> tuple[int, int]:
    """Return the meanings of the class and of the id of a block."""
    names, own = attributes.get("class"), attributes.get("id")
    return meaning(names) if names else 0, meaning(own) if own else 0


def _kind_of_main(tag: str, attributes: Attributes, names: tuple[int, int]) -> int | None:
    if tag == "main" or (attributes and attributes.get("role") == "main"):
        return MAIN
    if tag == "article":
        return ARTICLE
    if attributes and ((names[0] | names[1]) & BODY or attributes.get("itemprop") == "articleBody"):
        return BODY_OF_ARTICLE
    return None


def _is_marked(block: Block, tag: str, attributes: Attributes, sizes: Sizes, around: int) -> bool:
    """Return whether the tag or the role of a block says that it is boilerplate."""
    if tag in _TAGS or (attributes and attributes.get("role") in _ROLES):
        if tag == "footer":
            return not _is_in_quotation(block.node)
        return tag != "aside" or not meaning(attributes.get("class") or "") & ASIDE
    return tag == "header" and not around & (_IN_MAIN | _IN_SECTION) and not _is_prose(block, sizes)


def _is_in_quotation(node: LexborNode) -> bool:
    return node.parent is not None and node.parent.tag in _QUOTATIONS


def _is_named(block: Block, tag: str, names: tuple[int, int], sizes: Sizes, around: int) -> bool:
    """Return whether a block has the name of boilerplate, and holds little of the plain text of the page."""
    if tag == "form" and _is_form_alone(block, sizes):
        return True
    by_class, by_id = names
    # The id of a section is made from its heading, and a heading may say anything.
    if around & _IN_MAIN or tag == "section" or by_class & SECTION:
        by_id = 0
    if not (by_class | by_id) & (EXTRA | NAVIGATION):
        return False
    if between(sizes.plain, block) >= sizes.plain[-1] * _NAMED_SHARE:
        return False
    # Writers give ids such as "credits" to a block under that heading, but "comments" only to comments.
    is_sure = by_class & EXTRA or (by_id & EXTRA and by_id & REMARK)
    return bool(is_sure) or not _is_prose(block, sizes)


def _is_form_alone(block: Block, sizes: Sizes) -> bool:
    """Return whether a form has fields only: some servers put all of a page, or a product, into a form."""
    is_small = between(sizes.plain, block) < sizes.plain[-1] * _FORM_SHARE
    return is_small and not _is_prose(block, sizes) and block.node.css_first("h1") is None


def _is_prose(block: Block, sizes: Sizes) -> bool:
    return between(sizes.prose, block) >= between(sizes.letters, block) * _NAVIGATION_SHARE


def _left(verdict: Verdict, sizes: Sizes) -> int:
    """Return how many characters are left of a page."""
    around = verdict.main or Span(0, len(sizes.letters) - 1)
    return less(around, verdict.dropped, sizes.letters)


def _without_links(verdict: Verdict, blocks: Sequence[Block], sizes: Sizes, left: int) -> Verdict:
    """Drop blocks of links too, unless the page consists of them or has a main block."""
    if verdict.main is not None:
        return verdict
    stricter = Verdict(with_link_blocks(verdict.dropped, blocks, sizes))
    return stricter if _left(stricter, sizes) >= max(_ENOUGH, left * _LINKS_MOST) else verdict
