"""Reads single elements for Markdown: the frame of an element, its programming language, absolute links."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import UrlError
from crawlctl.pipeline.text.markdown.block_frames import Frame, ItemFrame, ListFrame, QuoteFrame
from crawlctl.pipeline.text.markdown.inline_markdown import plain
from crawlctl.pipeline.text.markdown.table_frames import CellFrame, TableFrame
from crawlctl.pipeline.urls.whatwg import join

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_MAX_SPAN = 64  # the most columns or rows that a cell covers
_MAX_START = 999_999_999
_LANGUAGE = re.compile(r"(?:^|\s)(?:language-|lang-|highlight-source-|highlight-|brush:\s*)([\w+#.-]+)")
_NO_LANGUAGE = frozenset({"default", "none", "notranslate", "text", "plaintext"})
_LISTS = frozenset(("ul", "ol", "dl", "menu", "dir"))
_ITEMS = frozenset(("li", "dt", "dd"))
FRAMED = frozenset({"blockquote", "table", "td", "th", *_LISTS, *_ITEMS})


def absolute(base: str, href: str) -> str:
    """Return the absolute URL of a link; "" if it is neither a web page nor a mail address."""
    if href.lstrip().lower().startswith("mailto:"):
        return "".join(plain(href).split())
    try:
        return join(base, href)
    except UrlError:
        return ""


def frame_of(node: LexborNode, around: Frame) -> Frame | None:
    """Return the frame for an element; items and cells outside of a list or table have none."""
    tag, owner, attributes = node.tag or "", node.mem_id, node.attributes
    if tag == "blockquote":
        return QuoteFrame(owner)
    if tag in _LISTS:
        return ListFrame(
            owner, start=_number(attributes.get("start"), 1, 0, _MAX_START) if tag == "ol" else None
        )
    if tag == "table":
        return TableFrame(owner, is_layout=attributes.get("role") in ("presentation", "none"))
    if tag in _ITEMS and isinstance(around, ListFrame):
        around.joins_item = tag == "dd"
        return ItemFrame(owner)
    if tag in ("td", "th") and isinstance(around, TableFrame):
        columns, rows = (_number(attributes.get(name), 1, 1, _MAX_SPAN) for name in ("colspan", "rowspan"))
        return CellFrame(owner, columns=columns, rows=rows, is_header=tag == "th")
    return None


def _number(written: str | None, default: int, least: int, most: int) -> int:
    digits = (written or "").strip()
    if not (digits.isascii() and digits.isdigit()):
        return default
    return max(least, min(int(digits[:10]), most))


def language(node: LexborNode) -> str:
    """Return the programming language that a pre element, its code element or its parents name."""
    above = node.parent
    nodes = (node.css_first("code"), node, above, above.parent if above is not None else None)
    for one in nodes:
        named = _LANGUAGE.search((one.attributes.get("class") or "") if one is not None else "")
        if named:
            return "" if named[1] in _NO_LANGUAGE else named[1]
    return ""
