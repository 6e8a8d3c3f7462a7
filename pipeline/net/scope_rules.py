"""The rules an operator writes to say which URLs belong to a crawl.

Regular expressions are RE2's: they come from configuration, but what they are run on comes from strangers,
and `re` can be made to take minutes for a URL.  RE2 takes time linear in its length, whatever the expression.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawlctl.pipeline.errors import ConfigError, UrlError
from crawlctl.pipeline.net.urls import canonical, host_of

if TYPE_CHECKING:
    from collections.abc import Iterable

_FORMS = (
    "write example.org, *.example.org, domain:example.org, https://example.org/docs/ or regex: and an expression"
)
_KNOWN_HOSTS = 65_536


class RuleSet:
    """A list of rules; what it is asked most, which rule takes in a host, is looked up once a host."""

    def __init__(self, setting: str, rules: Iterable[str]) -> None:
        self._setting = setting
        self._hosts: dict[str, str] = {}
        self._below: dict[str, str] = {}  # names whose subdomains are meant
        self._prefixes: list[tuple[str, str]] = []
        self._expressions: list[tuple[Any, str]] = []
        self._known: dict[str, str] = {}
        for rule in rules:
            self._add(rule.strip())

    def __bool__(self) -> bool:
        return bool(self._hosts or self._below or self._prefixes or self._expressions)

    def matching(self, url: str, host: str) -> str:
        """Return the first rule that takes in a URL, host rules before others, or an empty string."""
        rule = self._known.get(host)
        if rule is None:
            rule = self._rule_for_host(host)
            if len(self._known) >= _KNOWN_HOSTS:
                self._known.clear()
            self._known[host] = rule
        return rule or self._rule_for_url(url)

    def _rule_for_host(self, host: str) -> str:
        if rule := self._hosts.get(host):
            return rule
        name = _without_port(host)
        if name.startswith("["):
            return self._below.get(f".{name}", "")
        labels = f".{name}".split(".")
        above = (".".join(["", *labels[start:]]) for start in range(1, len(labels)))
        return next((self._below[parent] for parent in above if parent in self._below), "")

    def _rule_for_url(self, url: str) -> str:
        for prefix, rule in self._prefixes:
            if url.startswith(prefix):
                return rule
        for expression, rule in self._expressions:
            if expression.search(url):
                return rule
        return ""

    def _add(self, rule: str) -> None:
        if rule.startswith("regex:"):
            self._expressions.append((self._compile(rule.removeprefix("regex:")), rule))
        elif rule.startswith(("http://", "https://")):
            self._prefixes.append((self._canonical(rule, rule), rule))
        elif rule.startswith("domain:"):
            self._below[f".{self._host(rule.removeprefix('domain:'), rule)}"] = rule
        elif rule.startswith("*."):
            self._below[self._host(rule[2:], rule)] = rule
        else:
            self._hosts[self._host(rule, rule)] = rule
