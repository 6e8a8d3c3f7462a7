"""Finds the elements that a page hides without style sheets."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

# Selectors for what authors hide in the page itself, and for an element that lexbor has no number for. The
# key is a hint: a selector is used only if the hint occurs in the page, because to search every page for all
# of them would take a tenth of the parsing time.
_HIDDEN = {
    "hidden": '[hidden]:not([hidden="until-found" i])',
    "none": '[style*="display:none" i], [style*="display: none" i]',
    "<annotation": "annotation",
}


def hidden_nodes(tree: LexborHTMLParser, html: str) -> list[LexborNode]:
    """Return the elements of `tree`, whose source is `html`, that are hidden."""
    selectors = [selector for hint, selector in _HIDDEN.items() if _has(html, hint)]
    return tree.css(", ".join(selectors)) if selectors else []


def _has(html: str, hint: str) -> bool:
    """Return whether a hint occurs in a page other than behind a hyphen, as in aria-hidden."""
    found = html.find(hint)
    while found > 0 and html[found - 1] == "-":
        found = html.find(hint, found + 1)
    return found >= 0
