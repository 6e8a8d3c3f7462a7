"""The cheap parser, for HTML pages on which the full parser failed: title, links, directives and text.

beautifulsoup4 builds objects only for the few elements that we ask for, so neither deep nesting nor many
attributes make it slow. Of 100,000 nested div elements, on which lexbor spends a minute, it takes the links
in a second.
"""

from __future__ import annotations

import re
import warnings
from html import unescape
from itertools import islice
from typing import TYPE_CHECKING

from bs4 import BeautifulSoup, MarkupResemblesLocatorWarning, Tag
from bs4.filter import SoupStrainer

from crawlctl.pipeline.text.documents.page import Directives, Page
from crawlctl.pipeline.text.documents.plain_text import squeezed_lines
from crawlctl.pipeline.text.html.directives import AGENT, meta_robots
from crawlctl.pipeline.text.html.page_links import LinkResolver, WrittenLink

if TYPE_CHECKING:
    from crawlctl.pipeline.config.settings import ParseSettings

# Most such pages are broken on purpose and deserve no more time: beautifulsoup4 takes 0.1 ms for each element
# of interest, and 0.01 ms for each other element.
MAX_CHARACTERS = 1 << 20
MAX_ELEMENTS = 6_000

_WANTED = ("title", "base", "meta", "a", "area", "frame", "iframe")
_WANTED_TAG = re.compile(rf"<(?:{'|'.join(_WANTED)})\b", re.I)
# An element that is not closed counts to the end of the page. If the pattern failed there instead, the search
# would start again behind each of a million tags.
_UNSEEN = re.compile(
    r"<(script|style|template|noscript|title)\b.*?(?:</\1\s*>|\Z)|<!--.*?(?:-->|\Z)", re.S | re.I
)
_TAG = re.compile(r"<[^<>]*>")


def salvage_html(
    html: str, url: str, settings: ParseSettings, *, strip: tuple[str, ...] = (), agent: str = AGENT
) -> Page:
    """Return the page that its tags give when they are read one by one, without building a tree."""
    html = html[:MAX_CHARACTERS]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MarkupResemblesLocatorWarning)
        # Python's parser raises for unknown marked sections. Browsers take all of them for comments up to
        # `>`.
        markup = html[: _end_of_elements(html)].replace("<![", "<?[")
        soup = BeautifulSoup(markup, "html.parser", parse_only=SoupStrainer(_WANTED))
    base = soup.find("base", href=True)
    resolver = LinkResolver(url, _value(base, "href") if isinstance(base, Tag) else "", strip)
    text = squeezed_lines(unescape(_TAG.sub("\n", _UNSEEN.sub("\n", html))))
    return Page(
        title=" ".join(soup.title.get_text().split())[: settings.max_title] if soup.title else "",
        text=text[: settings.max_text],
        links=resolver.links(_links(soup, settings.max_anchor), settings.max_links),
        directives=_directives(soup, agent),
        truncated=True,
    )


def _end_of_elements(html: str) -> int:
    """Return the offset at which the last element of interest that will be read ends."""
    found = islice(_WANTED_TAG.finditer(html), MAX_ELEMENTS, None)
    return next((tag.start() for tag in found), len(html))


def _links(soup: BeautifulSoup, limit: int) -> list[WrittenLink]:
    return [
        WrittenLink(href, " ".join(tag.get_text().split())[:limit], _value(tag, "rel").lower())
        for tag in soup.find_all(["a", "area", "frame", "iframe"])
        if isinstance(tag, Tag) and (href := _value(tag, "href") or _value(tag, "src"))
    ]


def _directives(soup: BeautifulSoup, agent: str) -> Directives:
    found = Directives()
    for meta in soup.find_all("meta", attrs={"name": True, "content": True}):
        if isinstance(meta, Tag):
            found |= meta_robots(_value(meta, "name"), _value(meta, "content"), agent)
    return found


def _value(tag: Tag, name: str) -> str:
    value = tag.get(name) or ""
    return value if isinstance(value, str) else " ".join(value)
