"""SearchRules: the rules of an open index, by the numbers of its documents."""

from __future__ import annotations

from bisect import bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.search.rules.rule_set import (
    ALL_QUERIES,
    RuleSet,
    page_target,
    query_key,
    read_synonyms,
    words_in,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from crawlctl.pipeline.search.rules.rule_set import Synonyms, Words
    from crawlctl.pipeline.search.rules.rules_file import PlacedRules

BOOST_BITS = 10  # a factor is stored as a whole number of 1/1024


class Boost(NamedTuple):
    """Documents [start, end), the factor for their scores (in 1/1024), and the text of its rule."""

    start: int
    end: int
    factor: int
    rule: str

    def of(self, score: int) -> int:
        """Return a score with this factor; a document that matches keeps a score above 0."""
        return max(1, score * self.factor >> BOOST_BITS)


class Boosts(NamedTuple):
    """All boosts of an index, rising and apart."""

    ranges: tuple[Boost, ...]

    def find(self, document: int) -> Boost | None:
        """Return the boost of a document."""
        index = bisect_right(self.ranges, document, key=_start) - 1
        found = self.ranges[index] if index >= 0 else None
        return found if found is not None and document < found.end else None


def _start(boost: Boost) -> int:
    return boost.start


class SearchRules:
    """The synonyms, pins, blocks and boosts of one open index, parsed once and kept as long as it is open."""

    def __init__(self, placed: PlacedRules | None, segments: Sequence[str], bases: Sequence[int]) -> None:
        self._rules = placed.rules if placed is not None else RuleSet()
        places = placed.places if placed is not None else {}
        self._places = [(base, places.get(name, {})) for name, base in zip(segments, bases, strict=True)]
        self.synonyms: Synonyms = read_synonyms(self._rules.synonyms)
        self._pins = _by_words(self._rules.pins)
        self._blocks = _by_words(self._rules.blocks)
        self.boosts = Boosts(tuple(self._boosts()))
        factors = (boost.factor for boost in self.boosts.ranges)
        self.most_boost = max(1.0, max(factors, default=0) / (1 << BOOST_BITS))

    @property
    def is_empty(self) -> bool:
        """Whether there are no rules, as in most crawls."""
        return not (self.synonyms or self._pins or self._blocks or self.boosts.ranges)

    def pinned(self, words: Iterable[str]) -> tuple[int, ...]:
        """Return the documents that come first for a query of these words, in their order."""
        urls = self._pins.get(query_key(words), ()) if self._pins else ()
        found = (start for url in urls for start, _ in self._numbered(page_target(url)))
        return tuple(dict.fromkeys(found))

    def blocked(self, words: Iterable[str]) -> tuple[tuple[int, int], ...]:
        """Return the documents, as rising ranges, that are not shown for a query of these words."""
        if not self._blocks:
            return ()
        targets = (*self._blocks.get((), ()), *self._blocks.get(query_key(words), ()))
        return tuple(_joined(sorted(found for target in targets for found in self._numbered(target))))

    def _numbered(self, target: str) -> Iterator[tuple[int, int]]:
        for base, places in self._places:
            yield from ((base + start, base + end) for start, end in places.get(target, ()))

    def _boosts(self) -> Iterator[Boost]:
        """Yield the boosts; if several rules match a document, the most exact rule counts."""
        if not self._rules.boosts:
            return
        from crawlctl.pipeline.search.rules.rule_targets import target_of

        exact_first = sorted(self._rules.boosts, key=lambda one: target_of(one).exactness, reverse=True)
        ranges = {target: list(self._numbered(target)) for target in exact_first}
        cuts = sorted({cut for some in ranges.values() for one in some for cut in one})
        for start, end in pairwise(cuts):
            rule = next((target for target in exact_first if _covers(ranges[target], start)), None)
            if rule is not None:
                factor = max(1, round(self._rules.boosts[rule] * (1 << BOOST_BITS)))
                yield Boost(start, end, factor, rule)


def _by_words(rules: Mapping[str, tuple[str, ...]]) -> dict[Words, list[str]]:
    """Return the targets by the words of their queries; () stands for all queries."""
    found: dict[Words, list[str]] = {}
    for query, targets in rules.items():
        key = () if query == ALL_QUERIES else query_key(words_in(query))
        found.setdefault(key, []).extend(targets)
    return found


def _covers(ranges: Sequence[tuple[int, int]], document: int) -> bool:
    index = bisect_right(ranges, (document, 1 << 62)) - 1
    return index >= 0 and document < ranges[index][1]


def _joined(ranges: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield rising ranges without overlaps."""
    first, last = 0, 0
    for start, end in ranges:
        if start > last:
            if last > first:
                yield first, last
            first = start
        elif last == first:
            first = start
        last = max(last, end)
    if last > first:
        yield first, last
