"""Which sitemaps of a task's hosts are read next, and what is done with their content.

From sitemaps the crawl learns of new pages, and of changed pages, which it then fetches before they are due.
The sitemaps of a host are read once per `sitemaps.interval`, whether a page of the host is due or not. They
go through the same queue as pages, so a host with sitemaps is not asked faster than others. The state of a
pass over the sitemaps of a host is saved with the host, so neither the end of a round nor a kill loses or
repeats any of them.

A sitemap is read only from the host whose robots.txt names it (sitemaps/sitemap_reader.py says why).

Feeds (RSS, Atom, JSON Feed) are read like sitemaps if a page of the host names them in a link element. At
most MAX_FEEDS are read per host, those with the shortest URLs: a blog names its own feed, and also a feed for
the comments of each post, which has a longer URL. A new feed is read at once, then with the sitemaps. The
entries of a feed that was fetched as a page are taken like the links of a page (page_reader.py).

A robots.txt may name sitemaps outside the scope of the crawl. A feed, and all sitemaps and pages that it
leads to, must be in scope.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from msgspec.structs import replace

from crawlctl.pipeline.errors import UrlError
from crawlctl.pipeline.fetch.pages.changed_pages import changed_pages
from crawlctl.pipeline.fetch.pages.discovered import Origin
from crawlctl.pipeline.fetch.pages.discovery import LINK_SHARE, share_of
from crawlctl.pipeline.fetch.pages.sitemap_dates import believable_dates, latest_dates
from crawlctl.pipeline.politeness.host_state import HostState, KnownSitemaps
from crawlctl.pipeline.sitemaps.sitemap_reader import SitemapContent
from crawlctl.pipeline.urls.canonical import canonical_link
from crawlctl.pipeline.urls.hosts import host_of
from crawlctl.pipeline.urls.whatwg import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from crawlctl.pipeline.config.settings import SitemapSettings
    from crawlctl.pipeline.fetch.pages.discovered import DiscoveredUrls
    from crawlctl.pipeline.fetch.pages.discovery import Discovery
    from crawlctl.pipeline.fetch.select.selection import Due
    from crawlctl.pipeline.http.exchange import Answer
    from crawlctl.pipeline.webdb.part import PartRows

SITEMAP_DEPTH = 1
MAX_FEEDS = 8  # the most feeds of one host
_MAX_PROBLEM = 500  # characters
_MAX_URL_BYTES = 16 << 10  # bytes of sitemap URLs that are saved per host between rounds


class SitemapPass:
    """One pass over the sitemaps of one host: each is read once, in the order found, within the limits.

    It starts from `known`, so it continues a pass that an earlier round began.
    """

    def __init__(self, host: str, settings: SitemapSettings, known: KnownSitemaps | None = None) -> None:
        known = known or KnownSitemaps()
        self.depths = dict(known.depths)  # sitemap → how deep it is nested, from 1
        self.waiting = deque(known.waiting)
        self.under_way: set[str] = set()  # requested, not read yet
        self.problem = known.problem if known.depths else ""  # the first problem of the pass
        self.of_feeds: set[str] = set()  # feeds, and the URLs they lead to
        self.is_partial = False  # only new feeds are read; the sitemaps are not due
        self.is_blocked = False  # the robots.txt of the host cannot be read
        self.listed = 0  # pages
        self.in_scope = False  # whether a page listed belongs to the crawl
        self._host = host
        self._settings = settings
        self._bytes = sum(map(len, self.depths))

    @property
    def is_done(self) -> bool:
        """Whether all sitemaps have been read."""
        return not self.under_way and not self.waiting

    def add_named(self, robots_url: str, names: Iterable[str]) -> tuple[str, ...]:
        """Queue the sitemaps that a robots.txt names; return all named sitemaps that may be read."""
        for name in names:
            try:
                self._add(canonical_link(robots_url, name), 1)
            except UrlError as error:
                self.note(f"robots.txt: names a sitemap that is no URL: {error}")
        return tuple(url for url, depth in self.depths.items() if depth == 1)

    def add_feeds(self, urls: Iterable[str]) -> None:
        """Queue feeds."""
        for url in urls:
            self.of_feeds.add(url)
            self._add(url, 1)

    def add_children(self, parent: str, children: Iterable[str]) -> None:
        """Queue the sitemaps that a sitemap index lists."""
        depth = self.depths[parent] + 1
        new = [child for child in children if child not in self.depths]
        for child in new:
            self._add(child, depth)
        if parent in self.of_feeds:
            self.of_feeds.update(child for child in new if child in self.depths)

    def take(self) -> str | None:
        """Return the next sitemap to request, None if none waits."""
        if not self.waiting:
            return None
        url = self.waiting.popleft()
        self.under_way.add(url)
        return url

    def note(self, problem: str) -> None:
        """Keep a problem if it is the first of the pass; `crawlctl explain` shows it."""
        self.problem = self.problem or problem[:_MAX_PROBLEM]

    def _add(self, url: str, depth: int) -> None:
        if url in self.depths:
            return
        limits = self._settings
        if host_of(url) != self._host:
            self.note(f"{shown(url)}: lies on another host than {self._host}")
        elif depth > limits.max_depth:
            self.note(f"{shown(url)}: is nested deeper than sitemaps.max_depth = {limits.max_depth}")
        elif len(self.depths) >= limits.max_files:
            self.note(f"{shown(url)}: is one more than sitemaps.max_files = {limits.max_files}")
        elif self._bytes + len(url) > _MAX_URL_BYTES:
            self.note(f"{shown(url)}: is one more than fit into {_MAX_URL_BYTES} bytes of sitemap URLs")
        else:
            self.depths[url] = depth
            self.waiting.append(url)
            self._bytes += len(url)


class SitemapQueue:
    """The passes over the sitemaps of all hosts of a task, in one round.

    `states` are the host states that earlier rounds saved; `now` is the time at which the task began.
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
        self.changed_hosts: set[str] = set()  # whose sitemap state has changed since the last save
        self._settings = settings
        self._discovery = discovery
        self._rows = rows
        self._count = count
        self._states = states
        self._now = now
        self._named: dict[str, dict[str, tuple[str, ...]]] = {}  # host → scheme → sitemaps
        self._feeds: dict[str, tuple[str, ...]] = {}  # host → its feeds, if there are new ones
        self._passes: dict[str, SitemapPass] = {}

    def __contains__(self, url: str) -> bool:
        own = self._passes.get(host_of(url))
        return own is not None and url in own.under_way

    def named(self, robots_url: str, urls: Iterable[str]) -> list[str]:
        """Take the sitemaps that a robots.txt names; return the URLs to request now."""
        host, scheme = host_of(robots_url), robots_url.partition(":")[0]
        known = self._known(host)
        names = SitemapPass(host, self._settings).add_named(robots_url, urls)
        self._named[host] = {**known.named, scheme: names}
        self.changed_hosts.add(host)
        if host not in self._passes and not self._known(host).are_due(self._now, self._settings.interval):
            return []
        return self.resume(host)

    def resume(self, host: str) -> list[str]:
        """Start or continue the pass over the sitemaps of a host; return the URLs to request now."""
        known = self._known(host)
        own = self._passes.get(host)
        if own is None:
            own = self._passes[host] = SitemapPass(host, self._settings, known)
        own.is_blocked = own.is_partial = False
        for scheme, names in known.named.items():
            own.add_named(f"{scheme}://{host}/robots.txt", names)
        own.add_feeds(known.feeds)
        return [] if own.under_way else self._next(host)

    def found_feeds(self, page: str, urls: Iterable[str]) -> list[str]:
        """Take the feeds that a page names; return the URLs to request now.

        Only feeds of the page's own host and within the scope are taken.
        """
        host = host_of(page)
        known = self._known(host)
        new = [url for url in dict.fromkeys(urls) if url not in known.feeds and host_of(url) == host]
        new = [url for url in new if self._discovery.in_scope(url)]
        kept = set(sorted((*known.feeds, *new), key=len)[:MAX_FEEDS])
        new = [url for url in new if url in kept]
        if not new or not self._settings.max_files:
            return []
        self._feeds[host] = tuple(url for url in (*known.feeds, *new) if url in kept)
        self.changed_hosts.add(host)
        own = self._passes.get(host)
        if own is None:
            own = self._passes[host] = SitemapPass(host, self._settings, known)
            own.is_partial = not known.waiting
        own.add_feeds(new)
        return [] if own.under_way else self._next(host)

    def block(self, host: str) -> None:
        """Stop the pass of a host whose robots.txt cannot be read, until the sitemaps are due again."""
        if host in self._passes:
            self._passes[host].is_blocked = True
            self.changed_hosts.add(host)

    def skip(self, url: str) -> list[str]:
        """Finish a sitemap, whether it was read or not; return the next one of its host."""
        if url not in self:
            return []
        host = host_of(url)
        self._passes[host].under_way.discard(url)
        return self._next(host)

    def read(
        self, answer: Answer, content: SitemapContent | None, fresh: DiscoveredUrls
    ) -> tuple[list[str], list[Due]]:
        """Take the pages and sitemaps that a sitemap lists; `content` is None if there was no answer.

        Return the sitemap to request next, and the known pages that have changed by this sitemap.
        """
        host, now = host_of(answer.url), int(answer.started)
        own = self._passes[host]
        if answer.redirect:
            self._add_children(own, answer.url, (answer.redirect,))
        elif content is None:
            failure = answer.error.reason if answer.error else f"status {answer.status}"
            content = SitemapContent(problem=f"{answer.url}: {failure}")
        content = content or SitemapContent()
        self._add_children(own, answer.url, content.children)
        self._note_problem(own, content)
        own.listed += len(content.pages)
        own.in_scope = own.in_scope or any(self._discovery.in_scope(page.url) for page in content.pages)
        self._take_pages(answer.url, now, content, fresh)
        return self.skip(answer.url), self.changed(answer.url, content, now)

    def changed(self, url: str, content: SitemapContent, now: int) -> list[Due]:
        """Return the known pages that have changed by a sitemap or feed."""
        return changed_pages(self._rows, host_of(url), latest_dates(content.pages), now)

    def remembered(self, host: str, state: HostState) -> HostState:
        """Return the state of a host with the state of its sitemaps, for the next round."""
        known, own = self._known(host), self._passes.get(host)
        if own is None:
            return replace(state, sitemaps=known)
        known = replace(known, problem=own.problem)
        if not own.is_done:
            waiting = (*sorted(own.under_way), *own.waiting)
            read_at = self._now if own.is_blocked else known.read_at
            known = replace(known, read_at=read_at, depths=own.depths, waiting=waiting)
        else:
            # Sitemaps that list no page of this crawl are not read again until robots.txt is read again.
            # Feeds are kept: a page would name a forgotten feed again, and it would count as new.
            is_useful = own.in_scope or not own.listed or own.is_partial
            read_at = known.read_at if own.is_partial else self._now
            known = KnownSitemaps(known.named if is_useful else {}, read_at, known.problem, feeds=known.feeds)
        return replace(state, sitemaps=known)

    def _known(self, host: str) -> KnownSitemaps:
        state = self._states.get(host)
        known = state.sitemaps if state else KnownSitemaps()
        known = replace(known, feeds=self._feeds[host]) if host in self._feeds else known
        return replace(known, named=self._named[host]) if host in self._named else known

    def _add_children(self, own: SitemapPass, parent: str, children: Iterable[str]) -> None:
        if parent in own.of_feeds:
            children = [child for child in children if self._discovery.in_scope(child)]
        own.add_children(parent, children)

    def _take_pages(self, url: str, now: int, content: SitemapContent, fresh: DiscoveredUrls) -> None:
        pages = latest_dates(content.pages)
        # They get the score of links from a page of average rank.
        origin = Origin(url, now, SITEMAP_DEPTH, share_of(LINK_SHARE, max(len(pages), 1)))
        self._discovery.listed(origin, pages, fresh, believable_dates(pages, now))

    def _note_problem(self, own: SitemapPass, content: SitemapContent) -> None:
        if content.problem:
            self._count("sitemap_problems", 1)
            own.note(content.problem)

    def _next(self, host: str) -> list[str]:
        # One sitemap at a time, so that a host with a hundred sitemaps is asked for pages in between.
        self.changed_hosts.add(host)
        url = self._passes[host].take()
        return [] if url is None else [url]
