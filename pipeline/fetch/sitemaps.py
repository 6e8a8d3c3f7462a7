"""The sitemaps of the hosts of a task: new pages become known, changed ones are fetched before they are due.

They are read when robots.txt has been, so once a day at most, and through the same queue as pages: a host is
not asked faster for having a sitemap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.fetch.discovery import LINK_SHARE, Origin, share_of
from crawlctl.pipeline.fetch.selection import Due
from crawlctl.pipeline.net.hosts import webdb_key
from crawlctl.pipeline.net.sitemaps import SitemapContent, SitemapQueue, read_sitemap_body
from crawlctl.pipeline.net.urls import host_of
from crawlctl.pipeline.webdb.records import decode_entry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from crawlctl.pipeline.config.scope import SitemapSettings
    from crawlctl.pipeline.fetch.discovery import Discovery
    from crawlctl.pipeline.fetch.finds import Finds
    from crawlctl.pipeline.fetch.part import PartRows
    from crawlctl.pipeline.net.answer import Answer

SITEMAP_DEPTH = 1


class Sitemaps:
    """Which sitemaps are to be read next, and what was in those that came."""

    def __init__(
        self,
        settings: SitemapSettings,
        strip: tuple[str, ...],
        discovery: Discovery,
        rows: PartRows,
        count: Callable[[str, int], None],
    ) -> None:
        self._settings = settings
        self._strip = strip
        self._discovery = discovery
        self._rows = rows
        self._count = count
        self._queues: dict[str, SitemapQueue] = {}
        self._asked: set[str] = set()

    def __contains__(self, url: str) -> bool:
        return url in self._asked

    def named(self, robots_url: str, urls: Iterable[str]) -> list[str]:
        """Take the sitemaps a robots.txt names and return the URLs to fetch."""
        host = host_of(robots_url)
        if host not in self._queues:
            self._queues[host] = SitemapQueue(robots_url, urls, self._settings)
        return self._next(host)

    def skip(self, url: str) -> list[str]:
        """Have done with a sitemap, whether it was read or not, and return the next of its host."""
        if url not in self._asked:
            return []
        self._asked.discard(url)
        return self._next(host_of(url))

    def read(self, answer: Answer, fresh: Finds) -> tuple[list[str], list[Due]]:
        """Read a sitemap; return the ones it leads to, and the known pages that it says have changed."""
        content = SitemapContent()
        if self.answered(answer):
            content = read_sitemap_body(answer.url, answer.body, self._settings, self._strip)
        return self.take(answer, content, fresh)

    def answered(self, answer: Answer) -> bool:
        """Take note of the answer to a sitemap; True where its body is to be read and given to `take`."""
        if answer.redirect:
            self._queues[host_of(answer.url)].add_children(answer.url, (answer.redirect,))
        return answer.status == 200

    def take(self, answer: Answer, content: SitemapContent, fresh: Finds) -> tuple[list[str], list[Due]]:
        """Take what was in a sitemap; return the ones it leads to, and the known pages that have changed."""
        host, now = host_of(answer.url), int(answer.started)
        pages = {page.url: page.lastmod for page in content.pages}
        self._queues[host].add_children(answer.url, content.children)
        self._count("sitemap_problems", bool(content.problem))
        if pages:
            # As if a page of average rank linked to all of them.
            origin = Origin(answer.url, now, SITEMAP_DEPTH, share_of(LINK_SHARE, len(pages)))
            self._discovery.listed(origin, pages, fresh)
        changed = self._changed(host, pages, now)
        return self.skip(answer.url), changed

    def _next(self, host: str) -> list[str]:
        # One after the other: a host with a hundred of them is not asked for sitemaps alone.
        url = self._queues[host].take()
        if url is None:
            return []
        self._asked.add(url)
        return [url]

    def _changed(self, host: str, pages: dict[str, int | None], now: int) -> list[Due]:
        """Return the documents that are older than the sitemap says, and not due by themselves."""
        dated = {webdb_key(url): lastmod for url, lastmod in pages.items() if lastmod and lastmod <= now}
        changed = []
        for key, value in self._rows.of_host(host) if dated else ():
            lastmod = dated.get(key)
            if lastmod is None:
                continue
            entry = decode_entry(value, self._rows.name)
            if entry.live and entry.last_fetched < lastmod and entry.next_due > now:
                changed.append(Due(entry.score, -entry.depth, -now, key, value))
        return changed
