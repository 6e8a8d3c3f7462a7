"""The terms that a prefix or a range of numbers stands for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import QueryError
from crawlctl.pipeline.search.plan.lexicon import entry_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawlctl.pipeline.index.segment.term_info import TermPlace
    from crawlctl.pipeline.search.plan.lexicon import Entry, Lexicon

MAX_EXPANSIONS = 1024

_LOOKED_UP = 64  # numbers of a range that are looked up one by one; between them lie other terms


def terms_beginning(word: str, lexicon: Lexicon) -> tuple[str, Entry]:
    """Return the terms that begin with a word, and its own stems; and how to call them."""
    start = word.encode()
    found = _expanded(
        lexicon.range(start, _above(start)),
        f"more than {MAX_EXPANSIONS:,} different words begin with {word}; write more of its letters",
    )
    stems = [term for term in lexicon.wording.terms(word) if term not in found]
    return f"{word}*", entry_of({**found, **lexicon.find(stems)})


def numbers_between(low: int, high: int, lexicon: Lexicon) -> tuple[str, Entry]:
    """Return the numbers from `low` to `high` that the index has, written without leading zeros."""
    text = f"{low}..{high}"
    if high - low < _LOOKED_UP:
        return text, entry_of(lexicon.find(str(number).encode() for number in range(low, high + 1)))
    numbers = (
        row
        for start, stop in _spans(low, high)
        for row in lexicon.range(start, stop)
        if len(row[0]) == len(start) and row[0].isdigit()
    )
    otherwise = f"more than {MAX_EXPANSIONS:,} different numbers lie in {text}; narrow the range"
    return text, entry_of(_expanded(numbers, otherwise))


def _expanded(rows: Iterable[tuple[bytes, list[TermPlace]]], otherwise: str) -> dict[bytes, list[TermPlace]]:
    found: dict[bytes, list[TermPlace]] = {}
    for term, places in rows:
        if len(found) == MAX_EXPANSIONS:
            raise QueryError(otherwise)
        found[term] = places
    return found


def _above(prefix: bytes) -> bytes:
    """Return what comes right behind all that begins so; UTF-8 has no byte 255."""
    return prefix[:-1] + bytes((prefix[-1] + 1,))


def _spans(low: int, high: int) -> Iterator[tuple[bytes, bytes]]:
    """Yield, for each number of digits, the first number of a range and what comes behind the last."""
    for digits in range(len(str(low)), len(str(high)) + 1):
        first = max(low, 10 ** (digits - 1) if digits > 1 else 0)
        last = min(high, 10**digits - 1)
        yield str(first).encode(), _above(str(last).encode())
