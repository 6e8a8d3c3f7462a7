"""RuleSet: the setting `search` of a crawl as queries use it, and how its texts are read.

A target is a host (`example.org`), all hosts below a domain (`*.example.org`), the beginning of URLs
(`https://example.org/docs/`), or one page (`url:https://example.org/page`). A query is known by its words, in
any order and in any case.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from crawlctl.pipeline.errors import ConfigError, UrlError
from crawlctl.pipeline.text.details.site_keys import SiteKey, site_key
from crawlctl.pipeline.text.words.tokens import tokens
from crawlctl.pipeline.urls.canonical import canonical
from crawlctl.pipeline.urls.hosts import host_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    Words = tuple[str, ...]
    Synonyms = Mapping[Words, tuple[Words, ...]]  # the words or phrases that may stand for some words

ALL_QUERIES = "*"  # the key of blocks that hold for every query
LEAST_BOOST, MOST_BOOST = 0.01, 100.0
MAX_RULES = 10_000  # of one kind
MAX_PHRASE = 8  # words of a synonym

_PAGE = "url:"
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
        pinned = {_PAGE + url for urls in self.pins.values() for url in urls}
        return {target for some in self.blocks.values() for target in some} | {*self.boosts} | pinned


class Target(NamedTuple):
    """A target taken apart: the page `url`, or the URLs that `key` matches."""

    key: SiteKey
    url: str = ""

    @property
    def exactness(self) -> tuple[bool, bool, int, int, bool]:
        """How exact the target is: of several that match a page, the greatest counts."""
        return bool(self.url), *self.key.exactness


def target_of(text: str) -> Target:
    """Return a target taken apart; raise ConfigError if the text is none."""
    if not text.startswith(_PAGE):
        return Target(site_key(text))
    url = text.removeprefix(_PAGE).strip()
    try:
        if not url.lower().startswith(("http://", "https://")):
            raise UrlError(url)
        page = canonical(url)
    except UrlError as error:
        raise ConfigError(f"{url!r} is no URL of a page; write https://example.org/page") from error
    return Target(SiteKey("", host_of(page), "", is_domain=False), page)


def page_target(url: str) -> str:
    """Return the target that stands for one page."""
    return _PAGE + url


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


def check_rules(rules: RuleSet) -> None:
    """Raise ConfigError for the first rule that cannot be used; the message says how to write it."""
    for name, some in (("synonyms", rules.synonyms), ("pins", rules.pins), ("blocks", rules.blocks)):
        _require(len(some) <= MAX_RULES, f"search.{name}", f"has more than {MAX_RULES:,} rules; remove some")
    read_synonyms(rules.synonyms)
    for query, urls in rules.pins.items():
        _check_query("search.pins", query, words_in(query))
        for url in urls:
            _check_target("search.pins", page_target(url))
    for query, targets in rules.blocks.items():
        _check_query("search.blocks", query, words_in(query) or query == ALL_QUERIES)
        for target in targets:
            _check_target("search.blocks", target)
    for target, factor in rules.boosts.items():
        _check_target("search.boosts", target)
        _require(
            LEAST_BOOST <= factor <= MOST_BOOST,
            "search.boosts",
            f"has the factor {factor:g} for {target!r}; write a number from {LEAST_BOOST} to {MOST_BOOST:g}, "
            "such as 1.5; to hide pages, use search.blocks",
        )


def _check_query(setting: str, query: str, has_words: object) -> None:
    star = f", or {ALL_QUERIES!r} for all queries" if setting == "search.blocks" else ""
    _require(has_words, setting, f"has {query!r} as a query, which has no word; write its words{star}")


def _check_target(setting: str, target: str) -> None:
    try:
        target_of(target)
    except ConfigError as error:
        raise ConfigError(f"{setting}: {str(error).removeprefix('sites: ')}") from error


def _require(holds: object, setting: str, rule: str) -> None:
    if not holds:
        raise ConfigError(f"{setting} {rule}")
