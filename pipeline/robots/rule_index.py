"""Finds the rule of a robots.txt that decides about a path.

This is the matching rule with the longest pattern; of two matching rules with equally long patterns, the
Allow.

Nearly all rules are prefixes, and prefixes are sorted. Take the last prefix that sorts before the path. Every
prefix with which the path begins is either this prefix, or a beginning of it. So a binary search and a few
steps find the longest prefix of a path.

If there are many patterns with stars, each is listed under its rarest three characters. Only the patterns
whose three characters occur in the path are tried, the longest first.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import OrderedDict
from typing import TYPE_CHECKING

from crawlctl.pipeline.robots.packed_rules import GRAM, unpack_rules
from crawlctl.pipeline.robots.patterns import END, STAR, Rule, StarPattern, comparable, written

if TYPE_CHECKING:
    from collections.abc import Iterable

_TRIED_ONE_BY_ONE = 16
# Bytes of Python objects, measured: around a text in a list, a pattern with stars, and each of its literals.
_TEXT = 60
_PATTERN = 300
_LITERAL = 60
_INDEX = 1500


class RuleIndex:
    """The unpacked rules of one robots.txt; `memory` is the bytes they take, estimated."""

    def __init__(self, packed: bytes) -> None:
        columns = unpack_rules(packed)
        self._prefixes = _split(columns.prefixes)
        self._parents = array("i", columns.parents)
        self._whole = _split(columns.whole)
        self._starred = _split(columns.starred)
        self._compiled: list[StarPattern | None] = [None] * len(self._starred)
        self._allows = columns.allows
        self._lines = array("I", columns.lines)
        self._spelt = columns.spelt
        # Twice the length, plus one for an Allow; the rule with the greater weight decides.
        allows = columns.allows[len(self._prefixes) + len(self._whole) :]
        self._weights = [2 * len(text) + allow for text, allow in zip(self._starred, allows, strict=True)]
        self._by_gram: dict[str, list[int]] = {}
        if len(self._starred) > _TRIED_ONE_BY_ONE:
            # Patterns that are too short for three characters are listed under "".
            for number, gram in enumerate(columns.grams.split("\n")):
                self._by_gram.setdefault(gram, []).append(number)
        self.memory = self._measure(columns.starred.count(STAR), columns.spelt.values())

    def deciding(self, path: str) -> Rule | None:
        """Return the rule that decides about a path (with its query), None if no rule matches."""
        path = comparable(path)
        length, number = self._without_star(path)
        if self._starred:
            index = self._longest_starred(path, 2 * length)
            if index >= 0:
                number = len(self._prefixes) + len(self._whole) + index
        return self._rule(number) if number >= 0 else None

    def rules(self) -> list[Rule]:
        """Return the rules in the order of their lines."""
        kept = {self._rule(number) for number in range(len(self._allows))}
        return sorted(kept, key=lambda rule: (rule.line, rule.pattern))

    def _without_star(self, path: str) -> tuple[int, int]:
        """Return the length of the longest matching rule without a star, and its number or -1."""
        whole, prefixes, parents = self._whole, self._prefixes, self._parents
        if whole:
            index = bisect_left(whole, path)
            if index < len(whole) and whole[index] == path:
                return len(path) + 1, len(prefixes) + index
        number = bisect_right(prefixes, path) - 1
        while number >= 0 and not path.startswith(prefixes[number]):
            number = parents[number]
        return (len(prefixes[number]), number) if number >= 0 else (0, -1)

    def _longest_starred(self, path: str, floor: int) -> int:
        """Return the index of the first matching pattern with stars whose weight is above `floor`, or -1."""
        weights, compiled = self._weights, self._compiled
        for index in self._candidates(path) if self._by_gram else range(len(weights)):
            if weights[index] <= floor:
                break
            if (compiled[index] or self._compile(index)).matches(path):
                return index
        return -1

    def _candidates(self, path: str) -> Iterable[int]:
        by_gram = self._by_gram
        grams = {path[at : at + GRAM] for at in range(len(path) - GRAM + 1)}
        grams.add("")
        return sorted(number for gram in by_gram.keys() & grams for number in by_gram[gram])

    def _compile(self, index: int) -> StarPattern:
        pattern = self._compiled[index] = StarPattern.compile(self._starred[index])
        return pattern

    def _rule(self, number: int) -> Rule:
        spelt = self._spelt.get(number) or self._written(number)
        return Rule(bool(self._allows[number]), spelt, self._lines[number])

    def _written(self, number: int) -> str:
        for texts, end in ((self._prefixes, ""), (self._whole, END), (self._starred, "")):
            if number < len(texts):
                return written(texts[number] + end)
            number -= len(texts)
        raise IndexError(number)

    def _measure(self, stars: int, spelt: Iterable[str]) -> int:
        texts = (self._prefixes, self._whole, self._starred, spelt)
        strings = sum(_TEXT + len(text) for kind in texts for text in kind)
        return _INDEX + strings + 9 * len(self._allows) + _PATTERN * len(self._starred) + _LITERAL * stars


class IndexCache:
    """The indexes used last, by their packed rules; above `limit` bytes the oldest are dropped."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._indexes: OrderedDict[bytes, RuleIndex] = OrderedDict()
        self.memory = 0

    def __len__(self) -> int:
        return len(self._indexes)

    def get(self, packed: bytes) -> RuleIndex:
        """Return the index of packed rules."""
        index = self._indexes.get(packed)
        if index is None:
            index = self._indexes[packed] = RuleIndex(packed)
            self.memory += index.memory
            self._shrink()
        else:
            self._indexes.move_to_end(packed)
        return index

    def limit_to(self, limit: int) -> None:
        """Set the limit in bytes; the index used last is always kept."""
        self._limit = limit
        self._shrink()

    def _shrink(self) -> None:
        while self.memory > self._limit and len(self._indexes) > 1:
            self.memory -= self._indexes.popitem(last=False)[1].memory


def _split(joined: str) -> list[str]:
    return joined.split("\n") if joined else []
