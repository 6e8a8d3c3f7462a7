"""RuleSet: the settings `search.*` of a crawl as queries use them, and how their texts are read.

A rule names a query by its words, in any order and case. Targets are parsed in rule_targets.py; a query does
not import it, because importing the parser of URLs takes longer than the query.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.errors import ConfigError
from crawlctl.pipeline.text.words.tokens import tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    Words = tuple[str, ...]
    Synonyms = Mapping[Words, tuple[Words, ...]]  # from the words that are typed to their synonyms

ALL_QUERIES = "*"  # the key of blocks that hold for every query
MAX_PHRASE = 8  # the most words of a synonym

PAGE = "url:"  # a target with this prefix is one page
_ONE_WAY = "=>"
_BOTH_WAYS = "="


class RuleSet(msgspec.Struct, frozen=True):
    """The rules as they are written in the settings; it has the same fields as SearchSettings."""

    synonyms: tuple[str, ...] = ()
    pins: dict[str, tuple[str, ...]] = {}
    blocks: dict[str, tuple[str, ...]] = {}
    boosts: dict[str, float] = {}

    def targets(self) -> set[str]:
        """Return the texts of all targets whose documents are looked up; a pin is a target of one page."""
        pinned = {PAGE + url for urls in self.pins.values() for url in urls}
        return {target for some in self.blocks.values() for target in some} | {*self.boosts} | pinned


def page_target(url: str) -> str:
    """Return the target that stands for one page."""
    return PAGE + url


def query_key(words: Iterable[str]) -> Words:
    """Return the key of a query in rules: its words, sorted."""
    return tuple(sorted(words))


def words_in(text: str) -> Words:
    """Return the words of a text as the index has them."""
    return tuple(tokens(text))


def read_synonyms(lines: Iterable[str]) -> dict[Words, tuple[Words, ...]]:
    """Return the synonyms of words, read from lines such as `postgres = postgresql`, `js => javascript`."""
    found: dict[Words, dict[Words, None]] = {}
    for line in lines:
        for left, right in _pairs(line):
            found.setdefault(left, {})[right] = None
    return {left: tuple(rights) for left, rights in found.items()}


def _pairs(line: str) -> Iterator[tuple[Words, Words]]:
    """Yield pairs: a word or phrase, and a synonym that may stand for it."""
    first, is_one_way, second = line.partition(_ONE_WAY)
    left = [words_in(part) for part in first.split(_BOTH_WAYS)]
    right = [words_in(part) for part in second.split(_BOTH_WAYS)] if is_one_way else left
    if not all((*left, *right)) or (not is_one_way and len(left) < 2):
        raise ConfigError(
            f"search.synonyms: {line!r} does not name two words or phrases; write postgres = postgresql "
            "(both stand for each other) or js => javascript (only the second stands for the first)"
        )
    if max(map(len, (*left, *right))) > MAX_PHRASE:
        raise ConfigError(
            f"search.synonyms: {line!r} has a phrase of more than {MAX_PHRASE} words; shorten it"
        )
    yield from ((one, other) for one in left for other in right if one != other)
