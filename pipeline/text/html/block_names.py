"""What the classes and the id of a block say: that it is boilerplate, a comment, or the body of an article.

A name is cut into words: `siteFooter`, `site-footer` and `site_footer` are "site" and "footer". Only words
count that are nearly never used for a block of content. All pages of a site have the same names, so the
answers are cached.
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
# Links to the pages before and behind this one, such as `prev-next-area` of Sphinx themes.
_NEIGHBOURS = (frozenset(("prev", "next")), frozenset(("previous", "next")))
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
    # Words that mean boilerplate only together with another word of the same name.
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
# makes `admonition-cookies` from the title of an admonition; the footer of a quotation names its author.
_WORDS_OF_OTHER = """
    admonition blockquote embed embedded has hide layout no section with without
"""
_OTHER = frozenset(_WORDS_OF_OTHER.split())
# What readers of a page wrote below it.
_WORDS_OF_REMARKS = """
    comment comments disqus replies reply respond review reviews testimonial testimonials
"""
_REMARKS = frozenset(_WORDS_OF_REMARKS.split())
# WordPress gives the topics and the state of a post as classes: `tag-review`, `type-review`, `comments-open`.
_STATES = frozenset(("category", "closed", "open", "tag", "type"))
_TOPICS = ("tag-", "category-")
_DIGITS = re.compile(r"\d+")
# Parts of the classes of chapters and sections, such as `sect1` of DocBook and `chapter-level-extent` of
# Texinfo. The id of a section is made from its heading.
_SECTIONS = re.compile(r"sect|chapter|appendix|preface|-level-extent")
_BODIES = frozenset(("article", "blog", "entry", "main", "news", "post", "story"))
_PARTS_OF_BODY = frozenset(("body", "content", "copy", "text"))
_WORDS_OF_ASIDES_OF_CONTENT = """
    admonition callout caution danger example footnote footnotes hint important info keypoint note notice
    objective sidenote success tip topic warning
"""
_ASIDES_OF_CONTENT = frozenset(_WORDS_OF_ASIDES_OF_CONTENT.split())
_CAPTIONS = frozenset(("caption", "captions", "credit"))
_KEY_POINT = frozenset(("key", "point"))


# The meanings of names, as bits of a number: enum.Flag would take a tenth of the time of parsing.
NAVIGATION = 1  # it leads elsewhere
EXTRA = 2  # it stands beside the content: comments, teasers, sharing
BODY = 4  # it is the body of an article, such as `entry-content`
ASIDE = 8  # if it is an aside, it is a part of the text, such as a footnote
REMARK = 16  # it is or has what readers wrote: comments, reviews
SECTION = 32  # it is a chapter or a section
CAPTION = 64  # it says what a picture shows, or who made it


@lru_cache(_REMEMBERED)
def meaning(names: str) -> int:
    """Return the meaning of the names of a block (separated by spaces), as a sum of bits."""
    found = SECTION if _SECTIONS.search(names) else 0
    for name in names.split():
        found |= _meaning(frozenset(map(str.lower, _WORDS.findall(name))))
    return found


@lru_cache(_REMEMBERED)
def kinds_of_entry(names: str) -> frozenset[str]:
    """Return the classes that an entry of a list shares with other entries: without its number and topics."""
    return frozenset(_DIGITS.sub("", name) for name in names.split() if not name.startswith(_TOPICS))


def _meaning(words: frozenset[str]) -> int:
    found = 0
    if not words.isdisjoint(_BODIES) and not words.isdisjoint(_PARTS_OF_BODY):
        found |= BODY
    if not words.isdisjoint(_ASIDES_OF_CONTENT) or words >= _KEY_POINT:
        found |= ASIDE
    if not words.isdisjoint(_OTHER):
        return found
    if not words.isdisjoint(_CAPTIONS):
        found |= CAPTION
    if not words.isdisjoint(_REMARKS) and words.isdisjoint(_STATES):
        found |= REMARK
    if not words.isdisjoint(_NAVIGATION) or any(words >= pair for pair in _NEIGHBOURS):
        found |= NAVIGATION
    is_pair = len(words) > 1 and any(one in words and other in words for one, other in _NOT_ALONE)
    return found | EXTRA if is_pair or not words.isdisjoint(_EXTRA) else found
