"""Folds near-duplicate documents: of each duplicate group only the best document is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlctl.pipeline.search.evaluate.matches import Matches, Ranked
    from crawlctl.pipeline.search.open.searcher import Searcher


class Folded(NamedTuple):
    """A document, and the number of other documents of its duplicate group that match too."""

    ranked: Ranked
    similar: int


class Folding:
    """Folds the documents of one answer; it remembers the groups that were returned."""

    def __init__(self, searcher: Searcher) -> None:
        self._searcher = searcher
        self._seen: set[int] = set()

    def first(self, matches: Matches, count: int, ranking: Callable[[int], list[Ranked]]) -> list[Folded]:
        """Return the first `count` documents of a ranking, without documents whose group was returned before.

        `ranking(n)` returns the first n documents that match.
        """
        if not self._searcher.groups:
            return [Folded(ranked, 0) for ranked in ranking(count)]
        asked = count
        while True:
            ranking_so_far = ranking(asked)
            kept, seen = self._unfolded(ranking_so_far)
            if len(kept) >= count or len(ranking_so_far) < asked:
                break
            asked *= 2
        self._seen |= seen
        return [Folded(ranked, self._similar(ranked.document, matches)) for ranked in kept[:count]]

    def _unfolded(self, ranking: list[Ranked]) -> tuple[list[Ranked], set[int]]:
        kept, seen = [], set(self._seen)
        group_of = self._searcher.groups.group_of
        for ranked in ranking:
            group = group_of(ranked.document)
            if group is None or group not in seen:
                kept.append(ranked)
            if group is not None:
                seen.add(group)
        return kept, seen

    def _similar(self, document: int, matches: Matches) -> int:
        group = self._searcher.groups.group_of(document)
        return 0 if group is None else matches.count(self._searcher.groups.members(group)) - 1
