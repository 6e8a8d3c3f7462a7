"""Decides which links of a page become URLs of the crawl.

All links in scope that the crawl knows already are kept, with their anchors. New links are taken within the
budgets of their sites. A page gives LINK_SHARE of its score to its links in equal shares, and the shares that
a URL receives in a round add up. This is one step of the ranking that sets the scores from time to time
(rank/publish). It finds important pages sooner than a breadth-first crawl (bench/bench_crawl_order.py). A
page with signs of a link farm gives less (share_for_links in index/static_quality.py).

Of new links that look like a trap, only `scope.max_new_urls_per_page` are taken per page and round, in the
order of the page. A link looks like a trap if one of these holds:

- it has query parameters, as most calendars, sorted lists and session numbers have;
- its page has no new text: it has the text of an earlier page, or names another page as canonical;
- its host, folder or parameter set has used up more than half of its budget (scope/url_budgets.py);
- it leads to a host that the crawl does not know.

All other new links are taken at once: a crawl of few rounds must see the end of a long list.

The limit must not cut off the end of a list either. So a page with links left over is due again at once, and
the next visit continues behind the last link taken. This costs one more request per fifty URLs, and only one
number is stored per page. Storing the links would take a row per link, and a trap can make any number of
links at no cost.

The number stored is the index of the first link not taken. Links before it are skipped even if they look new,
because a task does not know the URLs of other partitions. So a page that shows different links on every visit
adds at most the limit per round to a site whose budgets have no room. It returns to its usual schedule when
the index passes parse.max_links. A page that was read to the end and has not changed since is not continued.
"""

from __future__ import annotations

from itertools import compress
from typing import TYPE_CHECKING

from crawlctl.pipeline.urls.hosts import host_in_key, host_of, webdb_key

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from crawlctl.pipeline.config.settings import ScopeSettings
    from crawlctl.pipeline.fetch.pages.discovered import DiscoveredUrls, Origin
    from crawlctl.pipeline.fetch.pages.sitemap_dates import ListedDates
    from crawlctl.pipeline.fetch.select.known_urls import Known
    from crawlctl.pipeline.fetch.select.site_budgets import SiteBudgets
    from crawlctl.pipeline.scope.scope import Scope
    from crawlctl.pipeline.text.words.focus import Focus

LINK_SHARE = 0.85  # the damping factor of the ranking
_STEPS = 1 << 32  # shares are multiples of 1/_STEPS
# URLs that are remembered, in the scope or out of it. The pages of a site link to the same URLs again and
# again. Very long URLs, which mostly come from traps, are not remembered.
_REMEMBERED = 1 << 16
_REMEMBERED_CHARS = 200
_OUTSIDE = b""  # in place of the key of a URL that is out of scope


def share_of(score: float, links: int) -> float:
    """Return the score that each of `links` links gets; rounded so that sums do not depend on the order."""
    return round(score / max(1, links) * _STEPS) / _STEPS


def _always(_url: str) -> bool:
    return True


def _never(_url: str) -> bool:
    return False


def _ignore(_keys: Sequence[bytes], _depth: int) -> None:
    pass


class Discovery:
    """Decides which URLs one task takes up, and adds them to `fresh`, the collection that each call gets."""

    def __init__(
        self,
        settings: ScopeSettings,
        scope: Scope,
        sites: SiteBudgets,
        known: Known,
        count: Callable[[str, int], None],
        *,
        focus: Focus | None = None,
        on_new: Callable[[Sequence[bytes], int], None] | None = None,
    ) -> None:
        self.new_hosts: set[bytes] = set()  # hosts with URLs that the crawl did not know
        self._focus = focus
        self._on_new = on_new or _ignore  # is told the keys of new URLs, and the depth of their discovery
        self._settings = settings
        self._count = count
        self._sites = sites
        self._known = known
        self._scope = scope
        self._keys = _Keys(self._find_key)
        self._met: set[bytes] = (
            set()
        )  # keys that `known` has contained, which forgets none; at most _REMEMBERED

    def relevance(self, url: str, title: str, text: str) -> float:
        """Return how well a page fits the topic of the crawl (focus settings), 0 if there is no topic."""
        return 0.0 if self._focus is None else self._focus.page(url, title, text)

    def links(
        self,
        origin: Origin,
        links: Sequence[tuple[str, str]],
        fresh: DiscoveredUrls,
        taken: int = 0,
        relevance: float = 0.0,
        *,
        is_new_text: bool = True,
        boilerplate: Collection[str] = (),
    ) -> int:
        """Take the links of a page, each as (URL, anchor), all different; new ones from index `taken` on.

        `is_new_text` says whether no other page has its text. The links to the URLs in `boilerplate` are in
        menus or other boilerplate, so their anchors weigh less. Return the index at which the next visit
        continues, 0 if no link is left over.
        """
        is_safe = self._is_safe if is_new_text else _never
        left = self._take_up(
            origin, links, fresh, is_safe, taken, relevance=relevance, boilerplate=boilerplate
        )
        return left if self._settings.max_new_urls_per_page else 0

    def listed(
        self,
        origin: Origin,
        urls: Iterable[str],
        fresh: DiscoveredUrls,
        dates: Mapping[str, ListedDates] | None = None,
    ) -> None:
        """Take the pages of a sitemap, with their dates, or the target of a redirect."""
        self._take_up(origin, [(url, "") for url in urls], fresh)
        self.date(dates or {}, fresh)

    def date(self, dates: Mapping[str, ListedDates], fresh: DiscoveredUrls) -> None:
        """Record when the pages that were taken were changed and published."""
        for url, (changed, published) in dates.items():
            key = self._key(url)
            if key is not None:
                fresh.date(key, changed, published)

    def in_scope(self, url: str) -> bool:
        """Return whether a URL belongs to the crawl, whatever its depth."""
        return self._key(url) is not None

    def _is_safe(self, url: str) -> bool:
        """Return whether a new link does not look like a trap, if its page has a text of its own."""
        return "?" not in url and self._sites.has_room(url)

    def _key(self, url: str) -> bytes | None:
        return self._keys[url] or None

    def _find_key(self, url: str) -> bytes:
        # Depth is checked once per page; all other rules depend on the URL alone.
        return _OUTSIDE if self._scope.verdict(url, 0) else webdb_key(url)

    def _take_up(
        self,
        origin: Origin,
        links: Sequence[tuple[str, str]],
        fresh: DiscoveredUrls,
        is_safe: Callable[[str], bool] = _always,
        begin: int = 0,
        *,
        relevance: float = 0.0,
        boilerplate: Collection[str] = (),
    ) -> int:
        """Add links to `fresh`; return the index of the first new link that was left over, or 0.

        `is_safe` returns whether a URL does not look like a trap.
        """
        if origin.depth > self._settings.max_depth:
            return 0
        found, new, left = self._choose(links, is_safe, begin)
        host = host_of(origin.source).encode("ascii")
        keys = set(map(self._keys.__getitem__, boilerplate))
        for boost, some in [(1.0, found)] if self._focus is None else self._focus.dealt(found, relevance):
            fresh.add(origin._replace(score=boost * origin.score), host, some, keys)
        if new:
            self._known.add(new)
            self.new_hosts.update(map(host_in_key, new))
            self._on_new(new, origin.depth)
        return left

    def _choose(
        self, links: Sequence[tuple[str, str]], is_safe: Callable[[str], bool], begin: int
    ) -> tuple[list[tuple[bytes, str]], list[bytes], int]:
        """Return the links to take as (key, anchor), the keys of the new ones, and the first index left."""
        keys = list(map(self._keys.__getitem__, [url for url, _ in links]))
        self._count("links_out_of_scope", keys.count(_OUTSIDE))
        unknown = self._unknown(keys)
        new: list[bytes] = []
        found: list[tuple[bytes, str]] = []
        left = suspects = 0
        for index, (key, (url, anchor)) in enumerate(zip(keys, links, strict=True)):
            if key == _OUTSIDE:
                continue
            if key in unknown:
                if index < begin:
                    continue
                is_suspect = not is_safe(url)
                is_over = is_suspect and suspects >= self._settings.max_new_urls_per_page
                left = left or (index if is_over else 0)
                if is_over or self._sites.admit(url):
                    self._count("links_over_limit", 1)
                    continue
                suspects += is_suspect
                new.append(key)
            found.append((key, anchor))
        return found, new, left

    def _unknown(self, keys: Iterable[bytes]) -> set[bytes]:
        """Return the keys in scope that the task does not know."""
        asked = [key for key in keys if key not in self._met and key != _OUTSIDE]
        if not asked:
            return set()
        known = set(compress(asked, self._known.contains(asked)))
        if len(self._met) + len(known) > _REMEMBERED:
            self._met.clear()
        self._met |= known
        return {key for key in asked if key not in known}


class _Keys(dict[str, bytes]):
    """The WebDB keys of URLs, _OUTSIDE of a URL that is out of scope; it is emptied when it is full."""

    def __init__(self, find: Callable[[str], bytes]) -> None:
        self._find = find

    def __missing__(self, url: str) -> bytes:
        found = self._find(url)
        if len(url) <= _REMEMBERED_CHARS:
            if len(self) >= _REMEMBERED:
                self.clear()
            self[url] = found
        return found
