"""From the links of a page to the URLs the crawl takes up.

All links in scope that the crawl has heard of are passed on with their anchors; of new ones only so many a
page and round, in the order of the page, and only as far as the budgets of their sites go. A page gives
LINK_SHARE of its score to its links, each as much, and what a URL is given in a round adds up: one step of
the ranking that sets scores from time to time (publish.py). It finds the pages that will matter sooner
than going breadth first does (bench/bench_crawl_order.py).

The limit is there for traps and must not cost a long list its tail. So a page with links left over is due
again at once, and is read from where it was left: one request more for every fifty URLs, and nothing to be
carried along but that place. To keep the links themselves would cost a trap nothing and us a row for each.
The place is what ends it, since of the hosts of other partitions a task does not know the URLs: a link before
it had its turn and is passed over if it seems new. Thus a page that shows other links on every visit adds no
more than the limit to a round, and is back at its usual pace when its last place (parse.max_links) is passed.
A page that has not changed since it was read to the end is not read on.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.urls.hosts import host_in_key, host_of, webdb_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from crawlctl.pipeline.config.settings import ScopeSettings
    from crawlctl.pipeline.fetch.pages.discovered import DiscoveredUrls
    from crawlctl.pipeline.fetch.select.known_urls import KnownUrls
    from crawlctl.pipeline.fetch.select.site_budgets import SiteBudgets
    from crawlctl.pipeline.scope.scope import Scope
    from crawlctl.pipeline.text.words.focus import Focus

LINK_SHARE = 0.85  # the damping of ranking
_STEPS = 1 << 32  # of what can be given
# Verdicts; the pages of a site link to the same URLs over and over, and to long ones if they mean harm.
_REMEMBERED = 1 << 16
_REMEMBERED_CHARS = 200


class Origin(NamedTuple):
    """Where URLs were found, and what that makes of them."""

    source: str
    seen: int
    depth: int
    score: float
    hops: int = 0  # redirects in a row that lead there


def share_of(score: float, links: int) -> float:
    """Return what each of so many links is given, in steps that add up to the same in any order."""
    return round(score / max(1, links) * _STEPS) / _STEPS


class Discovery:
    """Judges URLs for one task; `fresh` of each call is where those taken up are gathered."""

    def __init__(
        self,
        settings: ScopeSettings,
        scope: Scope,
        sites: SiteBudgets,
        known: KnownUrls,
        count: Callable[[str, int], None],
        *,
        focus: Focus | None = None,
    ) -> None:
        self.new_hosts: set[bytes] = set()  # of which URLs were found that the crawl did not know
        self._focus = focus
        self._settings = settings
        self._count = count
        self._sites = sites
        self._known = known
        self._scope = scope
        self._remembered_key = lru_cache(_REMEMBERED)(self._find_key)

    def relevance(self, url: str, title: str, text: str) -> float:
        """Return how far a page is about what the crawl looks for, 0 where it looks for nothing special."""
        return 0.0 if self._focus is None else self._focus.page(url, title, text)

    def links(
        self,
        origin: Origin,
        links: Sequence[tuple[str, str]],
        fresh: DiscoveredUrls,
        taken: int = 0,
        relevance: float = 0.0,
    ) -> int:
        """Take up the links of a page, (URL, anchor) each, all different, new ones from number `taken` on.

        Return how many have had their turn now, or 0 if all have.
        """
        limit = self._settings.max_new_urls_per_page
        return self._take_up(origin, links, fresh, limit, taken, relevance=relevance)

    def listed(self, origin: Origin, urls: Iterable[str], fresh: DiscoveredUrls) -> None:
        """Take up what a sitemap lists or a redirect leads to."""
        self._take_up(origin, [(url, "") for url in urls], fresh, None)

    def in_scope(self, url: str) -> bool:
        """Return whether a URL belongs to the crawl, whatever its depth."""
        return self._key(url) is not None

    def _key(self, url: str) -> bytes | None:
        return (self._remembered_key if len(url) <= _REMEMBERED_CHARS else self._find_key)(url)

    def _find_key(self, url: str) -> bytes | None:
        # Depth is judged once a page; all else depends on the URL alone.
        return None if self._scope.verdict(url, 0) else webdb_key(url)

    def _take_up(
        self,
        origin: Origin,
        links: Sequence[tuple[str, str]],
        fresh: DiscoveredUrls,
        limit: int | None,
        begin: int = 0,
        *,
        relevance: float = 0.0,
    ) -> int:
        if origin.depth > self._settings.max_depth:
            return 0
        find_key = self._key
        inside = [
            (place, key, anchor)
            for place, (url, anchor) in enumerate(links)
            if (key := find_key(url)) is not None
        ]
        self._count("links_out_of_scope", len(links) - len(inside))
        new: list[bytes] = []
        found: list[tuple[bytes, str]] = []
        left = 0  # where the next visit goes on
        known = self._known.contains([key for _, key, _ in inside])
        for (place, key, anchor), is_known in zip(inside, known, strict=True):
            if not is_known:
                if place < begin:
                    continue
                is_full = limit is not None and len(new) >= limit
                left = left or (place if is_full else 0)
                if is_full or self._sites.admit(links[place][0]):
                    self._count("links_over_limit", 1)
                    continue
                new.append(key)
            found.append((key, anchor))
        host = host_of(origin.source).encode("ascii")
        for boost, some in [(1.0, found)] if self._focus is None else self._focus.dealt(found, relevance):
            fresh.add(origin._replace(score=boost * origin.score), host, some)
        if new:
            self._known.add(new)
            self.new_hosts.update(map(host_in_key, new))
        return left if limit else 0
