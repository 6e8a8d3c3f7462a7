"""Collects the URLs that the pages of a run link to, with their depth, score and anchor texts.

A menu links to the same URLs from every page of its site. So nearly all of the work here is to increase the
count of a known anchor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.urls.hosts import key_bounds
from crawlctl.pipeline.webdb.anchors import (
    BOILERPLATE,
    MAX_ANCHOR_CHARS,
    MAX_GATHERED,
    heaviest,
    sum_of,
    weight_of_link,
)
from crawlctl.pipeline.webdb.entries import merge_fresh
from crawlctl.pipeline.webdb.records import Fresh, earliest, encode

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

# Bytes of Python objects around a URL and around an anchor, measured.
_FIND_OVERHEAD = 340
_ANCHOR_OVERHEAD = 130
# The weights of links: from another host or from the same host, in content or in boilerplate.
_WEIGHTS = [
    [weight_of_link(is_own=own, is_boilerplate=boilerplate) for boilerplate in (False, True)]
    for own in (False, True)
]


class Origin(NamedTuple):
    """The page on which URLs were found, and the depth and score that these URLs get from it."""

    source: str
    seen: int  # UTC seconds
    depth: int
    score: float
    hops: int = 0  # redirects in a row that lead to the URL


class _Discovered:
    """One URL, with all facts about it from the pages seen so far."""

    __slots__ = ("anchors", "depth", "hops", "lastmod", "published", "score", "seen", "source")

    def __init__(self, origin: Origin) -> None:
        self.source, self.seen, self.depth, self.score, self.hops = origin
        self.anchors: dict[str, int] = {}
        self.lastmod = self.published = 0

    def see(self, origin: Origin) -> None:
        """Add the facts of another page about the URL; webdb/entries.py has the same rules for the merge."""
        source, seen, depth, score, hops = origin
        if depth <= self.depth and (depth, source) < (self.depth, self.source):
            self.depth, self.source = depth, source
        self.seen = min(self.seen, seen)
        self.score += score
        self.hops = min(self.hops, hops)

    def fact(self) -> Fresh:
        """Return all facts but the anchors, as a record."""
        return self.record((), ())

    def record(self, texts: tuple[str, ...], weights: tuple[int, ...]) -> Fresh:
        """Return all facts with some anchors, as a record."""
        return Fresh(
            *(self.seen, self.depth, self.score, texts, self.source, weights, self.hops, self.lastmod),
            self.published,
        )


class DiscoveredUrls:
    """The URLs found since the last save, by WebDB key.

    Of watched URLs the facts are kept over saves, without anchors: a task may fetch them in this round.
    """

    def __init__(self) -> None:
        self._finds: dict[bytes, _Discovered] = {}
        self._watched: dict[bytes, Fresh | None] = {}  # with what was known at the last save
        self.memory = 0  # an estimate of the bytes of memory

    def __len__(self) -> int:
        return len(self._finds)

    def __contains__(self, key: bytes) -> bool:
        return key in self._finds

    def add(
        self,
        origin: Origin,
        host: bytes,
        links: Iterable[tuple[bytes, str]],
        boilerplate: Collection[bytes] = (),
    ) -> None:
        """Add the links of a page or sitemap of `host`, each as (key, anchor); all keys are different.

        The links to the keys in `boilerplate` are in menus or other boilerplate.
        """
        finds, own = self._finds, key_bounds(host)[0]
        for key, whole_anchor in links:
            find = finds.get(key)
            if find is None:
                find = finds[key] = _Discovered(origin)
                self.memory += len(key) + _FIND_OVERHEAD
            else:
                find.see(origin)
            if not whole_anchor:
                continue
            anchor = whole_anchor[:MAX_ANCHOR_CHARS]
            weight = _WEIGHTS[key.startswith(own)][key in boilerplate]
            before = find.anchors.get(anchor)
            if before is None:
                self._add_anchor(find.anchors, anchor, weight)
            elif weight > BOILERPLATE:
                find.anchors[anchor] = sum_of(before, weight)

    def date(self, key: bytes, changed: int, published: int = 0) -> None:
        """Record when a page was changed and published by its sitemap or feed, if the URL was added."""
        find = self._finds.get(key)
        if find is not None:
            find.lastmod = max(find.lastmod, changed)
            find.published = earliest(find.published, published)

    def _add_anchor(self, anchors: dict[str, int], anchor: str, weight: int) -> None:
        self._make_room(anchors)
        anchors[anchor] = weight
        self.memory += _bytes(anchor)

    def _make_room(self, anchors: dict[str, int]) -> None:
        """Drop the rarer half of the anchors if there are too many; new anchors need time to catch up."""
        if len(anchors) < MAX_GATHERED:
            return
        kept = set(heaviest(anchors, MAX_GATHERED // 2).texts)
        for text in [text for text in anchors if text not in kept]:
            del anchors[text]
            self.memory -= _bytes(text)

    def fresh(self) -> Iterator[tuple[bytes, Fresh]]:
        """Yield the URLs with the records that the WebDB merge reads."""
        for key, find in self._finds.items():
            texts, weights = heaviest(find.anchors, MAX_GATHERED) if find.anchors else ((), ())
            yield key, find.record(texts, weights)

    def packed(self) -> dict[bytes, bytes]:
        """Return the URLs with their packed records, as they are written to the store."""
        return {key: encode(fresh) for key, fresh in self.fresh()}

    def watch(self, key: bytes, before: Fresh | None = None) -> None:
        """Keep the facts of a URL over saves, and those that an earlier attempt has saved (`before`)."""
        self._watched[key] = before

    def is_watched(self, key: bytes) -> bool:
        """Return whether a URL is watched."""
        return key in self._watched

    def facts(self, key: bytes) -> Fresh | None:
        """Return what the round has found out about a watched URL, without anchors."""
        before, find = self._watched.get(key), self._finds.get(key)
        if find is None:
            return before
        return find.fact() if before is None else merge_fresh(before, find.fact())

    def clear(self) -> None:
        """Remove all URLs; the facts of watched URLs stay."""
        for key in self._finds.keys() & self._watched.keys():
            self._watched[key] = self.facts(key)
        self._finds.clear()
        self.memory = 0


def _bytes(anchor: str) -> int:
    # CPython takes 1, 2 or 4 bytes for each character of a string, by its widest character.
    return _ANCHOR_OVERHEAD + len(anchor) * (1 if anchor.isascii() else 4)
