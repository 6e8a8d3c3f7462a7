"""Static quality: how good an answer a page can be, whatever is asked; seven bits of the column `flags`.

An index of names, a list of changes and the source code of a module have every word of a project, and answer
few questions. They are told by their URL, since their words look like those of other pages. A page without a
title or with hardly any text is a poor answer too. The number is made when a page is merged into the index
for the first time, and merges carry it on. Segments of older versions have 0: not known, and as good as any.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crawlctl.pipeline.index.segment.columns import NOT_FETCHED

if TYPE_CHECKING:
    from crawlctl.pipeline.index.segment.stored_documents import Lengths

BEST = 127

QUALITY_BITS = 0xFF ^ NOT_FETCHED  # of a flag byte: the quality takes the upper seven bits, above NOT_FETCHED

_SHORT_TEXT = 20  # words; with fewer, a page is a stub
_MAX_DEPTH = 6  # folders; deeper pages are often copies, calendars and filters

# What a page has left of BEST, by the form of its URL: the least of all forms that fit. Chosen on the first
# half of bench/docweb_queries.tsv and on other queries of its kinds, except for tags, archives and depth.
_FORMS = (
    (0.1, re.compile(r"/(?:gen|mod|py-mod|book|doc)index\b|/genindex-|/contents\.html?$|/search(?:\.\w+)?$")),
    (0.1, re.compile(r"/_modules/|/_sources?/")),
    (0.5, re.compile(r"/(?:tags?|categor(?:y|ies)|archives?|page)/[^/]+/?$")),
    (0.8, re.compile(r"/(?:index\.\w+)?$")),
    (0.5, re.compile(r"change-?(?:s|log)\b|/whats-?new\b|/releases?\b|/release[-_.]|/news\b|/history\b")),
)


def quality_of(url: str, lengths: Lengths) -> int:
    """Return the quality of a page, 1 to 127, from its URL and the numbers of words in its fields."""
    path = url.partition("://")[2].partition("?")[0].lower()
    share = min((left for left, form in _FORMS if form.search(path)), default=1.0)
    if not lengths.title:
        share *= 0.9
    if lengths.body < _SHORT_TEXT:
        share *= 0.9
    if path.count("/") > _MAX_DEPTH or "?" in url:
        share *= 0.95
    return max(1, round(BEST * share))


def flags_of(quality: int, *, is_fetched: bool = True) -> int:
    """Return the number of a page in the column `flags`."""
    return quality << 1 | (0 if is_fetched else NOT_FETCHED)


def quality_share(flags: int) -> int:
    """Return the quality of a page in 255ths; a page whose quality is not known has the best."""
    return flags & QUALITY_BITS or BEST << 1
