"""What the parsers return: a page with its text, links and directives."""

from __future__ import annotations

import msgspec

_NOT_ENDORSED = frozenset({"nofollow", "ugc", "sponsored"})


class Unreadable(Exception):
    """A parser's answer to a document that is damaged, encrypted or larger than its limit."""


class Directives(msgspec.Struct, frozen=True, array_like=True):
    """What a page asks of robots, in a meta element or an X-Robots-Tag header.

    `noarchive` is not among them: it asks search engines not to show a cached copy, and crawlctl shows none.
    """

    noindex: bool = False
    nofollow: bool = False

    def __or__(self, other: Directives) -> Directives:
        return Directives(self.noindex or other.noindex, self.nofollow or other.nofollow)


class Link(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A URL that a page links to, once per page.

    `text` is the first text that is not empty. `rel` holds the rel tokens that all links of the page to this
    URL have in common.
    """

    url: str
    text: str = ""
    rel: str = ""

    @property
    def nofollow(self) -> bool:
        """Whether the author of the page does not endorse the link."""
        return bool(self.rel) and not _NOT_ENDORSED.isdisjoint(self.rel.split())


class Page(msgspec.Struct, frozen=True, array_like=True):
    """What a reader sees of a document, and what the document says to robots."""

    title: str = ""
    headings: tuple[str, ...] = ()
    text: str = ""
    language: str = ""  # as the document declares it
    links: tuple[Link, ...] = ()
    canonical: str = ""  # the URL in rel=canonical
    directives: Directives = Directives()
    refresh: str = ""  # the URL that a meta refresh leads to
    refresh_seconds: int = 0  # how long the page is shown before that
    truncated: bool = False  # the document has more text or more links than the settings let us keep
