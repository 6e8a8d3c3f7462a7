"""The elements of a page that are not its content, for code that renders the tree itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.config.settings import ParseSettings
from crawlctl.pipeline.text.html.boilerplate import judged
from crawlctl.pipeline.text.html.hidden import hidden_nodes
from crawlctl.pipeline.text.html.walk import Walk
from crawlctl.pipeline.text.repeated.page_blocks import PageBlocks, unpacked, without_repeated

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from selectolax.lexbor import LexborHTMLParser, LexborNode


def boilerplate_nodes(
    tree: LexborHTMLParser, removed: Sequence[LexborNode] = (), repeated: bytes = b""
) -> list[LexborNode]:
    """Return the nodes of `tree` whose text is not content: menus, footers, side bars, hidden elements.

    `removed` are nodes that the caller leaves out anyway, such as by rules of the site; they are among the
    result. `repeated` are the hashes of blocks that many pages of the host have. The decision is that of
    `parse_html`: a text that is not below any of these nodes is in `Page.text`.
    No node is given twice. An h1 before the main block, which `parse_html` takes for the title, is not among
    them, and neither are the nodes around it. Nor is what stands in the main block of an article before its
    first paragraph, such as its title and its authors. Text nodes that lie beside the main block are given
    too, so compare by `mem_id` at every node, not only at elements.
    """
    if tree.root is None:
        return []
    walk = Walk(ParseSettings(), "")
    hidden = [*hidden_nodes(tree), *removed]
    walk.hide(hidden)
    walk.over(tree.root)
    verdict = judged(walk.texts, walk.blocks, walk.linked, is_article=walk.is_article)
    if repeated:
        blocks = PageBlocks(walk.texts, walk.blocks, walk.headings, verdict.kept(len(walk.texts)))
        verdict = without_repeated(verdict, blocks.left_out(unpacked(repeated)))
    found = [*hidden, *(block.node for block in verdict.dropped)]
    if verdict.main is not None:
        found += _beside(verdict.main.node)
    return list({node.mem_id: node for node in found}.values())


def _beside(main: LexborNode) -> Iterator[LexborNode]:
    """Yield the nodes of the body around the main block, from inside to outside; none has the title in it."""
    inner, outer = main, main.parent
    has_title = main.css_first("h1") is not None
    while outer is not None and inner.tag != "body":
        child = outer.first_child
        while child is not None:
            is_title = not has_title and child.is_element_node and child.css_first("h1") is not None
            if child.mem_id != inner.mem_id and not is_title:
                yield child
            child = child.next
        inner, outer = outer, outer.parent
