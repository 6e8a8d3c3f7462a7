"""The pages that a user names for `crawlctl forget` and `crawlctl refresh`: rules, and whether they match."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import NothingMatched
from crawlctl.pipeline.scope.page_targets import one_url, target_rule
from crawlctl.pipeline.scope.scope_rules import ONE_URL, RuleSet

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from crawlctl.pipeline.config.settings import Config
    from crawlctl.pipeline.store.base import Store

MAX_QUERY_PAGES = 10_000
_MAX_NAMED = 3


def rules_of_targets(targets: Sequence[str], config: Config) -> tuple[str, ...]:
    """Return a rule for each URL, host or beginning of URLs, as the user has typed them."""
    rules = tuple(dict.fromkeys(target_rule(target, config.urls.strip_parameters) for target in targets))
    RuleSet("the pages", rules)  # raises an error for a text that is not a rule
    return rules


def rules_of_query(text: str, store: Store) -> tuple[str, ...]:
    """Return a rule for each page that a query matches in the current snapshot."""
    from crawlctl.pipeline.search.answer.find import matching_urls
    from crawlctl.pipeline.search.open.open_index import open_index
    from crawlctl.pipeline.search.query.grammar import parse

    query = parse(text)
    searcher = open_index(store, query=query)
    try:
        urls = matching_urls(searcher, query, MAX_QUERY_PAGES + 1)
    finally:
        searcher.close()
    if not urls:
        raise NothingMatched(f"no page matches the query {text!r}; try it with `crawlctl query`")
    if len(urls) > MAX_QUERY_PAGES:
        raise NothingMatched(
            f"more than {MAX_QUERY_PAGES:,} pages match the query {text!r}, and nothing was changed; narrow "
            "the query, or name a host or the beginning of URLs instead"
        )
    return tuple(map(one_url, urls))


def require_matches(rules: Sequence[str], matched: Collection[str], advice: str) -> None:
    """Raise an error if a rule matches no known URL; the caller has changed nothing yet."""
    missing = [rule.removeprefix(ONE_URL) for rule in rules if rule not in matched]
    if missing:
        more = f" and {len(missing) - _MAX_NAMED} more" if len(missing) > _MAX_NAMED else ""
        named = ", ".join(missing[:_MAX_NAMED]) + more
        raise NothingMatched(f"the crawl knows no URL of {named}, and nothing was changed; {advice}")
