"""The sitemaps of the hosts of a task: new pages become known, changed ones are fetched before they are due.

They are read once in `sitemaps.interval`, whether a page of their host is due or not, and through the same
queue as pages: a host is not asked faster for having a sitemap.  What a pass over the sitemaps of a host has
come to is remembered with the host, so that neither the end of a round nor a kill loses or repeats any.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from crawlctl.pipeline.fetch.pages.discovery import LINK_SHARE, Origin, share_of
from crawlctl.pipeline.fetch.select.selection import Due
from crawlctl.pipeline.politeness.host_state import HostState, KnownSitemaps
from crawlctl.pipeline.robots.sitemap_reader import SitemapContent, SitemapQueue
from crawlctl.pipeline.urls.hosts import host_of, webdb_key
from crawlctl.pipeline.webdb.records import decode_entry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from crawlctl.pipeline.config.settings import SitemapSettings
    from crawlctl.pipeline.fetch.pages.discovered import DiscoveredUrls
    from crawlctl.pipeline.fetch.pages.discovery import Discovery
    from crawlctl.pipeline.fetch.select.survey import PartRows
    from crawlctl.pipeline.http.exchange import Answer

SITEMAP_DEPTH = 1
_MAX_PROBLEM = 500  # characters


class _Pass:
    """A pass over the sitemaps of one host, as far as it goes in this round."""

    def __init__(self, host: str, settings: SitemapSettings, known: KnownSitemaps) -> None:
        self.queue = SitemapQueue(host, settings, known.depths, known.waiting)
        self.under_way: set[str] = set()
        self.problem = known.problem if known.depths else ""
        self.is_blocked = False  # robots.txt cannot be had
        self.listed = 0
        self.in_scope = False  # whether a page listed belongs to the crawl

    @property
    def is_done(self) -> bool:
        return not self.under_way and not self.queue.waiting


class Sitemaps:
    """Which sitemaps are to be read next, and what was in those that came.

    `states` is what earlier rounds remembered of the hosts, `now` the time at which the task began.
    """

    def __init__(
        self,
        settings: SitemapSettings,
        discovery: Discovery,
        rows: PartRows,
        *,
        count: Callable[[str, int], None],
        states: Mapping[str, HostState],
        now: float,
    ) -> None:
        self.touched: set[str] = set()  # hosts of which something else is to be remembered
        self._settings = settings
        self._discovery = discovery
        self._rows = rows
        self._count = count
        self._states = states
        self._now = now
        self._named: dict[str, dict[str, tuple[str, ...]]] = {}  # by host and scheme
        self._passes: dict[str, _Pass] = {}

    def __contains__(self, url: str) -> bool:
        own = self._passes.get(host_of(url))
        return own is not None and url in own.under_way

    def named(self, robots_url: str, urls: Iterable[str]) -> list[str]:
        """Take the sitemaps a robots.txt names and return the URLs to fetch."""
        host, scheme = host_of(robots_url), robots_url.partition(":")[0]
        known = self._known(host)
        names = SitemapQueue(host, self._settings).add_named(robots_url, urls)
        self._named[host] = {**known.named, scheme: names}
        self.touched.add(host)
        if host not in self._passes and not self._known(host).are_due(self._now, self._settings.interval):
            return []
        return self.resume(host)

    def resume(self, host: str) -> list[str]:
        """Begin to read the sitemaps of a host, or go on, and return the URLs to fetch."""
        known = self._known(host)
        own = self._passes.get(host)
        if own is None:
            own = self._passes[host] = _Pass(host, self._settings, known)
        own.is_blocked = False
        for scheme, names in known.named.items():
            own.queue.add_named(f"{scheme}://{host}/robots.txt", names)
        return [] if own.under_way else self._next(host)

    def block(self, host: str) -> None:
        """Leave the sitemaps of a host whose robots.txt cannot be had for the next time they are due."""
        if host in self._passes:
            self._passes[host].is_blocked = True
            self.touched.add(host)

    def skip(self, url: str) -> list[str]:
        """Have done with a sitemap, whether it was read or not, and return the next of its host."""
        if url not in self:
            return []
        host = host_of(url)
        self._passes[host].under_way.discard(url)
        return self._next(host)

    def read(
        self, answer: Answer, content: SitemapContent | None, fresh: DiscoveredUrls
    ) -> tuple[list[str], list[Due]]:
        """Take up what is in a sitemap, None where none could be had at its URL.

        Return the sitemap to fetch next, and the known pages that this one says have changed.
        """
        host, now = host_of(answer.url), int(answer.started)
        own = self._passes[host]
        if answer.redirect:
            own.queue.add_children(answer.url, (answer.redirect,))
        elif content is None:
            failure = answer.error.reason if answer.error else f"status {answer.status}"
            content = SitemapContent(problem=f"{answer.url}: {failure}")
        content = content or SitemapContent()
        own.queue.add_children(answer.url, content.children)
        self._note_problem(own, content)
        pages = {page.url: page.lastmod for page in content.pages}
        own.listed += len(pages)
        own.in_scope = own.in_scope or any(map(self._discovery.in_scope, pages))
        # As if a page of average rank linked to all of them.
        origin = Origin(answer.url, now, SITEMAP_DEPTH, share_of(LINK_SHARE, max(len(pages), 1)))
        self._discovery.listed(origin, pages, fresh)
        changed = self._changed(host, pages, now)
        return self.skip(answer.url), changed

    def remembered(self, host: str, state: HostState) -> HostState:
        """Return the state of a host with what is to be remembered of its sitemaps."""
        known, own = self._known(host), self._passes.get(host)
        if own is None:
            return replace(state, sitemaps=known)
        problem = own.problem or next(iter(own.queue.problems), "")
        known = replace(known, problem=problem[:_MAX_PROBLEM])
        if not own.is_done:
            waiting = (*sorted(own.under_way), *own.queue.waiting)
            read_at = self._now if own.is_blocked else known.read_at
            known = replace(known, read_at=read_at, depths=own.queue.depths, waiting=waiting)
        else:
            # Sitemaps that list nothing of this crawl are left alone until robots.txt names them again.
            named = known.named if own.in_scope or not own.listed else {}
            known = KnownSitemaps(named, self._now, known.problem)
        return replace(state, sitemaps=known)

    def _known(self, host: str) -> KnownSitemaps:
        state = self._states.get(host)
        known = state.sitemaps if state else KnownSitemaps()
        return replace(known, named=self._named[host]) if host in self._named else known

    def _note_problem(self, own: _Pass, content: SitemapContent) -> None:
        if content.problem:
            self._count("sitemap_problems", 1)
            own.problem = own.problem or content.problem

    def _next(self, host: str) -> list[str]:
        # One after the other: a host with a hundred of them is not asked for sitemaps alone.
        self.touched.add(host)
        url = self._passes[host].queue.take()
        if url is None:
            return []
        self._passes[host].under_way.add(url)
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
