"""What is kept of a parsed document."""

from __future__ import annotations

import msgspec

_NOT_VOUCHED_FOR = frozenset({"nofollow", "ugc", "sponsored"})


class Directives(msgspec.Struct, frozen=True, array_like=True):
    """What a page asks of robots."""

    noindex: bool = False
    nofollow: bool = False
    noarchive: bool = False

    def __or__(self, other: Directives) -> Directives:
        return Directives(
            self.noindex or other.noindex,
            self.nofollow or other.nofollow,
            self.noarchive or other.noarchive,
        )


class Link(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A URL a page links to, the text of the link, and the rel tokens all its links to that URL share."""

    url: str
    text: str = ""
    rel: str = ""

    @property
    def nofollow(self) -> bool:
        """Whether the author of the page does not vouch for the link."""
        return bool(self.rel) and not _NOT_VOUCHED_FOR.isdisjoint(self.rel.split())


class Page(msgspec.Struct, frozen=True, array_like=True):
    """What a reader sees of a document, and what it says to robots."""

    title: str = ""
    headings: tuple[str, ...] = ()
    text: str = ""
    language: str = ""  # as the document declares it
    links: tuple[Link, ...] = ()
    canonical: str = ""
    directives: Directives = Directives()
    refresh: str = ""  # where it sends its reader by itself
    refresh_seconds: int = 0  # and after how long
    truncated: bool = False  # there was more text, or there were more links, than we keep
