"""Folds documents that say nearly the same into the best of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crawlctl.pipeline.search.evaluate.matches import Matches, Ranked
    from crawlctl.pipeline.search.open.searcher import Searcher

_GROUP_BYTES = 8


class Folded(NamedTuple):
    """A document with the number of those that match as well and say nearly the same."""

    ranked: Ranked
    similar: int


class Folding:
    """The documents of an answer, in the order of their scores, each group once."""

    def __init__(self, index: Searcher) -> None:
        self._index = index
        self._seen: set[int] = set()

    def first(self, matches: Matches, count: int, by: Callable[[int], list[Ranked]]) -> list[Folded]:
        """Return the first `count` in the order of `by`, without those whose group was returned before."""
        if not self._index.groups:
            return [Folded(one, 0) for one in by(count)]
        asked = count
        while True:
            ranked = by(asked)
            kept, seen = self._unfolded(ranked)
            if len(kept) >= count or len(ranked) < asked:
                break
            asked *= 2
        self._seen |= seen
        return [Folded(one, self._similar(one.document, matches)) for one in kept[:count]]

    def _unfolded(self, ranked: list[Ranked]) -> tuple[list[Ranked], set[int]]:
        kept, seen = [], set(self._seen)
        for one in ranked:
            group = self._group(one.document)
            if group is None or group not in seen:
                kept.append(one)
            if group is not None:
                seen.add(group)
        return kept, seen

    def _group(self, document: int) -> int | None:
        segment, ordinal = self._index.locate(document)
        groups = self._index.groups.get(segment)
        return None if groups is None else groups.group_of(ordinal)

    def _similar(self, document: int, matches: Matches) -> int:
        group = self._group(document)
        if group is None:
            return 0
        return sum(other in matches for other in self._members(group)) - (document in matches)

    def _members(self, group: int) -> Iterator[int]:
        # Looking for the bytes of the group is done in C.
        wanted = group.to_bytes(_GROUP_BYTES, "little")
        for segment, groups in self._index.groups.items():
            at = groups.packed_groups.find(wanted)
            while at >= 0:
                place, rest = divmod(at, _GROUP_BYTES)
                if not rest:
                    yield self._index.bases[segment] + groups.ordinals[place]
                at = groups.packed_groups.find(wanted, at + 1)
