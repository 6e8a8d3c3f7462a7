"""Target: the pages that a pin, a block or a boost is about, and the checks of rules when they are set.

A target is a host (`example.org`), all hosts below a domain (`*.example.org`), the beginning of URLs
(`https://example.org/docs/`), or one page (`url:https://example.org/page`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.errors import ConfigError, UrlError
from crawlctl.pipeline.search.rules.rule_set import ALL_QUERIES, PAGE, page_target, read_synonyms, words_in
from crawlctl.pipeline.text.details.site_keys import SiteKey, site_key
from crawlctl.pipeline.urls.canonical import canonical
from crawlctl.pipeline.urls.hosts import host_of

if TYPE_CHECKING:
    from crawlctl.pipeline.search.rules.rule_set import RuleSet

LEAST_BOOST, MOST_BOOST = 0.01, 100.0
MAX_RULES = 10_000  # the most rules of each kind


class Target(NamedTuple):
    """A parsed target: either the one page `url`, or all URLs that `key` matches."""

    key: SiteKey
    url: str = ""

    @property
    def exactness(self) -> tuple[bool, bool, int, int, bool]:
        """How exact the target is: if several targets match a page, the most exact target counts."""
        return bool(self.url), *self.key.exactness


def target_of(text: str) -> Target:
    """Return the parsed target; raise ConfigError if the text is not a target."""
    if not text.startswith(PAGE):
        return Target(site_key(text))
    url = text.removeprefix(PAGE).strip()
    try:
        if not url.lower().startswith(("http://", "https://")):
            raise UrlError(url)
        page = canonical(url)
    except UrlError as error:
        raise ConfigError(f"{url!r} is no URL of a page; write https://example.org/page") from error
    return Target(SiteKey("", host_of(page), "", is_domain=False), page)


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
