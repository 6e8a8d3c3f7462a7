"""What the classes and the id of a block say: whether it is boilerplate, or the body of an article.

A name is cut into words: `siteFooter`, `site-footer` and `site_footer` are "site" and "footer". Only words
that hardly anybody gives to a block of content count. Names of the sites of a crawl come again on each of
their pages, so the answers are cached.
"""

from __future__ import annotations

import re
from functools import lru_cache

_WORDS = re.compile(r"[a-z]+|[A-Z][a-z]*|[A-Z]+(?![a-z])")
_REMEMBERED = 1 << 13

# Blocks that lead somewhere else.
_WORDS_OF_NAVIGATION = """
    banner breadcrumb breadcrumbs docnav dropdown flyout footer footerlinks headerlinks langs languages
    leftbar login masthead megamenu menu menubar nav navbar navfooter navheader navigation navigator
    navlinks navpath paginate pagination pager prevnext rightbar sidebar sidebars sidemenu signin signup
    sitemap skiplink skiplinks skipnav subnav tags toolbar toolbars topbar topnav
"""
_NAVIGATION = frozenset(_WORDS_OF_NAVIGATION.split())
# Blocks beside the content of a page; they may have prose of their own.
_WORDS_OF_EXTRA = """
    ad ads advert advertisement advertisements advertising byline comments consent cookie cookies
    copyright credits disqus fblike feedback follow gdpr modal newsletter outbrain overlay paywall
    popular popup promo promos recirc recommend recommendations recommended related relatedlinks respond
    share sharebar sharedaddy sharer sharing social sponsor sponsored subscribe subscription taboola
    teaser teasers trending
"""
_EXTRA = frozenset(_WORDS_OF_EXTRA.split())
_NOT_ALONE = {
    # Words that say it together with another word of the same name.
    ("author", "bio"),
    ("author", "box"),
    ("author", "info"),
    ("comment", "form"),
    ("comment", "list"),
    ("also", "like"),
    ("also", "read"),
    ("more", "from"),
    ("most", "read"),
    ("most", "viewed"),
    ("read", "more"),
    ("read", "next"),
    ("up", "next"),
    ("widget", "area"),
    ("side", "bar"),
    ("side", "nav"),
    ("tag", "list"),
    ("tag", "cloud"),
}
# A name with one of these words is about something else: `content-with-sidebar`, `social-embed`, and Sphinx
# makes `admonition-cookies` from the title of an admonition.
_WORDS_OF_OTHER = """
    admonition embed embedded has hide layout no section with without
"""
_OTHER = frozenset(_WORDS_OF_OTHER.split())
_BODIES = frozenset(("article", "blog", "entry", "main", "news", "post", "story"))
_PARTS_OF_BODY = frozenset(("body", "content", "copy", "text"))
_WORDS_OF_ASIDES_OF_CONTENT = """
    admonition callout caution danger footnote footnotes hint important note sidenote tip topic warning
"""
_ASIDES_OF_CONTENT = frozenset(_WORDS_OF_ASIDES_OF_CONTENT.split())


@lru_cache(_REMEMBERED)
def _names(names: str) -> tuple[frozenset[str], ...]:
    """Return the words of each name."""
    return tuple(frozenset(map(str.lower, _WORDS.findall(name))) for name in names.split())


@lru_cache(_REMEMBERED)
def is_navigation(names: str) -> bool:
    """Return whether one of these names, separated by spaces, is that of a block that leads elsewhere."""
    return any(not words.isdisjoint(_NAVIGATION) and words.isdisjoint(_OTHER) for words in _names(names))


@lru_cache(_REMEMBERED)
def is_extra(names: str) -> bool:
    """Return whether one of these names is that of a block beside the content: comments, teasers, sharing."""
    return any(_says_extra(words) for words in _names(names))


def _says_extra(words: frozenset[str]) -> bool:
    if not words.isdisjoint(_OTHER):
        return False
    if not words.isdisjoint(_EXTRA):
        return True
    return len(words) > 1 and any(one in words and other in words for one, other in _NOT_ALONE)


@lru_cache(_REMEMBERED)
def is_body(names: str) -> bool:
    """Return whether one of these names is that of the body of an article, such as `entry-content`."""
    return any(
        not words.isdisjoint(_BODIES) and not words.isdisjoint(_PARTS_OF_BODY) for words in _names(names)
    )


@lru_cache(_REMEMBERED)
def is_aside_of_content(names: str) -> bool:
    """Return whether one of these names says that an aside is a part of the text, such as a footnote."""
    return any(not words.isdisjoint(_ASIDES_OF_CONTENT) for words in _names(names))
