"""RuleSet: the setting `search` of a crawl as queries use it, and how its texts are read.

A query is known by its words, in any order and in any case. Which texts a target may have is said in
rule_targets.py, which a query does not import: to read URLs takes longer than to find a page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.errors import ConfigError
from crawlctl.pipeline.text.words.tokens import tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    Words = tuple[str, ...]
    Synonyms = Mapping[Words, tuple[Words, ...]]  # the words or phrases that may stand for some words

ALL_QUERIES = "*"  # the key of blocks that hold for every query
MAX_PHRASE = 8  # words of a synonym

PAGE = "url:"  # a target that begins so is one page
_ONE_WAY = "=>"
_BOTH_WAYS = "="


class RuleSet(msgspec.Struct, frozen=True):
    """The rules as they are set; the fields are those of SearchSettings."""

    synonyms: tuple[str, ...] = ()
    pins: dict[str, tuple[str, ...]] = {}
    blocks: dict[str, tuple[str, ...]] = {}
    boosts: dict[str, float] = {}

    def targets(self) -> set[str]:
        """Return the texts of all targets that documents are looked up for; a pin is one page."""
        pinned = {PAGE + url for urls in self.pins.values() for url in urls}
        return {target for some in self.blocks.values() for target in some} | {*self.boosts} | pinned


def page_target(url: str) -> str:
    """Return the target that stands for one page."""
    return PAGE + url


def query_key(words: Iterable[str]) -> Words:
    """Return what a query is known by: its words in an order of their own."""
    return tuple(sorted(words))


def words_in(text: str) -> Words:
    """Return the words of a text as the index has them."""
    return tuple(tokens(text))


def read_synonyms(lines: Iterable[str]) -> dict[Words, tuple[Words, ...]]:
    """Return what may stand for which words, by lines such as `postgres = postgresql`, `js => javascript`."""
    found: dict[Words, dict[Words, None]] = {}
    for line in lines:
        for left, right in _pairs(line):
            found.setdefault(left, {})[right] = None
    return {left: tuple(rights) for left, rights in found.items()}


def _pairs(line: str) -> Iterator[tuple[Words, Words]]:
    """Yield each word or phrase with each other that may stand for it."""
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
