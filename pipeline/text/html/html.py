"""Parses HTML: title, headings, visible text, links and directives, in one walk over the tree.

lexbor (through selectolax) builds the tree. It follows the HTML standard as browsers do, and is about thirty
times as fast as beautifulsoup4. The walk is iterative, so a page may nest as deeply as it likes. For some
pages lexbor needs a time that is quadratic in their size, so call this only through text/guarded/guard.py.

What is visible is decided without style sheets: elements with `hidden` or with `display: none` in a style
attribute, and elements that browsers never show, are left out. Their links still count, because menus are
often hidden until a script opens them. If a page shows almost no text without scripts, the text of its
noscript elements is added.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from selectolax.lexbor import LexborHTMLParser

from crawlctl.pipeline.text.details.metadata import stated_in
from crawlctl.pipeline.text.documents.page import Page
from crawlctl.pipeline.text.html.directives import AGENT
from crawlctl.pipeline.text.html.elements import BREAK, HIDDEN
from crawlctl.pipeline.text.html.page_links import LinkResolver
from crawlctl.pipeline.text.html.walk import Walk
from crawlctl.pipeline.text.words.language import declared_language

if TYPE_CHECKING:
    from crawlctl.pipeline.config.settings import ParseSettings
    from crawlctl.pipeline.text.details.metadata import Stated

ALMOST_NO_TEXT = 100  # characters, such as "Loading …" and a footer
_MAX_FEEDS = 8  # named by one page
_LONGEST_APOLOGY = 400  # characters: "You need to enable JavaScript …", which says nothing about the page
_SCRIPTS = re.compile(r"(?<![a-z])(?:java)?script(?:s|ing)?(?![a-z])", re.IGNORECASE)  # not "description"


def parse_html(
    html: str,
    url: str,
    settings: ParseSettings,
    *,
    strip: tuple[str, ...] = (),
    agent: str = AGENT,
    fetched_at: int = 0,
) -> Page:
    """Return the page that was fetched from the canonical URL `url`, at a time in UTC seconds (0: now)."""
    tree = LexborHTMLParser(html)
    walk = Walk(settings, agent)
    if tree.root is not None:
        if selectors := [selector for hint, selector in HIDDEN.items() if _has(html, hint)]:
            walk.hide(tree.css(", ".join(selectors)))
        walk.over(tree.root)
    resolver = LinkResolver(url, walk.base or "", strip)
    return _page(walk, resolver, settings, stated_in(walk.statements, resolver, fetched_at))


def _has(html: str, hint: str) -> bool:
    """Return whether a hint occurs in a page other than behind a hyphen, as in aria-hidden."""
    found = html.find(hint)
    while found > 0 and html[found - 1] == "-":
        found = html.find(hint, found + 1)
    return found >= 0


def _page(walk: Walk, resolver: LinkResolver, settings: ParseSettings, stated: Stated) -> Page:
    seconds, target = walk.refresh or (0, "")
    text = _text(walk, settings.max_text + 1)
    links = resolver.links(walk.written, settings.max_links + 1)
    return Page(
        title=walk.title or stated.title[: settings.max_title],
        headings=tuple(walk.headings),
        text=text[: settings.max_text],
        language=walk.language or declared_language(stated.locale),
        links=links[: settings.max_links],
        canonical=resolver.only(walk.canonicals),
        directives=walk.directives,
        refresh=resolver.url_of(target) if target else "",
        refresh_seconds=seconds,
        truncated=len(text) > settings.max_text or len(links) > settings.max_links,
        details=stated.details,
        feeds=tuple(filter(None, map(resolver.url_of, walk.feeds[:_MAX_FEEDS]))),
    )


def _text(walk: Walk, limit: int) -> str:
    """Return the visible text; if that is almost nothing, with the text of the noscript elements."""
    text = tidy("".join(walk.texts), limit)
    if len(text) >= ALMOST_NO_TEXT or not walk.unscripted:
        return text
    unscripted = tidy("".join(walk.unscripted), limit)
    return text if is_apology(unscripted) else "\n".join(filter(None, (text, unscripted)))[:limit]


def is_apology(unscripted: str) -> bool:
    """Return whether the text of noscript elements says only that the page needs scripts."""
    return len(unscripted) < _LONGEST_APOLOGY and _SCRIPTS.search(unscripted) is not None


def tidy(text: str, limit: int) -> str:
    """Return a text with one line per block and single spaces within, cut at `limit` characters."""
    lines = [" ".join(block.split()) for block in text.split(BREAK)]
    return "\n".join(filter(None, lines))[:limit]
