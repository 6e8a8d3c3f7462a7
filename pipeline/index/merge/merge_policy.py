"""Decides which segments are merged with new runs: a pure function of their sizes.

Segments join the merge one after the other, the smallest first, as long as the next segment has at most
`ratio` times as many documents as the new runs and the joined segments together. So each segment that stays
has more than `ratio` times as many documents as the next smaller segment, and there are O(log n) segments.
When a document is written again, its new segment is at least (1 + 1/ratio) times as large as its old one, so
a document is written O(log n) times. A stale segment (partition.is_stale) is always written again. Limits
keep a merge within its memory; segments that would exceed them stay as they are.

Four kinds of files are merged by size, each by a function of its own, because each also has a rule that does
not hold for the others: segments have limits and may be stale; the number of layers of the dictionary has a
limit, because a look-up asks all layers (layer_policy.py); layers of the WebDB have an age, and only
neighbours may be merged (webdb/layers/layer.py); tables of captures need no other rule
(captures/capture_tiers.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Item(NamedTuple):
    """A run or segment: its name and its size."""

    name: str
    documents: int
    words: int
    stale: bool = False  # a segment to be written again, whatever its size


@dataclass(frozen=True)
class Limits:
    """The greatest size of one new segment."""

    documents: int
    words: int
    sources: int

    @classmethod
    def of_memory(cls, memory: int, documents: int) -> Limits:
        """Return the limits that keep a merge within `memory` bytes.

        The longest list of a segment has about one in 16 of its words and is handled as a whole, at some 60
        bytes per word. A slice of each source is held, which takes up to 20 MB where terms are rare.
        """
        return cls(documents, max(memory // 4, 1), max(memory // (24 << 20), 2))


class _Merge:
    """The runs and segments that go into one new segment."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.documents = 0
        self.words = 0

    def add(self, item: Item) -> None:
        self.items.append(item)
        self.documents += item.documents
        self.words += item.words

    def takes(self, item: Item, limits: Limits) -> bool:
        return not self.items or (
            self.documents + item.documents <= limits.documents
            and self.words + item.words <= limits.words
            and len(self.items) < limits.sources
        )


def plan_merges(
    runs: Iterable[Item], segments: Iterable[Item], ratio: float, limits: Limits
) -> list[tuple[Item, ...]]:
    """Return the items of each new segment; all other segments stay as they are."""
    merges = _packed(runs, limits)
    last = merges[-1] if merges else _Merge()
    stale: list[Item] = []
    growing = True
    for segment in sorted(segments, key=lambda item: (item.documents, item.name)):
        fits = last.takes(segment, limits) and last.items
        growing = growing and bool(fits) and segment.documents <= ratio * last.documents
        if growing:
            last.add(segment)
        elif segment.stale:
            stale.append(segment)
    merges += _packed(stale, limits)
    return [tuple(merge.items) for merge in merges]


def plan_full_merge(runs: Iterable[Item], segments: Iterable[Item], limits: Limits) -> list[tuple[Item, ...]]:
    """Return all items in as few new segments as the limits allow."""
    return [tuple(merge.items) for merge in _packed([*runs, *segments], limits)]


def _packed(items: Iterable[Item], limits: Limits) -> list[_Merge]:
    """Put the largest item first into the first merge it fits; return the merges, the least full one last."""
    merges: list[_Merge] = []
    for item in _by_size(items):
        merge = next((merge for merge in merges if merge.takes(item, limits)), None)
        if merge is None:
            merge = _Merge()
            merges.append(merge)
        merge.add(item)
    return sorted(merges, key=lambda merge: -merge.documents)


def _by_size(items: Iterable[Item]) -> Sequence[Item]:
    return sorted(items, key=lambda item: (-item.documents, item.name))
