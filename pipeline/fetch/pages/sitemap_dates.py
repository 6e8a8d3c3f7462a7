"""Which dates of a sitemap or feed say when a page was changed or published, and which are made up.

Many programs do not know when a page has changed: they write the time at which they make the sitemap. So a
date is made up if most pages of the sitemap have it, or if it is the time at which the sitemap was requested.
Such a date may still make a page due (sitemap_queue.py), but it is not shown as the date of the page.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.text.details.page_dates import is_believable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from crawlctl.pipeline.sitemaps.sitemap_reader import SitemapPage

_FEW = 2  # pages may have been changed together by chance


class ListedDates(NamedTuple):
    """When a page was changed and published by a sitemap or feed, in UTC seconds; 0 means unknown."""

    changed: int = 0
    published: int = 0

    @property
    def latest(self) -> int:
        """The later of the two."""
        return max(self)


def latest_dates(pages: Iterable[SitemapPage]) -> dict[str, ListedDates]:
    """Return the dates of each page.

    A changelog is often one page with many entries in its feed: then each entry is a change of the page.
    """
    latest: dict[str, ListedDates] = {}
    for url, lastmod, published in pages:
        found = ListedDates(lastmod or 0, published or 0)
        known = latest.get(url)
        latest[url] = found if known is None else _as_changes(known, found)
    return latest


def _as_changes(one: ListedDates, other: ListedDates) -> ListedDates:
    if one.published == other.published or not (one.latest and other.latest):
        return ListedDates(max(one.changed, other.changed), max(one.published, other.published))
    return ListedDates(max(one.latest, other.latest))


def believable_dates(pages: Mapping[str, ListedDates], asked_at: int) -> dict[str, ListedDates]:
    """Return the dates that are not made up, by page; the sitemap was requested at `asked_at`."""
    changed = _believable({url: dates.changed for url, dates in pages.items()}, asked_at)
    published = _believable({url: dates.published for url, dates in pages.items()}, asked_at)
    urls = dict.fromkeys((*changed, *published))
    return {url: ListedDates(changed.get(url, 0), published.get(url, 0)) for url in urls}


def _believable(dates: Mapping[str, int], asked_at: int) -> dict[str, int]:
    dated = {url: date for url, date in dates.items() if date and is_believable(date, asked_at)}
    shared = Counter(dated.values()).most_common(1)
    if shared and shared[0][1] > max(_FEW, len(dates) // 2):
        return {url: date for url, date in dated.items() if date != shared[0][0]}
    return dated
