"""The include and exclude rules of an operator, and which rule matches a URL.

Regular expressions are those of RE2. They come from the settings, but the URLs come from untrusted pages, and
with `re` one URL can take minutes. RE2 takes time linear in the length of the URL, for any expression.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from crawlctl.pipeline.errors import ConfigError, UrlError
from crawlctl.pipeline.urls.canonical import canonical
from crawlctl.pipeline.urls.hosts import host_of

if TYPE_CHECKING:
    from collections.abc import Iterable

EVERYTHING = "*"

_FORMS = (
    "write a host (example.org), the hosts below it (*.example.org), both (domain:example.org), "
    "the beginning of URLs (https://example.org/docs/), an RE2 expression (regex:…) or * for everything"
)
_NOT_IN_HOSTS = re.compile(r"[\s/?#@*\\]")
_REMEMBERED_HOSTS = 65_536


class RuleSet:
    """A list of rules; the rule that matches a host is cached."""

    def __init__(self, setting: str, rules: Iterable[str]) -> None:
        self._setting = setting
        self._hosts: dict[str, str] = {}  # each of these tables ends at the rule as the operator wrote it
        self._below: dict[str, str] = {}
        self._domains: dict[str, str] = {}
        self._prefixes: list[tuple[str, str]] = []
        self._expressions: list[tuple[Any, str]] = []
        self._remembered: dict[str, str] = {}
        self.empty = True
        for rule in rules:
            self._add(rule.strip())
            self.empty = False

    def matching(self, url: str, host: str) -> str:
        """Return the rule that matches a canonical URL, an empty string if none does."""
        rule = self._remembered.get(host)
        if rule is None:
            if len(self._remembered) >= _REMEMBERED_HOSTS:
                self._remembered.clear()
            rule = self._remembered[host] = self._for_host(host)
        return rule or self._for_url(url)

    def _for_host(self, host: str) -> str:
        name = host if host.endswith("]") else host.rpartition(":")[0] or host
        rule = self._hosts.get(host) or self._domains.get(name, "")
        while not rule and name:
            name = name.partition(".")[2]
            rule = self._below.get(name) or self._domains.get(name, "")
        return rule

    def _for_url(self, url: str) -> str:
        for prefix, rule in self._prefixes:
            if url.startswith(prefix):
                return rule
        for expression, rule in self._expressions:
            if expression.search(url):
                return rule
        return ""

    def _add(self, rule: str) -> None:
        if rule == EVERYTHING:
            self._prefixes.append(("http", rule))
        elif rule.startswith("regex:"):
            self._expressions.append((self._compile(rule), rule))
        elif rule.startswith(("http://", "https://")):
            self._prefixes.append((self._canonical(rule, rule), rule))
        elif rule.startswith("domain:"):
            self._domains[self._host(rule.removeprefix("domain:"), rule)] = rule
        elif rule.startswith("*."):
            self._below[self._host(rule.removeprefix("*."), rule)] = rule
        else:
            self._hosts[self._host(rule, rule)] = rule

    def _host(self, text: str, rule: str) -> str:
        if not text or _NOT_IN_HOSTS.search(text):
            raise self._bad(rule, "not a host name")
        return host_of(self._canonical(f"https://{text}/", rule))

    def _canonical(self, url: str, rule: str) -> str:
        try:
            return canonical(url)
        except UrlError as error:
            raise self._bad(rule, str(error)) from error

    def _compile(self, rule: str) -> Any:
        import re2

        options = re2.Options()
        options.log_errors = False
        try:
            return re2.compile(rule.removeprefix("regex:"), options)
        except re2.error as error:
            reason = error.args[0]
            reason = reason.decode() if isinstance(reason, bytes) else reason
            raise self._bad(rule, f"no RE2 expression ({reason})") from error

    def _bad(self, rule: str, why: str) -> ConfigError:
        return ConfigError(f"{self._setting}: {rule!r}: {why}; {_FORMS}")
