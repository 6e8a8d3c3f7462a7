"""Which rule of a robots.txt decides about a path: the longest pattern that matches, Allow before Disallow.

Patterns and paths are compared octet by octet (RFC 9309 §2.2.2), in a form that does not depend on who
escaped what: `%7E` is `~`, `%3A` is `:`, and a raw byte beyond ASCII is its escape.  Only the characters
that give a URL its structure keep the difference, so `/a%2Fb` is not `/a/b`.  A star or dollar sign that is
meant literally is written `%2A` or `%24` in a pattern (§2.2.3) and matches either spelling in a path.

A pattern is a row of literals between stars and is matched by looking for them from left to right, each at
its first place behind the one before.  That never backtracks, whatever a hostile site strings together.
The number of patterns with stars is bounded as well: beyond it a Disallow is cut at its first star and an
Allow left out, so that more is forbidden than was meant and never less.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_STARRED = 2_000

_STRUCTURAL = "/?#&=+%"
# hex digits → the character their escape stands for
_RAW = {f"{code:02X}": chr(code) for code in range(0x21, 0x7F) if chr(code) not in _STRUCTURAL}
_ESCAPE_OR_ODD = re.compile(r"%([0-9A-Fa-f]{2})|[^!-~]|%")
_INDEX_PAGE = re.compile(r"(.*/)index\.htm[^/]*")


class Rule(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """An Allow or Disallow line, its pattern as the site wrote it but for bytes beyond ASCII."""

    allow: bool
    pattern: str
    line: int

    def __str__(self) -> str:
        return f"{'Allow' if self.allow else 'Disallow'}: {self.pattern}"


class _Pattern(NamedTuple):
    """A pattern with stars: `head*literal*literal*tail$`, or without a tail when it may go on."""

    length: int
    rule: Rule
    head: str
    literals: tuple[str, ...]
    tail: str | None

    def matches(self, path: str) -> bool:
        if not path.startswith(self.head):
            return False
        end = len(self.head)
        for literal in self.literals:
            start = path.find(literal, end)
            if start < 0:
                return False
            end = start + len(literal)
        return self.tail is None or (len(path) - len(self.tail) >= end and path.endswith(self.tail))


class RuleIndex:
    """The rules that apply to one crawler, arranged so that the deciding one is found quickly.

    Plain prefixes, which nearly all rules are, sit in a dictionary that is asked once for each length that
    occurs; only patterns with stars are tried one by one, the longest first.
    """

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._prefixes: dict[str, Rule] = {}
        self._whole: dict[str, Rule] = {}  # patterns without a star that end in a dollar sign
        starred: dict[str, Rule] = {}
        for rule in rules:
            self._add(rule, rule.pattern, starred)
            # To readers of a site the index page is its folder; an Allow for one is meant for both.
            if rule.allow and (folder := _INDEX_PAGE.fullmatch(rule.pattern)):
                self._add(rule, folder[1] + "$", starred)
        self._lengths = sorted({len(prefix) for prefix in self._prefixes}, reverse=True)
        self._patterns = sorted(
            (_compile(text, rule) for text, rule in starred.items()),
            key=lambda pattern: (-pattern.length, not pattern.rule.allow),
        )

    def deciding(self, path: str) -> Rule | None:
        """Return the rule that decides about a path (with its query), None where no rule matches."""
        path = comparable(path)
        length, rule = self._without_star(path)
        for pattern in self._patterns:
            if pattern.length < length or (pattern.length == length and not pattern.rule.allow):
                break
            if pattern.matches(path):
                return pattern.rule
        return rule

    def _without_star(self, path: str) -> tuple[int, Rule | None]:
        if rule := self._whole.get(path):
            return len(path) + 1, rule
        for length in self._lengths:
            prefix = path[:length]
            if rule := self._prefixes.get(prefix):
                return len(prefix), rule
        return 0, None

    def _add(self, rule: Rule, text: str, starred: dict[str, Rule]) -> None:
        if "*" in text and len(starred) >= MAX_STARRED and text not in starred:
            if not rule.allow:
                _keep(self._prefixes, comparable(text[: text.index("*")]), rule)
        elif "*" in text:
            _keep(starred, text, rule)
        elif text.endswith("$"):
            _keep(self._whole, comparable(text[:-1]), rule)
        else:
            _keep(self._prefixes, comparable(text), rule)


def _keep(rules: dict[str, Rule], key: str, rule: Rule) -> None:
    if key not in rules or (rule.allow and not rules[key].allow):
        rules[key] = rule


def _compile(text: str, rule: Rule) -> _Pattern:
    head, *literals = [comparable(literal) for literal in text.removesuffix("$").split("*")]
    length = len(head) + sum(map(len, literals)) + text.count("*") + text.endswith("$")
    tail = literals.pop() if text.endswith("$") else None
    return _Pattern(length, rule, head, tuple(filter(None, literals)), tail)


def comparable(text: str) -> str:
    """Return a path or literal in the form in which they are compared; a character stands for an octet."""
    return _ESCAPE_OR_ODD.sub(_normalise, text) if _ESCAPE_OR_ODD.search(text) else text


def _normalise(match: re.Match[str]) -> str:
    digits = match[1]
    if digits is None:
        return f"%{ord(match[0]):02X}"
    digits = digits.upper()
    return _RAW.get(digits) or f"%{digits}"
