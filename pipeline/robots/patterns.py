"""How patterns of a robots.txt are compared with paths.

Patterns and paths are compared octet by octet (RFC 9309 §2.2.2), in a form that does not depend on who
escaped what: `%7E` is `~`, `%3A` is `:`, and a raw byte beyond ASCII is its escape.  Only the characters
that give a URL its structure keep the difference, so `/a%2Fb` is not `/a/b`.  A star or dollar sign that is
meant literally is written `%2A` or `%24` in a pattern (§2.2.3) and matches either spelling in a path.

A pattern is a row of literals between stars and is matched by looking for them from left to right, each at
its first place behind the one before.  That never backtracks, whatever a hostile site strings together.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import msgspec

# In a pattern in its comparable form, whose literals are of visible ASCII alone.
STAR = "\t"
END = "\r"

_STRUCTURAL = "/?#&=+%"
# hex digits → the character their escape stands for
_RAW = {f"{code:02X}": chr(code) for code in range(0x21, 0x7F) if chr(code) not in _STRUCTURAL}
_ESCAPE_OR_ODD = re.compile(r"%([0-9A-Fa-f]{2})|[^!-~]|%")


class Rule(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """An Allow or Disallow line, its pattern as the site wrote it but for bytes beyond ASCII."""

    allow: bool
    pattern: str
    line: int

    def __str__(self) -> str:
        return f"{'Allow' if self.allow else 'Disallow'}: {self.pattern}"


class Starred(NamedTuple):
    """A pattern with stars: `head*literal*literal*tail$`, or without a tail when it may go on."""

    head: str
    literals: tuple[str, ...]
    tail: str | None

    @classmethod
    def compile(cls, pattern: str) -> Starred:
        """Return a pattern in comparable form, ready to match."""
        head, *literals = pattern.removesuffix(END).split(STAR)
        tail = literals.pop() if pattern.endswith(END) else None
        return cls(head, tuple(filter(None, literals)), tail)

    def matches(self, path: str) -> bool:
        """Tell whether a comparable path matches."""
        if not path.startswith(self.head):
            return False
        end = len(self.head)
        for literal in self.literals:
            start = path.find(literal, end)
            if start < 0:
                return False
            end = start + len(literal)
        return self.tail is None or (len(path) - len(self.tail) >= end and path.endswith(self.tail))


def comparable(text: str) -> str:
    """Return a path or literal in the form in which they are compared; a character stands for an octet."""
    return _ESCAPE_OR_ODD.sub(_normalise, text) if _ESCAPE_OR_ODD.search(text) else text


def comparable_pattern(text: str) -> str:
    """Return a pattern as it is compared, as long as it counts: `STAR` and `END` have one character each."""
    if "*" not in text and not text.endswith("$"):
        return comparable(text)
    literals = map(comparable, text.removesuffix("$").split("*"))
    return STAR.join(literals) + (END if text.endswith("$") else "")


def written(pattern: str) -> str:
    """Return a comparable pattern as a site would write it."""
    return pattern.replace(STAR, "*").replace(END, "$")


def _normalise(match: re.Match[str]) -> str:
    digits = match[1]
    if digits is None:
        return f"%{ord(match[0]):02X}"
    digits = digits.upper()
    return _RAW.get(digits) or f"%{digits}"
