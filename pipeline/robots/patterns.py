"""Compares the patterns of a robots.txt with paths.

Patterns and paths are compared byte by byte (RFC 9309 §2.2.2), in a comparable form that does not depend on
escapes: `%7E` is `~`, `%3A` is `:`, and a raw byte beyond ASCII is its escape. Only characters that structure
a URL differ from their escapes, so `/a%2Fb` is not `/a/b`. A literal star or dollar sign is written `%2A` or
`%24` in a pattern (§2.2.3) and matches both spellings in a path.

A pattern with stars is a list of literals. They are searched from left to right, each one at its first
occurrence behind the one before. This never backtracks, so no hostile pattern makes it slow.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import msgspec

# In the comparable form of a pattern. Its literals contain only visible ASCII characters.
STAR = "\t"
END = "\r"

_STRUCTURAL = "/?#&=+%"
# hex digits → the character their escape stands for
_RAW = {f"{code:02X}": chr(code) for code in range(0x21, 0x7F) if chr(code) not in _STRUCTURAL}
_ESCAPE_OR_ODD = re.compile(r"%([0-9A-Fa-f]{2})|[^!-~]|%")


class Rule(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """An Allow or Disallow line; the pattern is as the site wrote it, with bytes beyond ASCII escaped."""

    allow: bool
    pattern: str
    line: int

    def __str__(self) -> str:
        return f"{'Allow' if self.allow else 'Disallow'}: {self.pattern}"


class StarPattern(NamedTuple):
    """A pattern with stars: `head*literal*literal*ending$`; without `$` there is no ending."""

    head: str
    literals: tuple[str, ...]
    ending: str | None

    @classmethod
    def compile(cls, pattern: str) -> StarPattern:
        """Return a pattern, given in comparable form, ready to match."""
        head, *literals = pattern.removesuffix(END).split(STAR)
        ending = literals.pop() if pattern.endswith(END) else None
        return cls(head, tuple(filter(None, literals)), ending)

    def matches(self, path: str) -> bool:
        """Return whether a path, given in comparable form, matches."""
        if not path.startswith(self.head):
            return False
        end = len(self.head)
        for literal in self.literals:
            start = path.find(literal, end)
            if start < 0:
                return False
            end = start + len(literal)
        return self.ending is None or (len(path) - len(self.ending) >= end and path.endswith(self.ending))


def comparable(text: str) -> str:
    """Return a path or literal in comparable form."""
    return _ESCAPE_OR_ODD.sub(_normalise, text) if _ESCAPE_OR_ODD.search(text) else text


def comparable_pattern(text: str) -> str:
    """Return a pattern in comparable form; `STAR` and `END` count as one character each for its length."""
    if "*" not in text and not text.endswith("$"):
        return comparable(text)
    literals = map(comparable, text.removesuffix("$").split("*"))
    return STAR.join(literals) + (END if text.endswith("$") else "")


def written(pattern: str) -> str:
    """Return a pattern in comparable form as a site would write it."""
    return pattern.replace(STAR, "*").replace(END, "$")


def _normalise(match: re.Match[str]) -> str:
    digits = match[1]
    if digits is None:
        return f"%{ord(match[0]):02X}"
    digits = digits.upper()
    return _RAW.get(digits) or f"%{digits}"
