"""Which known pages have changed, as a sitemap or feed says; these are fetched before they are due."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.fetch.pages.sitemap_dates import believable_dates
from crawlctl.pipeline.fetch.select.selection import Due
from crawlctl.pipeline.urls.hosts import webdb_key
from crawlctl.pipeline.webdb.entries import with_listed_dates
from crawlctl.pipeline.webdb.records import decode_entry, encode

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from crawlctl.pipeline.fetch.pages.sitemap_dates import ListedDates
    from crawlctl.pipeline.webdb.part import PartRows

_FEW = 100  # up to this number of keys, looking up each is faster than reading all rows of a large host


def changed_pages(rows: PartRows, host: str, pages: Mapping[str, ListedDates], now: int) -> list[Due]:
    """Return the pages that were last fetched before their date in `pages`, and that are not due yet."""
    believed = {webdb_key(url): dates for url, dates in believable_dates(pages, now).items()}
    latest = ((url, dates.latest) for url, dates in pages.items())
    dated = {webdb_key(url): date for url, date in latest if 0 < date <= now}
    changed = []
    for key, value in _rows_of(rows, host, dated):
        entry = decode_entry(value, rows.name)
        if entry.live and entry.last_fetched < dated[key] and not entry.is_due(now):
            # The page is fetched in this round, before the merge of the round could make its entry due.
            told = encode(with_listed_dates(entry, *believed.get(key, ())))
            changed.append(Due(entry.score, -entry.depth, -now, key, told))
    return changed


def _rows_of(rows: PartRows, host: str, keys: Collection[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Yield the rows of these keys of a host, in the order of keys."""
    if len(keys) > _FEW:
        yield from ((key, value) for key, value in rows.of_host(host) if key in keys)
        return
    for key in sorted(keys):
        value = rows.get(key)
        if value is not None:
            yield key, value
