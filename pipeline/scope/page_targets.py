"""Turns what a user types to name pages (a URL, a host, the beginning of URLs) into scope rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.scope.scope_rules import ONE_URL
from crawlctl.pipeline.urls.canonical import canonical
from crawlctl.pipeline.urls.hosts import host_of

if TYPE_CHECKING:
    from collections.abc import Iterable

_WEB = ("http://", "https://")


def target_rule(text: str, strip: tuple[str, ...] = ()) -> str:
    """Return the rule for a target: a URL is one page, unless it ends in / or *; other texts are rules.

    `strip` are the query parameters that the crawl removes from URLs.
    """
    target = text.strip()
    if target.startswith(ONE_URL):
        return one_url(canonical(target.removeprefix(ONE_URL), strip))
    if not target.lower().startswith(_WEB):
        return target
    if target.endswith("*"):
        return canonical(target.rstrip("*"))
    url = canonical(target, strip)
    return url if url.endswith("/") else one_url(url)


def one_url(url: str) -> str:
    """Return the rule that matches exactly this canonical URL."""
    return ONE_URL + url


def hosts_of(rules: Iterable[str]) -> frozenset[str] | None:
    """Return the hosts to which the pages of these rules belong, None if rules may match any host."""
    hosts: set[str] = set()
    for rule in rules:
        if rule.startswith((ONE_URL, *_WEB)):
            hosts.add(host_of(canonical(rule.removeprefix(ONE_URL))))
        elif rule.startswith(("*", "domain:", "regex:")):
            return None
        else:
            hosts.add(host_of(canonical(f"https://{rule}/")))
    return frozenset(hosts)
