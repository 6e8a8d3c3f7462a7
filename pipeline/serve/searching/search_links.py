"""SearchLinks: the links of a page from its search to the same search with one thing changed.

A page has up to ninety of them, and each has the whole query in its address. So with a long query they are
buttons of one form, which has the query once: else 500 characters of Chinese would make a page of 400 kB.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from crawlctl.pipeline.serve.searching.search_request import RESULTS, readable
from crawlctl.pipeline.terminal.printable import blanked

if TYPE_CHECKING:
    from crawlctl.pipeline.serve.searching.search_request import SearchRequest

FORM = "again"  # the id of the form that has the query
LINK_BYTES = 120  # the most bytes of a query, as addresses have it, that all links may repeat


def is_short(query: str) -> bool:
    """Return whether every link of a page may repeat a query."""
    return len(readable(query).encode()) <= LINK_BYTES


class SearchLinks:
    """The links from one search, for one page."""

    def __init__(self, wanted: SearchRequest, base: str = "") -> None:
        self._wanted = wanted
        self._base = base
        self.is_short = is_short(wanted.text)
        self._others = wanted.path("", q="", page=1).removeprefix("?q=")

    def to(
        self,
        label: str,
        name: str,
        value: str | int,
        *,
        query: str = "",
        path: str = RESULTS,
        rel: str = "nofollow",
        kind: str = "",
        spoken: str = "",
    ) -> Markup:
        """Return a link to this search with another value of one parameter.

        `query` is the query that results, where the parameter is a filter to add or to remove. `kind` is a
        class for its look, `spoken` a label for those who hear the page.
        """
        shown = escape(blanked(label))
        said = f' aria-label="{escape(blanked(spoken))}"' if spoken else ""
        look = f' class="{kind}"' if kind else ""
        if self.is_short:
            target = escape(self._base + self._target(path, name, value, query))
            place = f' rel="{rel}"' if rel else ""
            # both are escaped
            return Markup(f'<a href="{target}"{place}{look}{said}>{shown}</a>')  # noqa: S704
        action = "" if path == RESULTS else f' formaction="{escape(self._base + path)}"'
        chosen = f' name="{name}" value="{escape(value)}"'
        return Markup(f'<button form="{FORM}"{action}{chosen}{look}{said}>{shown}</button>')  # noqa: S704

    def _target(self, path: str, name: str, value: str | int, query: str) -> str:
        if query:  # as nearly all links, so without the work of the others
            return f"{path}?q={readable(query)}{self._others}"
        changes = {"page": 1, name: value}
        if name == "q":
            changes["exact"] = 0  # the visitor wanted the other query as typed
        return self._wanted.path(path, **changes)
