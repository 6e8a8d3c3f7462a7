"""Static quality: how good an answer a page can be, whatever is asked; seven bits of the column `flags`.

An index of names, a list of changes and the source code of a module have every word of a project, and answer
few questions. They are told by their URL, since their words look like those of other pages. A page without a
title or with hardly any text is a poor answer too. So is a link farm or a stuffed page, whose signs are found
when it is parsed (text/documents/page_signs.py). The number is made when a page is merged into the index for
the first time, and merges carry it on. Segments of older versions have 0: not known, and as good as any.
"""

from __future__ import annotations

import re
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.index.segment.columns import NOT_FETCHED
from crawlctl.pipeline.text.documents.page import (
    LINKS_AWAY,
    OTHER_LANGUAGE,
    REPEATED,
    STUFFED,
    WORD_LIST,
)

if TYPE_CHECKING:
    from crawlctl.pipeline.index.segment.stored_documents import Lengths

BEST = 127

QUALITY_BITS = 0xFF ^ NOT_FETCHED  # of a flag byte: the quality takes the upper seven bits, above NOT_FETCHED

_SHORT_TEXT = 20  # words; with fewer, a page is a stub
_MAX_DEPTH = 6  # folders; deeper pages are often copies, calendars and filters
# Pages that mostly lead to others (lists of contents, of modules) answer little. A page with a link for every
# two words of its text loses a tenth, others in proportion.
_MANY_LINKS = 0.5  # for each word
_LINKS_TAKE = 0.1
_SOME_LINKS = 0.1  # the least share of many links that takes something

# What a page has left of BEST, by the form of its URL: the least of all forms that fit. Chosen on the first
# half of bench/docweb_queries.tsv and on other queries of its kinds, except for tags, archives and depth.
_FORMS = (
    (
        0.1,
        "an index of names or a search form",
        re.compile(r"/(?:gen|mod|py-mod|book|doc)index\b|/genindex-|/contents\.html?$|/search(?:\.\w+)?$"),
    ),
    (0.1, "source code", re.compile(r"/_modules/|/_sources?/")),
    (
        0.5,
        "a tag or an archive",
        re.compile(r"/(?:tags?|categor(?:y|ies)|archives?|page)/[^/]+/?$"),
    ),
    (0.8, "a front page", re.compile(r"/(?:index\.\w+)?$")),
    (
        0.5,
        "a list of changes",
        re.compile(r"change-?(?:s|log)\b|/whats-?new\b|/releases?\b|/release[-_.]|/news\b|/history\b"),
    ),
)
# What a page has left by the signs of its text: the least of all that it has.
_SIGNS = (
    (0.1, "mostly links to other hosts", LINKS_AWAY),
    (0.1, "a list of words", WORD_LIST),
    (0.1, "one word again and again", STUFFED),
    (0.3, "the same phrases again and again", REPEATED),
    (0.9, "not in the language it declares", OTHER_LANGUAGE),
)


class Loss(NamedTuple):
    """Something that speaks against a page: the share of its quality that it leaves, and its name."""

    left: float
    name: str


def quality_of(url: str, lengths: Lengths, signs: int = 0, links: int = 0) -> int:
    """Return the quality of a page, 1 to 127, from its URL, the words in its fields, its signs and links."""
    return max(1, round(BEST * prod([loss.left for loss in losses_of(url, lengths, signs, links)])))


def losses_of(url: str, lengths: Lengths, signs: int = 0, links: int = 0) -> list[Loss]:
    """Return what speaks against a page; its quality is BEST times all that is left."""
    path = url.partition("://")[2].partition("?")[0].lower()
    found = [min([Loss(left, name) for left, name, form in _FORMS if form.search(path)], default=None)]
    found.append(_worst_sign(signs))
    found.append(_of_links(links, lengths.body))
    if not lengths.title:
        found.append(Loss(0.9, "no title"))
    if lengths.body < _SHORT_TEXT:
        found.append(Loss(0.9, "few words"))
    if path.count("/") > _MAX_DEPTH or "?" in url:
        found.append(Loss(0.95, "many folders, or parameters, in the URL"))
    return [loss for loss in found if loss is not None]


def _of_links(links: int, words: int) -> Loss | None:
    """Return what the links of a page take, by their number for each word of its text."""
    share = min(1.0, links / (_MANY_LINKS * max(words, _SHORT_TEXT)))
    return Loss(1 - _LINKS_TAKE * share, "many links for its text") if share >= _SOME_LINKS else None


def _worst_sign(signs: int) -> Loss | None:
    if not signs:
        return None
    return min([Loss(left, name) for left, name, sign in _SIGNS if signs & sign], default=None)


def share_for_links(signs: int) -> float:
    """Return the share of its score that a page with these signs may pass on by its links.

    The form of its URL does not count: an index of names is a poor answer, and a good list of pages.
    """
    worst = _worst_sign(signs)
    return 1.0 if worst is None else worst.left


def flags_of(quality: int, *, is_fetched: bool = True) -> int:
    """Return the number of a page in the column `flags`."""
    return quality << 1 | (0 if is_fetched else NOT_FETCHED)


def quality_share(flags: int) -> int:
    """Return the quality of a page in 255ths; a page whose quality is not known has the best."""
    return flags & QUALITY_BITS or BEST << 1
