"""Finds the elements that a page hides without style sheets."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

# Selectors for what authors hide in the page itself, and for an element that lexbor has no number for. The
# key is a hint with a pattern around it: a selector is used only if they occur in the page, because to search
# every page for all of them would take a tenth of the parsing time. Words such as `aria-hidden`, "hidden" in
# prose and `none` in scripts are no reason to search.
_HIDDEN = {
    ("hidden", re.compile(r"[\s\"'/]hidden(?:[\s=/>]|$)")): '[hidden]:not([hidden="until-found" i])',
    ("none", re.compile(r".[:;]\s?none", re.DOTALL)): '[style*="display:none" i], [style*="display: none" i]',
    ("<annotation", re.compile("<annotation")): "annotation",
}
_BEFORE = 3  # characters that a pattern looks at before its hint


def hidden_nodes(tree: LexborHTMLParser, html: str) -> list[LexborNode]:
    """Return the elements of `tree`, whose source is `html`, that are hidden."""
    selectors = [selector for (hint, around), selector in _HIDDEN.items() if _has(html, hint, around)]
    return tree.css(", ".join(selectors)) if selectors else []


def _has(html: str, hint: str, around: re.Pattern[str]) -> bool:
    """Return whether a hint occurs in a page with the pattern around it."""
    found = html.find(hint)
    while found >= 0:
        if around.search(html, max(0, found - _BEFORE), found + len(hint) + 1):
            return True
        found = html.find(hint, found + 1)
    return False
