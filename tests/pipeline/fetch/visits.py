"""Later visits to pages of a small crawl."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

if TYPE_CHECKING:
    from crawlctl.tests.pipeline.fetch.crawl import Crawl, Fetched
    from crawlctl.tests.pipeline.fetch.site import Site


def next_visit(crawl: Crawl, site: Site, *paths: str) -> Fetched:
    """Let some time go by, and visit pages again."""
    for path in paths:
        entry = crawl.entry(site.url(path))
        assert entry is not None
        an_hour_ago = replace(
            entry, next_due=1, last_tried=entry.last_tried - 3600, last_fetched=entry.last_fetched - 3600
        )
        crawl.make_due((site.url(path), an_hour_ago))
    site.asked.clear()
    site.conditions.clear()
    return crawl.round()
