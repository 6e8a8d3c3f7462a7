"""What the parsers return: a page with its text, links and directives."""

from __future__ import annotations

import msgspec

A_LITTLE_EXPLICIT = 1  # one word of the operator's list in the text
CLEARLY_EXPLICIT = 2

# The signs of a bad answer (page_signs.py) are bits of one number. What each takes from the quality of a page
# is said in index/static_quality.py.
LINKS_AWAY = 1  # mostly links to other hosts
WORD_LIST = 2  # many words, and hardly a function word of any language among them
STUFFED = 4  # one word again and again, in the text or in the title
REPEATED = 8  # the same phrases again and again
OTHER_LANGUAGE = 16  # the text is not in the language that the page declares

_NOT_ENDORSED = frozenset({"nofollow", "ugc", "sponsored"})


class Unreadable(Exception):
    """A parser's answer to a document that is damaged, encrypted or larger than its limit."""


class Directives(msgspec.Struct, frozen=True, array_like=True):
    """The instructions of a page to robots, from meta elements and X-Robots-Tag headers.

    `noarchive` is not among them: it asks search engines not to show a cached copy, and the only place that
    shows copies (serve/archived_copy.py) reads it from the copy itself.
    """

    noindex: bool = False
    nofollow: bool = False

    def __or__(self, other: Directives) -> Directives:
        return Directives(self.noindex or other.noindex, self.nofollow or other.nofollow)


class Link(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A URL that a page links to, once per page.

    `text` is the first text that is not empty; texts in the content come before texts in boilerplate. `rel`
    holds the rel tokens that all links of the page to this URL have in common. `boilerplate` is true if all
    these links are in menus, footers and the like.
    """

    url: str
    text: str = ""
    rel: str = ""
    boilerplate: bool = False

    @property
    def nofollow(self) -> bool:
        """Whether the author of the page does not endorse the link (rel=nofollow, ugc or sponsored)."""
        return bool(self.rel) and not _NOT_ENDORSED.isdisjoint(self.rel.split())


class PageDate(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A date that a page or its server states: whole UTC seconds, and where it was found.

    `origin` names the source, such as "json-ld", "article:published_time", "time", "sitemap or feed" or
    "last-modified". The time of the fetch is never a date of the page.
    """

    seconds: int
    origin: str


class Section(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A section of a page that a link can lead to (`url#anchor`)."""

    anchor: str  # the id of the heading or of the element around it
    title: str  # the text of the heading
    offset: int  # in characters: where the heading begins in the text of the page


class PageDetails(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What a page says about itself beside its text; the index stores this record with the document.

    New fields are added at the end, with a default, so that older files can still be read.
    """

    description: str = ""
    site_name: str = ""
    image: str = ""  # the URL of og:image
    published: PageDate | None = None
    modified: PageDate | None = None
    sections: tuple[Section, ...] = ()
    emphasised: str = ""  # words in b, strong, em, dt and in code within headings, separated by spaces
    # Name and value: `author`, and the fields that the rules for the site define.
    fields: tuple[tuple[str, str | int | float], ...] = ()
    site: str = ""  # the key of the rules for sites by which the page was read
    site_version: str = ""  # a short mark of these rules
    unmatched: tuple[str, ...] = ()  # which of these rules matched nothing
    # how many characters of the text were left out, because many pages of the host have them
    repeated: int = 0
    kind: str = ""  # the kind of the document: html, text, pdf, office, epub or xml
    explicit: int = 0  # A_LITTLE_EXPLICIT or CLEARLY_EXPLICIT by the operator's lists, 0 if not at all
    signs: int = 0  # what the text says against the page (page_signs.py); 0: nothing, or not known
    links: int = 0  # the number of links of the page, menus included


class Page(msgspec.Struct, frozen=True, array_like=True):
    """The visible text of one document, its links and details, and its directives to robots."""

    title: str = ""
    headings: tuple[str, ...] = ()
    text: str = ""
    language: str = ""  # the language that the document declares
    links: tuple[Link, ...] = ()
    canonical: str = ""  # the URL in rel=canonical
    directives: Directives = Directives()
    refresh: str = ""  # the URL that a meta refresh leads to
    refresh_seconds: int = 0  # how long the page is shown before that
    truncated: bool = False  # the document has more text or more links than the settings let us keep
    details: PageDetails = PageDetails()
    feeds: tuple[str, ...] = ()  # the URLs of the feeds that the page names
    blocks: bytes = b""  # the hashes of its blocks, by which pages of a host are compared (page_blocks.py)
    # `text` plus the repeated blocks that it leaves out; cleared when the fingerprint was made
    whole: str = ""
