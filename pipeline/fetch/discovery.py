"""From the links of a page to the URLs the crawl takes up.

All links in scope that the crawl has heard of are passed on with their anchors; of new ones only so many a
page, in the order of the page, and only as far as the budgets of their sites go. A link is worth half of the
page it stands on, which makes a breadth-first crawl that begins at the best pages.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.net.hosts import webdb_key
from crawlctl.pipeline.webdb.merge import merge_fresh
from crawlctl.pipeline.webdb.records import MAX_ANCHOR_CHARS, Fresh

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from crawlctl.pipeline.config.scope import ScopeSettings
    from crawlctl.pipeline.fetch.known import KnownUrls
    from crawlctl.pipeline.fetch.sites import SiteBudgets
    from crawlctl.pipeline.net.scope import Scope

LINK_SHARE = 0.5
SITEMAP_SCORE = 0.5  # as if the front page linked to it
_REMEMBERED = 1 << 16  # verdicts; the pages of a site link to the same ones over and over


class Origin(NamedTuple):
    """Where URLs were found, and what that makes of them."""

    source: str
    seen: int
    depth: int
    score: float


class Discovery:
    """Judges URLs for one task; `fresh` of each call is where those taken up are gathered."""

    def __init__(
        self,
        settings: ScopeSettings,
        scope: Scope,
        sites: SiteBudgets,
        known: KnownUrls,
        count: Callable[[str, int], None],
    ) -> None:
        self._settings = settings
        self._count = count
        self._sites = sites
        self._known = known
        # Depth is judged once a page; all else depends on the URL alone.
        self._key = lru_cache(_REMEMBERED)(lambda url: None if scope.verdict(url, 0) else webdb_key(url))

    def links(self, origin: Origin, links: Sequence[tuple[str, str]], fresh: dict[bytes, Fresh]) -> None:
        """Take up the links of a page, (URL, anchor) each, all different."""
        limit = self._settings.max_new_urls_per_page
        self._take_up(origin, links, fresh, limit)

    def listed(self, origin: Origin, urls: Iterable[str], fresh: dict[bytes, Fresh]) -> None:
        """Take up what a sitemap lists or a redirect leads to."""
        self._take_up(origin, [(url, "") for url in urls], fresh, None)

    def in_scope(self, url: str) -> bool:
        """Return whether a URL belongs to the crawl, whatever its depth."""
        return self._key(url) is not None

    def _take_up(
        self, origin: Origin, links: Sequence[tuple[str, str]], fresh: dict[bytes, Fresh], limit: int | None
    ) -> None:
        if origin.depth > self._settings.max_depth:
            return
        find_key = self._key
        inside = [(key, url, anchor) for url, anchor in links if (key := find_key(url)) is not None]
        self._count("links_out_of_scope", len(links) - len(inside))
        new: list[bytes] = []
        known = self._known.contains([key for key, _, _ in inside])
        for (key, url, anchor), is_known in zip(inside, known, strict=True):
            if not is_known:
                if (limit is not None and len(new) >= limit) or self._sites.admit(url):
                    self._count("links_over_limit", 1)
                    continue
                new.append(key)
            before = fresh.get(key)
            # Most links are those of the menu, and on every page the same.
            if before is None or _tells_more(origin, anchor, before):
                fresh[key] = _found(origin, anchor, before)
        if new:
            self._known.add(new)


def _tells_more(origin: Origin, anchor: str, before: Fresh) -> bool:
    if anchor and anchor[:MAX_ANCHOR_CHARS] not in before.anchors:
        return True
    return origin.depth < before.depth or origin.score > before.score


def _found(origin: Origin, anchor: str, before: Fresh | None) -> Fresh:
    anchors = (anchor[:MAX_ANCHOR_CHARS],) if anchor else ()
    found = Fresh(origin.seen, origin.depth, origin.score, anchors, origin.source)
    return found if before is None else merge_fresh(before, found)
