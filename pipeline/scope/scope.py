"""Decides whether a URL belongs to the crawl, and whether it looks like a trap.

Without include rules a crawl stays on the hosts of its seeds, each with and without `www.`, because one of
the two often redirects to the other, and a crawl that stops at this redirect looks broken. We do not take
whole registrable domains: a seed at one institute would then include its whole university. An operator can
decide that in one line (`domain:example.edu`), but a crawl that has spread too far cannot be taken back.

The checks for traps look at one URL alone. Traps that only the number of their URLs shows are caught by the
budgets (url_budgets.py, host_budgets.py).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.errors import ConfigError
from crawlctl.pipeline.scope.scope_rules import RuleSet
from crawlctl.pipeline.terminal.counted import counted
from crawlctl.pipeline.urls.hosts import host_of
from crawlctl.pipeline.urls.ports import bad_port

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlctl.pipeline.config.settings import ScopeSettings

FORGOTTEN, HIDDEN = "scope.forgotten", "scope.hidden"
_BAD_PORT = "a port of another protocol"
_SESSION_VALUE = "[0-9A-Za-z%._!-]{16,}"  # shorter values are mostly numbers and names


class Exclusion(NamedTuple):
    """Why a URL is not taken: the setting that excludes it, and the reason."""

    setting: str
    why: str

    @property
    def is_final(self) -> bool:
        """Whether the user has removed the URL: then it does not matter how it came into the crawl."""
        return self.setting in (FORGOTTEN, HIDDEN)

    def __str__(self) -> str:
        return f"{self.setting}: {self.why}"


def is_of_scope(reason: str) -> bool:
    """Return whether the reason of an excluded URL is a verdict of the scope.

    Other URLs are excluded because of their content or their host, and the scope cannot change that.
    """
    return reason.startswith(("scope.", _BAD_PORT))


def is_forgotten(reason: str) -> bool:
    """Return whether the reason of an excluded URL is that the user has removed it for good."""
    return reason.startswith(f"{FORGOTTEN}:")


class Scope:
    """The scope of a crawl; `seed_hosts` count only if there are no include rules."""

    def __init__(self, settings: ScopeSettings, seed_hosts: Iterable[str] = ()) -> None:
        self._settings = settings
        self._include = RuleSet("scope.include", settings.include)
        self._exclude = RuleSet("scope.exclude", settings.exclude)
        self._removed = (RuleSet(FORGOTTEN, settings.forgotten), RuleSet(HIDDEN, settings.hidden))
        self._has_removed = bool(settings.forgotten or settings.hidden)
        self._seed_hosts = frozenset(map(_without_www, seed_hosts))
        self._skipped = frozenset(extension.lower().lstrip(".") for extension in settings.skip_extensions)
        self._session_parameter = _session_pattern(settings.session_parameters)
        self._unsuspected = min(settings.max_segment_repeats, settings.max_path_segments)

    def is_of_a_seed(self, host: str) -> bool:
        """Return whether a host is in the crawl because the operator named it as a seed."""
        return self._include.empty and _without_www(host) in self._seed_hosts

    def verdict(self, url: str, depth: int) -> Exclusion | None:
        """Return what excludes a canonical URL found `depth` links from a seed, None if nothing does."""
        limit = self._settings
        if self._has_removed and (removed := self._removal(url)):
            return removed
        if depth > limit.max_depth:
            return Exclusion(
                "scope.max_depth", f"{counted(depth, 'link')} from a seed, the limit is {limit.max_depth}"
            )
        if len(url) > limit.max_url_length:
            why = f"{len(url)} characters, the limit is {limit.max_url_length}"
            return Exclusion("scope.max_url_length", why)
        exclusion = self._rules(url)
        if exclusion is None:
            path, mark, query = url[url.index("/", 8) + 1 :].partition("?")
            exclusion = self._path(path)
            if exclusion is None and (mark or ";" in path):
                exclusion = self._query(query) or self._session(url)
        return exclusion

    def _removal(self, url: str) -> Exclusion | None:
        host = host_of(url)
        for rules in self._removed:
            if rule := rules.matching(url, host):
                return Exclusion(rules.setting, f"the rule {rule}")
        return None

    def _rules(self, url: str) -> Exclusion | None:
        host = host_of(url)
        if ":" in host and (reason := bad_port(url)):
            return Exclusion(_BAD_PORT, reason)
        if not self._exclude.empty and (rule := self._exclude.matching(url, host)):
            return Exclusion("scope.exclude", f"the rule {rule}")
        if self._include.empty:
            if self.is_of_a_seed(host):
                return None
            return Exclusion("scope.include", f"no rules are set, and {host} is not a host of the seeds")
        return None if self._include.matching(url, host) else Exclusion("scope.include", "no rule matches it")

    def _path(self, path: str) -> Exclusion | None:
        folders, _, last = path.rpartition("/")
        extension = last.rpartition(".")[2].lower() if "." in last else ""
        if extension in self._skipped:
            return Exclusion("scope.skip_extensions", f"a file of type {extension}")
        if path.count("/") < self._unsuspected:
            return None
        segments = (path if last else folders).split("/")
        limit = self._settings
        if len(segments) > limit.max_path_segments:
            why = f"{len(segments)} segments, the limit is {limit.max_path_segments}"
            return Exclusion("scope.max_path_segments", why)
        return self._repeats(segments)

    def _repeats(self, segments: list[str]) -> Exclusion | None:
        limit = self._settings.max_segment_repeats
        different = set(segments)
        if len(segments) - len(different) < limit:
            return None
        for segment in sorted(different):
            if (times := segments.count(segment)) > limit:
                why = f"/{segment}/ {times} times, the limit is {limit}"
                return Exclusion("scope.max_segment_repeats", why)
        return None

    def _query(self, query: str) -> Exclusion | None:
        limit = self._settings.max_query_parameters
        parameters = query.count("&") + 1 if query else 0
        if parameters <= limit:
            return None
        return Exclusion("scope.max_query_parameters", f"{parameters} parameters, the limit is {limit}")

    def _session(self, url: str) -> Exclusion | None:
        match = self._session_parameter.search(url) if self._session_parameter else None
        return (
            Exclusion("scope.session_parameters", f"{match[1]} is a session, not a page") if match else None
        )


def _without_www(host: str) -> str:
    return host.removeprefix("www.")


def _session_pattern(names: tuple[str, ...]) -> re.Pattern[str] | None:
    for name in names:
        if not name.strip("*") or "*" in name[:-1]:
            raise ConfigError(
                f"scope.session_parameters: {name!r} cannot name a parameter; write a whole name such as "
                "sid, or the beginning and a star, as in aspsessionid*"
            )
    if not names:
        return None
    alternatives = "|".join(re.escape(name).replace(r"\*", "[^=?&;/]*") for name in names)
    # Java servers write the session behind a semicolon in the path.
    return re.compile(f"[?&;]({alternatives})={_SESSION_VALUE}", re.IGNORECASE)
