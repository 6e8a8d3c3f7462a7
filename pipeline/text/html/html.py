"""The title, headings, visible text, links and directives of an HTML page, in one walk over its tree.

The tree is lexbor's (through selectolax), which follows the HTML standard as browsers do, and builds it about
thirty times as fast as beautifulsoup4.  The walk is iterative: a page may nest as deeply as it likes.  Some
pages cost lexbor a time that is quadratic in their size, so call this through `guard`.

What is visible is decided without style sheets: `hidden`, `display: none` in a style attribute and the
elements browsers never show are left out.  Their links count all the same, for menus are often hidden until
a script opens them.  A page that shows next to nothing without scripts is known by its noscript elements.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from selectolax.lexbor import LexborHTMLParser

from crawlctl.pipeline.text.documents.page import Page
from crawlctl.pipeline.text.html.directives import AGENT
from crawlctl.pipeline.text.html.elements import BREAK, HIDDEN
from crawlctl.pipeline.text.html.page_links import LinkResolver
from crawlctl.pipeline.text.html.walk import Walk

if TYPE_CHECKING:
    from crawlctl.pipeline.config.settings import ParseSettings

_NEXT_TO_NOTHING = 100  # characters, such as "Loading …" and a line at the foot
_LONGEST_APOLOGY = 400  # "You need to enable JavaScript …", which says nothing of the page in any language
_SCRIPTS = re.compile(r"(?<![a-z])(?:java)?script(?:s|ing)?(?![a-z])", re.IGNORECASE)  # and no description


def parse_html(
    html: str, url: str, settings: ParseSettings, *, strip: tuple[str, ...] = (), agent: str = AGENT
) -> Page:
    """Return what there is on the page that was fetched from the canonical URL `url`."""
    tree = LexborHTMLParser(html)
    walk = Walk(settings, agent)
    if tree.root is not None:
        if selectors := [selector for hint, selector in HIDDEN.items() if _has(html, hint)]:
            walk.hide(tree.css(", ".join(selectors)))
        walk.over(tree.root)
    return _page(walk, LinkResolver(url, walk.base or "", strip), settings)


def _has(html: str, hint: str) -> bool:
    """Return whether a word stands in a page, but for aria-hidden and the like."""
    place = html.find(hint)
    while place > 0 and html[place - 1] == "-":
        place = html.find(hint, place + 1)
    return place >= 0


def _page(walk: Walk, resolver: LinkResolver, settings: ParseSettings) -> Page:
    seconds, target = walk.refresh or (0, "")
    text = _text(walk, settings.max_text + 1)
    links = resolver.links(walk.written, settings.max_links + 1)
    return Page(
        title=walk.title or "",
        headings=tuple(walk.headings),
        text=text[: settings.max_text],
        language=walk.language,
        links=links[: settings.max_links],
        canonical=resolver.only(walk.canonicals),
        directives=walk.directives,
        refresh=resolver.url_of(target) if target else "",
        refresh_seconds=seconds,
        truncated=len(text) > settings.max_text or len(links) > settings.max_links,
    )


def _text(walk: Walk, limit: int) -> str:
    """Return the visible text, or that of noscript elements where they hold the page."""
    text = tidy("".join(walk.pieces), limit)
    if len(text) >= _NEXT_TO_NOTHING or not walk.unscripted:
        return text
    unscripted = tidy("".join(walk.unscripted), limit)
    is_apology = len(unscripted) < _LONGEST_APOLOGY and _SCRIPTS.search(unscripted)
    return text if is_apology else "\n".join(filter(None, (text, unscripted)))[:limit]


def tidy(text: str, limit: int) -> str:
    """Return a text with a line for each block and single spaces within, cut at `limit` characters."""
    lines = [" ".join(block.split()) for block in text.split(BREAK)]
    return "\n".join(filter(None, lines))[:limit]
