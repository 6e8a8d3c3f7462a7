"""Which segments are merged with new runs: a pure function of their sizes.

A segment is taken in once it has at most `ratio` times as many documents as all that is younger. So each
that stays has more than `ratio` times those of the next younger one, which leaves O(log n) of them; and each
time a document is written again, its segment has grown by (1 + 1/ratio) at least, so that happens O(log n)
times. What is stale is written again in any case. Limits keep a merge within its memory; beyond them segments
just stay side by side.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Item(NamedTuple):
    """A run or segment: what it is called, and how large it is."""

    name: str
    documents: int
    words: int
    stale: bool = False  # a segment to be written again whatever its size


@dataclass(frozen=True)
class Limits:
    """How much one new segment may be made of."""

    documents: int
    words: int
    sources: int

    @classmethod
    def of_memory(cls, memory: int, documents: int) -> Limits:
        """Return the limits that keep a merge within so many bytes.

        The longest list of a segment has one in 16 of its words or so and is worked on as a whole, at some 60
        bytes a word. Of each source a slice is held, which takes up to 20 MB where terms are rare.
        """
        return cls(documents, max(memory // 4, 1), max(memory // (24 << 20), 2))


class _Group:
    """What goes into one new segment."""

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
    """Return what is to be merged into a new segment each; the segments in none of them stay as they are."""
    groups = _packed(runs, limits)
    last = groups[-1] if groups else _Group()
    stale: list[Item] = []
    growing = True
    for segment in sorted(segments, key=lambda item: (item.documents, item.name)):
        fits = last.takes(segment, limits) and last.items
        growing = growing and bool(fits) and segment.documents <= ratio * last.documents
        if growing:
            last.add(segment)
        elif segment.stale:
            stale.append(segment)
    groups += _packed(stale, limits)
    return [tuple(group.items) for group in groups]


def plan_full_merge(runs: Iterable[Item], segments: Iterable[Item], limits: Limits) -> list[tuple[Item, ...]]:
    """Return all there is in as few new segments as the limits allow."""
    return [tuple(group.items) for group in _packed([*runs, *segments], limits)]


def _packed(items: Iterable[Item], limits: Limits) -> list[_Group]:
    """Return groups as full as can be: the largest first, each where it fits, the least full group last."""
    groups: list[_Group] = []
    for item in _by_size(items):
        group = next((group for group in groups if group.takes(item, limits)), None)
        if group is None:
            group = _Group()
            groups.append(group)
        group.add(item)
    return sorted(groups, key=lambda group: -group.documents)


def _by_size(items: Iterable[Item]) -> Sequence[Item]:
    return sorted(items, key=lambda item: (-item.documents, item.name))
