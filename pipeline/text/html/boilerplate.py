"""Tells the content of a page from its boilerplate: menus, side bars, footers, teasers, share buttons.

The walk notes each block (a div, a section, a list …) as a range of the texts it gathered, and which of them
are links. The decision is made here, after the walk, from four kinds of signs, the surest first:

1. tags and ARIA roles that say so: nav, footer, aside, role=navigation …
2. main, article and the body of an article: the text around them is boilerplate, unless much of the prose
   of the page lies there.
3. the class or id of a block: sidebar, breadcrumbs, share …
4. blocks of links, and controls such as buttons, outside of main and article.

What is ambiguous is content. A block that holds much of the prose of a page is never judged by its class. If
almost nothing would be left, the less sure signs are not used, and at last none: a page that has text keeps
text. Prose is text outside of links in runs of at least 40 characters: menus have none.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.text.html.block_names import ASIDE, BODY, EXTRA, NAVIGATION, meaning

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from selectolax.lexbor import LexborNode

    Attributes = Mapping[str, str | None]

# Elements whose text is judged as a whole.
_WORDS_OF_CONTAINERS = """
    article aside button div dl fieldset footer form header main menu nav ol search section select table
    td ul
"""
CONTAINERS = frozenset(_WORDS_OF_CONTAINERS.split())
_WORDS_OF_ROLES = """
    alertdialog banner complementary contentinfo dialog directory doc-toc menu menubar navigation search
    tablist toolbar
"""
_ROLES = frozenset(_WORDS_OF_ROLES.split())
_TAGS = frozenset(("aside", "footer", "nav", "menu", "search"))
_CONTROLS = frozenset(("button", "select"))

_PROSE = 40  # characters outside of links without a break
_ENOUGH = 140  # characters: with fewer, almost nothing is left of a page
_LEAST = 25  # characters that are enough if they are in the main block
_NAMED_SHARE = 0.4  # of the plain text of a page: a block with more is not judged by its name
_NAVIGATION_SHARE = 0.5  # of the text of a block: with more prose, a side bar has content
_CORE_SHARE = 0.9  # of the prose of a page
_LINKS_MOST = 0.5  # of the text: if less would be left, the page consists of links
_FORM_SHARE = 0.25  # some servers put the whole page into one form
_LINKS_SHARE = 0.65  # of the text of a block: with more it is a block of links
_MOST_PLAIN = 200  # characters outside of links in a block of links
_MANY = 64  # with more articles, no article stands for the page
# Of the prose of what is left: what main, article and the body of an article must have.
_MAIN_SHARES = (0.35, 0.3, 0.3)
_MAIN, _ARTICLE, _BODY = range(3)


class Block(NamedTuple):
    """A range of the texts of a page, and the element that they are in."""

    start: int
    end: int
    node: LexborNode


class Span(NamedTuple):
    """A range of the texts of a page."""

    start: int
    end: int


class _Sizes(NamedTuple):
    """Characters before each text of a page: all, outside of links, and in prose."""

    letters: list[int]
    plain: list[int]
    prose: list[int]


class _Look(NamedTuple):
    """What the blocks of a page look like."""

    dropped: list[Block]  # from the last one to the first, none inside another one
    mains: tuple[list[Block], list[Block], list[Block]]  # main, article, body of an article; none inside


class Verdict(NamedTuple):
    """Which blocks of a page are boilerplate, and where its main block begins and ends if it has one."""

    dropped: list[Block]  # in the order of the page, none inside another one
    main: Block | None = None

    def kept(self, length: int) -> bytes:
        """Return 1 for each of the `length` texts that is content, and for the end; 0 for the others."""
        kept = bytearray(b"\x01" * (length + 1))
        for block in self.dropped:
            kept[block.start : block.end] = bytes(block.end - block.start)
        if self.main is not None:
            kept[: self.main.start] = bytes(self.main.start)
            kept[self.main.end : length] = bytes(length - self.main.end)
        return bytes(kept)

    def drops(self, index: int) -> bool:
        """Return whether the text at an index is in one of the dropped blocks."""
        return any(block.start <= index < block.end for block in self.dropped)


def judged(texts: Sequence[str], blocks: Sequence[Block], linked: Sequence[tuple[int, int]]) -> Verdict:
    """Return what of a page is boilerplate; `blocks` come in the order in which they end."""
    sizes = _sizes(texts, linked)
    for by_name in (True, False):
        dropped, mains = _look(blocks, sizes, by_name=by_name)
        verdict = Verdict(dropped, _main(dropped, mains, sizes))
        left = _left(verdict, sizes)
        if left >= (_ENOUGH if verdict.main is None else _LEAST):
            return _without_links(verdict, blocks, sizes, left) if by_name else verdict
    return Verdict([])


def _sizes(texts: Sequence[str], linked: Sequence[tuple[int, int]]) -> _Sizes:
    letters = list(map(len, map(str.strip, texts)))
    plain = letters.copy()
    outside = len(letters)
    for start, end in reversed(linked):  # a link may be in another one; the outer one ends later
        if start < outside:
            outside = start
            plain[start:end] = [0] * (end - start)
    prose = [size if size >= _PROSE else 0 for size in plain]
    return _Sizes(*([0, *accumulate(sizes)] for sizes in (letters, plain, prose)))


def _look(blocks: Sequence[Block], sizes: _Sizes, *, by_name: bool) -> _Look:
    """Look at the blocks from outside to inside; what is inside of boilerplate is not looked at."""
    dropped: list[Block] = []
    mains: tuple[list[Block], list[Block], list[Block]] = ([], [], [])
    above: list[tuple[int, bool]] = []  # the blocks around: their start, whether they are main or article
    letters = sizes.letters
    outside = len(letters)  # the start of the last block dropped
    for block in reversed(blocks):
        start, end, node = block
        if start >= outside or letters[start] == letters[end]:
            continue
        while above and start < above[-1][0]:
            above.pop()
        inside = bool(above) and above[-1][1]
        tag, attributes = node.tag or "", node.attributes
        kind = _kind_of_main(tag, attributes)
        if kind is not None:
            if not (mains[kind] and start >= mains[kind][-1].start):
                mains[kind].append(block)
        elif _is_marked(tag, attributes, inside=inside) or (
            by_name and _is_named(block, tag, attributes, sizes, inside=inside)
        ):
            dropped.append(block)
            outside = start
            continue
        above.append((start, inside or kind in (_MAIN, _ARTICLE)))
    dropped.reverse()
    return _Look(dropped, mains)


def _kind_of_main(tag: str, attributes: Attributes) -> int | None:
    if tag == "main" or (attributes and attributes.get("role") == "main"):
        return _MAIN
    if tag == "article":
        return _ARTICLE
    if attributes and (attributes.get("itemprop") == "articleBody" or _means(attributes) & BODY):
        return _BODY
    return None


def _means(attributes: Attributes) -> int:
    names, own = attributes.get("class"), attributes.get("id")
    return meaning(f"{names} {own}" if names and own else names or own or "")


def _is_marked(tag: str, attributes: Attributes, *, inside: bool) -> bool:
    """Return whether the tag or the role of a block says that it is boilerplate."""
    if tag in _TAGS or (attributes and attributes.get("role") in _ROLES):
        return tag != "aside" or not meaning(attributes.get("class") or "") & ASIDE
    return tag == "header" and not inside


def _is_named(block: Block, tag: str, attributes: Attributes, sizes: _Sizes, *, inside: bool) -> bool:
    """Return whether a block has the name of boilerplate, and holds little of the plain text of the page."""
    if tag == "form":
        return _between(sizes.plain, block) < sizes.plain[-1] * _FORM_SHARE
    if not attributes:
        return False
    names = attributes.get("class") or ""
    # The id of a section is made from its heading, and a heading may say anything.
    is_section = inside or tag == "section" or "sect" in names
    found = meaning(names) if is_section else _means(attributes)
    if not found & (EXTRA | NAVIGATION):
        return False
    if _between(sizes.plain, block) >= sizes.plain[-1] * _NAMED_SHARE:
        return False
    letters, prose = _between(sizes.letters, block), _between(sizes.prose, block)
    return bool(found & EXTRA) or prose < letters * _NAVIGATION_SHARE


def _main(
    dropped: list[Block], mains: tuple[list[Block], list[Block], list[Block]], sizes: _Sizes
) -> Block | None:
    """Return the block that has the content of the page, None if no block can be told to have it."""
    found: Block | None = None
    for kind, share in enumerate(_MAIN_SHARES):
        within = [block for block in mains[kind] if found is None or _is_in(block, found)]
        if not within or len(within) > _MANY:
            continue
        prose = [_less(block, dropped, sizes.prose) for block in within]
        most = max(prose)
        best = within[prose.index(most)]
        around = _less(found or Span(0, len(sizes.prose) - 1), dropped, sizes.prose)
        if (most or kind == _MAIN) and most >= around * share and not _is_one_of_many(best, within, prose):
            found = best
    return found


def _is_one_of_many(best: Block, blocks: list[Block], prose: list[int]) -> bool:
    """Return whether a block is an entry of a list, such as a post of a forum: others have the same class."""
    if len(blocks) == 1:
        return False
    names = best.node.attributes.get("class")
    others = sum(
        size
        for block, size in zip(blocks, prose, strict=True)
        if block is not best and block.node.attributes.get("class") == names
    )
    return others > 0


def _is_in(block: Block, other: Block) -> bool:
    return other.start <= block.start and block.end <= other.end


def _between(before: list[int], block: Block | Span) -> int:
    return before[block.end] - before[block.start]


def _less(block: Block | Span, dropped: Iterable[Block], before: list[int]) -> int:
    """Return the characters in a block without what is dropped, from the characters before each text."""
    inside = [each for each in dropped if block.start <= each.start and each.end <= block.end]
    return _between(before, block) - sum(_between(before, each) for each in inside)


def _left(verdict: Verdict, sizes: _Sizes) -> int:
    """Return the characters that are left of a page."""
    around = verdict.main or Span(0, len(sizes.letters) - 1)
    return _less(around, verdict.dropped, sizes.letters)


def _without_links(verdict: Verdict, blocks: Sequence[Block], sizes: _Sizes, left: int) -> Verdict:
    """Drop blocks of links too, unless the page consists of them or has a main block."""
    if verdict.main is not None:
        return verdict
    stricter = Verdict(_with_link_blocks(verdict.dropped, blocks, sizes))
    return stricter if _left(stricter, sizes) >= max(_ENOUGH, left * _LINKS_MOST) else verdict


def _with_link_blocks(dropped: list[Block], blocks: Sequence[Block], sizes: _Sizes) -> list[Block]:
    """Return the dropped blocks, with the controls and the blocks of links that are not among the prose."""
    gone = {(block.start, block.end) for block in dropped}
    core = _core(blocks, gone, _less(Span(0, len(sizes.prose) - 1), dropped, sizes.prose), sizes)
    found: list[Block] = []
    outside = len(sizes.letters)
    for block in reversed(blocks):
        start, end, node = block
        if start >= outside:
            continue
        plain, letters = _between(sizes.plain, block), _between(sizes.letters, block)
        is_around = start < core.start or end > core.end
        if (
            (start, end) in gone
            or (is_around and plain < min(_MOST_PLAIN, letters * (1 - _LINKS_SHARE)))
            or node.tag in _CONTROLS
        ):
            found.append(block)
            outside = start
    found.reverse()
    return found


def _core(blocks: Sequence[Block], gone: set[tuple[int, int]], prose: int, sizes: _Sizes) -> Span:
    """Return the smallest block with nearly all `prose` of the page."""
    core = Span(0, len(sizes.prose) - 1)
    outside = len(sizes.prose)
    for block in reversed(blocks):
        start, end, _ = block
        if start >= outside:
            continue
        if (start, end) in gone:
            outside = start
        elif end <= core.end and start >= core.start and _between(sizes.prose, block) >= prose * _CORE_SHARE:
            core = Span(start, end)
    return core
