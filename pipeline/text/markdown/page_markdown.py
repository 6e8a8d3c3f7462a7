"""Writes an HTML page as Markdown (CommonMark with the tables of GitHub): one iterative walk over the tree.

The same elements are left out as in the text of the index: elements that browsers never show, elements that
authors hide, and the boilerplate, which the caller passes. Links and images are absolute. markdownify, which
makes such texts with beautifulsoup4, is a test dependency: it recurses, so a deeply nested page makes it
fail, and it writes layout tables as tables of data.

Definition lists become bullet lists, because no Markdown that all programs read has them. At most MAX_FRAMES
quotes, lists and tables are written within each other; the content of deeper elements is written into the
innermost of these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.text.html.elements import APART, BLOCKS, HEADINGS, NEVER_SHOWN, NOT_ENTERED, PERMALINKS
from crawlctl.pipeline.text.html.html import ALMOST_NO_TEXT, is_apology
from crawlctl.pipeline.text.markdown.block_frames import (
    BlockKind,
    Frame,
    MarkdownBlock,
    fenced,
    joined,
)
from crawlctl.pipeline.text.markdown.element_frames import FRAMED, absolute, frame_of, language
from crawlctl.pipeline.text.markdown.inline_markdown import (
    BREAK,
    EMPHASIS,
    STRONG,
    STRUCK,
    as_heading,
    as_paragraph,
    code,
    escaped,
    escaped_in_link,
    image,
    lines_of,
    link,
    plain,
)
from crawlctl.pipeline.text.markdown.table_frames import TableFrame

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from selectolax.lexbor import LexborHTMLParser, LexborNode

    Handler = Callable[["MarkdownWalk", LexborNode], None]

MAX_FRAMES = 16

_TEXT = "-text"
_CODE, _LINK = "code", "link"
# Texts that are permalinks if they stand in a heading; elsewhere they may be links of the author.
_PERMALINKS_IN_HEADINGS = PERMALINKS | {"#", "§", "🔗"}
_EMPHASIS = (
    dict.fromkeys(("b", "strong"), STRONG)
    | dict.fromkeys(("em", "i", "cite", "dfn", "var"), EMPHASIS)
    | dict.fromkeys(("del", "s", "strike"), STRUCK)
)
_CODES = frozenset(("code", "kbd", "samp", "tt"))
_VERBATIM = frozenset(("pre", "listing", "xmp", "plaintext"))


class Written(NamedTuple):
    """A page as Markdown, and whether it was cut at the limit."""

    text: str
    is_cut: bool = False


class _Inline:
    """An open emphasis, code span or link; `mark` is where it begins in the open paragraph."""

    __slots__ = ("kind", "mark", "owner", "url")

    def __init__(self, kind: str, owner: int, url: str = "") -> None:
        self.kind = kind
        self.owner = owner
        self.url = url
        self.mark = 0


def page_markdown(
    tree: LexborHTMLParser, url: str, limit: int, left_out: Iterable[LexborNode] = ()
) -> Written:
    """Return a page that came from `url` as Markdown of at most `limit` characters.

    `left_out` are the nodes that are not content, and the nodes that the page hides.
    """
    if tree.root is None:
        return Written("")
    hidden = frozenset(node.mem_id for node in left_out)
    base = tree.css_first("base[href]")
    start = absolute(url, base.attributes.get("href") or "") or url if base else url
    written = _written(tree.root, MarkdownWalk(start, limit, hidden))
    if len(written.text) < ALMOST_NO_TEXT:
        unscripted = " ".join(" ".join(node.text() for node in tree.css("noscript")).split())
        if unscripted and not is_apology(unscripted):
            return _written(tree.root, MarkdownWalk(start, limit, hidden, NEVER_SHOWN - {"noscript"}))
    return written


def _written(root: LexborNode, walk: MarkdownWalk) -> Written:
    walk.over(root)
    return walk.written()


class MarkdownWalk:
    """Walks over the tree of one page and collects its blocks."""

    def __init__(
        self, base: str, limit: int, left_out: frozenset[int], never_shown: frozenset[str] = NEVER_SHOWN
    ) -> None:
        self._left_out = left_out  # numbers of nodes
        self._skipped = NOT_ENTERED | never_shown
        self._base = base
        self._limit = limit
        self._room = limit  # how many characters may still be read; URLs count too
        self._frames: list[Frame] = [Frame(0)]
        self._inlines: list[_Inline] = []
        self._line: list[str] = []  # the open paragraph or heading
        self._heading: tuple[int, int] | None = None  # level and owner
        self._verbatim = 0  # the owner of the open pre element
        self._code: list[str] = []

    def over(self, root: LexborNode) -> None:
        """Visit `root` and every node below it, in the order of the document."""
        above: list[LexborNode] = []
        node = root
        while self._room >= 0:
            child = self._enter(node)
            if child is not None:
                above.append(node)
                node = child
                continue
            self._leave(node)
            while (following := node.next) is None:
                if not above:
                    return
                node = above.pop()
                self._leave(node)
            node = following

    def written(self) -> Written:
        """Return the page; elements that are still open end here."""
        if self._verbatim:
            self._end_verbatim()
        self._end_block()
        while len(self._frames) > 1:
            self._close_frame()
        text = joined(self._frames[0].blocks)
        return Written(text[: self._limit], self._room < 0 or len(text) > self._limit)

    def _enter(self, node: LexborNode) -> LexborNode | None:
        """Handle the start of a node, and return its first child to visit."""
        tag = node.tag
        if self._left_out and node.mem_id in self._left_out:
            return None
        if tag == _TEXT:
            self._add_text(node.text_content or "")
            return None
        if tag in self._skipped:
            return None
        if self._verbatim:
            if tag == "br":
                self._code.append("\n")
            return node.first_child
        if tag in _ENTER:
            _ENTER[tag](self, node)
        elif tag in BLOCKS:
            self._end_block()
        elif tag in APART:
            self._line.append(" ")
        return node.first_child

    def _leave(self, node: LexborNode) -> None:
        tag = node.tag
        if tag == _TEXT:
            return
        owner = node.mem_id
        if self._verbatim:
            if owner == self._verbatim:
                self._end_verbatim(node)
        elif self._inlines and self._inlines[-1].owner == owner:
            self._close_inline(self._inlines.pop())
        elif self._heading is not None and self._heading[1] == owner:
            self._end_heading()
        elif self._frames[-1].owner == owner:
            self._close_frame()
        elif tag in BLOCKS and tag != "br":
            self._end_block()
        elif tag in APART:
            self._line.append(" ")

    def _add_text(self, text: str) -> None:
        self._room -= len(text)
        if self._verbatim:
            self._code.append(plain(text))
        else:
            kinds = [inline.kind for inline in self._inlines]
            escape = plain if _CODE in kinds else escaped_in_link if _LINK in kinds else escaped
            self._line.append(escape(plain(text)))

    def _end_block(self) -> None:
        """End the open paragraph; elements within the line begin again in the next one."""
        if self._heading is not None:
            self._line.append(" ")
            return
        for inline in reversed(self._inlines):
            self._close_inline(inline)
        lines = lines_of("".join(self._line))
        self._line.clear()
        if lines:
            self._frames[-1].add(MarkdownBlock(BlockKind.PARAGRAPH, as_paragraph(lines)))
        for inline in self._inlines:
            self._open_inline(inline)

    def _open_inline(self, inline: _Inline) -> None:
        if inline.kind not in (_CODE, _LINK):
            self._line.append(inline.kind[0])
        inline.mark = len(self._line)

    def _close_inline(self, inline: _Inline) -> None:
        if inline.kind not in (_CODE, _LINK):
            self._line.append(inline.kind[1])
            return
        text = "".join(self._line[inline.mark :])
        del self._line[inline.mark :]
        if inline.kind == _CODE:
            self._line.append(code(text))
        elif text.strip() not in (_PERMALINKS_IN_HEADINGS if self._heading else PERMALINKS):
            if self._line and self._line[-1].endswith("!"):
                self._line[-1] = f"{self._line[-1][:-1]}\\!"  # else the link would be an image
            self._line.append(link(text, inline.url))

    def _begin_inline(self, kind: str, node: LexborNode, url: str = "") -> None:
        if all(inline.kind not in (kind, _CODE) for inline in self._inlines):
            inline = _Inline(kind, node.mem_id, url)
            self._open_inline(inline)
            self._inlines.append(inline)

    def _begin_heading(self, node: LexborNode) -> None:
        self._end_block()
        if self._heading is None:
            self._heading = (int((node.tag or "h1")[1]), node.mem_id)

    def _end_heading(self) -> None:
        if self._heading is None:
            return
        level, _ = self._heading
        for inline in reversed(self._inlines):
            self._close_inline(inline)
        text = as_heading(lines_of("".join(self._line)), level)
        self._line.clear()
        self._heading = None
        if text:
            self._frames[-1].add(MarkdownBlock(BlockKind.OTHER, text))
        for inline in self._inlines:
            self._open_inline(inline)

    def _begin_verbatim(self, node: LexborNode) -> None:
        self._end_heading()
        self._end_block()
        self._verbatim = node.mem_id

    def _end_verbatim(self, node: LexborNode | None = None) -> None:
        text = "".join(self._code)
        self._code.clear()
        self._verbatim = 0
        if text.strip():
            self._frames[-1].add(fenced(text, language(node) if node else ""))

    def _begin_frame(self, node: LexborNode) -> None:
        """Open the frame of a quote, list, item, table or cell, unless too many are open."""
        self._end_heading()
        self._end_block()
        frame = frame_of(node, self._frames[-1])
        if frame is not None and len(self._frames) < MAX_FRAMES:
            self._frames.append(frame)

    def _close_frame(self) -> None:
        self._end_heading()
        self._end_block()
        child = self._frames.pop()
        self._frames[-1].take(child)

    def _begin_row(self, _: LexborNode) -> None:
        self._end_block()
        if isinstance(self._frames[-1], TableFrame):
            self._frames[-1].begin_row()

    def _on_rule(self, _: LexborNode) -> None:
        self._end_heading()
        self._end_block()
        self._frames[-1].add(MarkdownBlock(BlockKind.OTHER, "___"))

    def _on_break(self, _: LexborNode) -> None:
        """Break the line; a second break ends the paragraph."""
        told = next((one for one in reversed(self._line) if one.strip(" \t\n\r\f\xa0")), "")
        if told == BREAK and self._heading is None:
            self._end_block()
        else:
            self._line.append(BREAK)

    def _on_image(self, node: LexborNode) -> None:
        attributes = node.attributes
        alt, source = attributes.get("alt") or "", attributes.get("src") or ""
        if not alt.strip() or any(inline.kind == _CODE for inline in self._inlines):
            return
        url = absolute(self._base, source) if source.strip() else ""
        self._room -= len(alt) + len(url)
        self._line.append(image(alt, url) if url else f" {escaped(plain(alt))} ")

    def _on_anchor(self, node: LexborNode) -> None:
        href = node.attributes.get("href")
        url = absolute(self._base, href) if href is not None else ""
        if url:
            self._room -= len(url)
            self._begin_inline(_LINK, node, url)

    def _on_emphasis(self, node: LexborNode) -> None:
        self._begin_inline(_EMPHASIS[node.tag or ""], node)

    def _on_code(self, node: LexborNode) -> None:
        self._begin_inline(_CODE, node)


_ENTER: dict[str, Handler] = (
    dict.fromkeys(HEADINGS, MarkdownWalk._begin_heading)
    | dict.fromkeys(FRAMED, MarkdownWalk._begin_frame)
    | dict.fromkeys(_VERBATIM, MarkdownWalk._begin_verbatim)
    | dict.fromkeys(_EMPHASIS, MarkdownWalk._on_emphasis)
    | dict.fromkeys(_CODES, MarkdownWalk._on_code)
    | {
        "a": MarkdownWalk._on_anchor,
        "br": MarkdownWalk._on_break,
        "hr": MarkdownWalk._on_rule,
        "img": MarkdownWalk._on_image,
        "tr": MarkdownWalk._begin_row,
    }
)
