"""Which `lastmod` dates of a sitemap say when a page has changed, and which are made up.

Many programs do not know when a page has changed: they write the time at which they make the sitemap. So a
date is made up if most pages of the sitemap have it, or if it is the time at which the sitemap was requested.
Such a date may still make a page due (sitemap_queue.py), but it is not shown as the date of the page.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from crawlctl.pipeline.text.details.page_dates import is_believable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from crawlctl.pipeline.sitemaps.sitemap_reader import SitemapPage

_FEW = 2  # pages may have been changed together by chance


def latest_dates(pages: Iterable[SitemapPage]) -> dict[str, int | None]:
    """Return the latest date of each page: a changelog is often one page with many entries in its feed."""
    latest: dict[str, int | None] = {}
    for url, lastmod in pages:
        latest[url] = max(latest.get(url) or 0, lastmod or 0) or None
    return latest


def believable_dates(pages: Mapping[str, int | None], asked_at: int) -> dict[str, int]:
    """Return the dates that are not made up, by page; the sitemap was requested at `asked_at`."""
    dated = {url: lastmod for url, lastmod in pages.items() if lastmod and is_believable(lastmod, asked_at)}
    shared = Counter(dated.values()).most_common(1)
    if shared and shared[0][1] > max(_FEW, len(pages) // 2):
        return {url: lastmod for url, lastmod in dated.items() if lastmod != shared[0][0]}
    return dated
