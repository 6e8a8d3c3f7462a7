"""Finds the elements that a page hides without style sheets."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_ANNOTATION = "annotation"  # the source of a formula; lexbor has no number for this element
# Selects elements that may be hidden. Searching the source for these words first would take longer.
_SUSPECTS = f'[hidden], [style*="none" i], {_ANNOTATION}'
_STYLES = ("display:none", "display: none")


def hidden_nodes(tree: LexborHTMLParser) -> list[LexborNode]:
    """Return the elements of `tree` that are hidden, each once."""
    suspects = {node.mem_id: node for node in tree.css(_SUSPECTS)}
    return [node for node in suspects.values() if _is_hidden(node)]


def _is_hidden(node: LexborNode) -> bool:
    attributes = node.attributes
    if "hidden" in attributes and (attributes["hidden"] or "").lower() != "until-found":
        return True
    style = (attributes.get("style") or "").lower()
    return any(hiding in style for hiding in _STYLES) or node.tag == _ANNOTATION
