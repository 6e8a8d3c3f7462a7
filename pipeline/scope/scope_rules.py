"""The include and exclude rules of an operator, and which rule matches a URL.

A * in a URL stands for any characters; in the host it stands for any characters but /. A rule whose path has
a *, and that ends in neither / nor *, must match the whole URL. All other rules match the URLs that begin
like them.

Regular expressions are those of RE2. They come from the settings, but the URLs come from untrusted pages, and
with `re` one URL can take minutes. RE2 takes time linear in the length of the URL, for any expression.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from crawlctl.pipeline.errors import ConfigError, UrlError
from crawlctl.pipeline.urls.canonical import canonical
from crawlctl.pipeline.urls.hosts import host_of

if TYPE_CHECKING:
    from collections.abc import Iterable

EVERYTHING = "*"
ONE_URL = "url:"

_FORMS = (
    "write a host (example.org), the hosts below it (*.example.org), both (domain:example.org), "
    "the beginning of URLs (https://example.org/docs/), a URL with stars (https://*.example.org/*.html), "
    "one URL (url:https://example.org/page), "
    "an RE2 expression (regex:…) or * for everything"
)
_ANY_SCHEME = re.compile(r"(?:\*|http\*)://")
_PUNYCODE_STAR = re.compile(r"(?:/|\.)xn--[^./]*\*")
_NOT_IN_HOSTS = re.compile(r"[\s/?#@*\\]")
_REMEMBERED_HOSTS = 65_536


class RuleSet:
    """A list of rules; the rule that matches a host is cached."""

    def __init__(self, setting: str, rules: Iterable[str]) -> None:
        self.setting = setting
        self._hosts: dict[str, str] = {}  # each of these tables ends at the rule as the operator wrote it
        self._below: dict[str, str] = {}
        self._domains: dict[str, str] = {}
        self._urls: dict[str, str] = {}
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
        if rule := self._urls.get(url):
            return rule
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
            self._expressions.append((self._compile(rule.removeprefix("regex:"), rule), rule))
        elif rule.startswith(ONE_URL):
            self._urls[self._canonical(rule.removeprefix(ONE_URL), rule)] = rule
        elif rule.startswith("domain:"):
            self._domains[self._host(rule.removeprefix("domain:"), rule)] = rule
        elif rule.lower().startswith(("http://", "https://")):
            self._add_url(rule, rule)
        elif "/" in rule:
            self._add_both_schemes(rule)
        elif rule.startswith("*."):
            self._below[self._host(rule.removeprefix("*."), rule)] = rule
        else:
            self._hosts[self._host(rule, rule)] = rule

    def _add_both_schemes(self, rule: str) -> None:
        rest = rule[found.end() :] if (found := _ANY_SCHEME.match(rule)) else rule
        if "://" in rest.partition("?")[0] or rest.startswith("/"):
            raise self._bad(rule, "neither a host nor an http or https URL")
        self._add_url(f"http://{rest}", rule)
        self._add_url(f"https://{rest}", rule)

    def _add_url(self, url: str, rule: str) -> None:
        """Take a URL in which a * stands for any characters; without one it is the beginning of URLs."""
        star = _stand_in(url)
        pattern = self._canonical(url.replace("*", star), rule).replace(star, "*")
        host_end = pattern.index("/", len("https://"))
        host, path = pattern[:host_end], pattern[host_end:]
        if _PUNYCODE_STAR.search(host):
            raise self._bad(rule, "a * cannot stand beside letters that are not ASCII in a host")
        if host.endswith("*") and not host.endswith("//*") and "/" not in url.partition("//")[2]:
            raise self._bad(rule, f"it would match other sites too, such as {host[:-1]}.example.net")
        is_whole = "*" in path and not path.endswith(("*", "/"))
        path = path if is_whole else path.rstrip("*")
        if "*" not in host + path:
            self._prefixes.append((host + path, rule))
            return
        expression = _glob(host, "[^/]*") + _glob(path, ".*") + (r"\z" if is_whole else "")
        self._expressions.append((self._compile(f"\\A{expression}", rule), rule))

    def _host(self, text: str, rule: str) -> str:
        if not text or _NOT_IN_HOSTS.search(text):
            raise self._bad(rule, "not a host name")
        return host_of(self._canonical(f"https://{text}/", rule))

    def _canonical(self, url: str, rule: str) -> str:
        try:
            return canonical(url)
        except UrlError as error:
            raise self._bad(rule, str(error)) from error

    def _compile(self, expression: str, rule: str) -> Any:
        import re2

        options = re2.Options()
        options.log_errors = False
        try:
            return re2.compile(expression, options)
        except re2.error as error:
            reason = error.args[0]
            reason = reason.decode() if isinstance(reason, bytes) else reason
            raise self._bad(rule, f"no RE2 expression ({reason})") from error

    def _bad(self, rule: str, why: str) -> ConfigError:
        return ConfigError(f"{self.setting}: {rule!r}: {why}; {_FORMS}")


def _stand_in(url: str) -> str:
    """Return letters that stand for the * while a URL gets its canonical form.

    They are not in the URL, form no percent escape, and are the same in lower case.
    """
    stand_in = "zzq"
    while stand_in in unquote(url).lower():
        stand_in += "q"
    return stand_in


def _glob(pattern: str, star: str) -> str:
    """Return a pattern as a regular expression in which `star` stands for each *."""
    return star.join(map(re.escape, pattern.split("*")))
