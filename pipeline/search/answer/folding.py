"""Folds answers: of each duplicate group only the best document is shown, of each host only the best few."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.search.answer.host_limit import HostLimit

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlctl.pipeline.search.evaluate.matches import Matches, Ranked
    from crawlctl.pipeline.search.open.searcher import Searcher

    Ranking = Callable[[Matches, int], list[Ranked]]  # takes n, returns the first n documents of the matches


class Folded(NamedTuple):
    """A document of the answer, and how many other matching documents are folded into it."""

    ranked: Ranked
    similar: int  # other documents of its duplicate group that match
    # other documents of its host that match; counted only at the last document shown of the host
    more: int = 0


class Folding:
    """Folds the documents of one answer; as long as it lasts, it remembers the groups and hosts shown."""

    def __init__(self, searcher: Searcher, per_host: int = 0, pinned: frozenset[int] = frozenset()) -> None:
        self._searcher = searcher
        self._pinned = pinned  # documents that are never folded
        self._seen: set[int] = set()
        self._hosts = HostLimit(searcher.reader, per_host) if per_host else None

    def first(self, matches: Matches, count: int, ranking: Ranking) -> list[Folded]:
        """Return the first `count` documents of a ranking, without those that are folded into others."""
        if not self._searcher.groups and self._hosts is None:
            return [Folded(ranked, 0) for ranked in ranking(matches, count)]
        kept: list[Ranked] = []
        looked_at: set[int] = set()
        asked, left = count, matches
        while True:
            ranked = ranking(left, asked)
            kept += self._unfolded([one for one in ranked if one.document not in looked_at])
            if len(kept) >= count or len(ranked) < asked:
                break
            looked_at.update(one.document for one in ranked)
            left = self._hosts.rest_of(matches) if self._hosts else matches
            asked *= 2
        return self._counted(kept[:count], matches)

    def _unfolded(self, ranking: list[Ranked]) -> list[Ranked]:
        kept = []
        group_of = self._searcher.groups.group_of
        for ranked in ranking:
            group = group_of(ranked.document)
            is_new = group is None or group not in self._seen
            is_new |= ranked.document in self._pinned
            is_taken = is_new and (self._hosts is None or self._hosts.take(ranked.document))
            if is_taken or ranked.document in self._pinned:
                kept.append(ranked)
                self._seen.update(() if group is None else (group,))
        return kept

    def _counted(self, kept: list[Ranked], matches: Matches) -> list[Folded]:
        more = self._hosts.more(matches, [ranked.document for ranked in kept]) if self._hosts else {}
        return [
            Folded(ranked, self._similar(ranked.document, matches), more.get(ranked.document, 0))
            for ranked in kept
        ]

    def _similar(self, document: int, matches: Matches) -> int:
        group = self._searcher.groups.group_of(document)
        if group is None:
            return 0
        others = [member for member in self._searcher.groups.members(group) if member != document]
        return matches.count(others)
