"""The terms that a prefix such as `run*` or a range of numbers such as `1990..1999` stands for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import QueryError
from crawlctl.pipeline.search.plan.lexicon import entry_of, prefix_end

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawlctl.pipeline.index.segment.term_info import TermInfo
    from crawlctl.pipeline.search.plan.lexicon import Entry, Lexicon

MAX_EXPANSIONS = 1024  # terms per prefix or range

# A range of fewer numbers is looked up number by number, because other terms lie between them.
_LOOKED_UP = 64


def prefix_entry(prefix: str, lexicon: Lexicon) -> Entry:
    """Return the entry of all terms that begin with a prefix, and of its own stems."""
    found = _expanded(
        lexicon.beginning_with(prefix.encode()),
        f"more than {MAX_EXPANSIONS:,} different words begin with {prefix}; write more of its letters",
    )
    stems = [term for term in lexicon.words.terms(prefix) if term not in found]
    return entry_of({**found, **lexicon.find(stems)})


def range_entry(low: int, high: int, lexicon: Lexicon) -> Entry:
    """Return the entry of the numbers from `low` to `high` in the index, written without leading zeros."""
    if high - low < _LOOKED_UP:
        return entry_of(lexicon.find(str(number).encode() for number in range(low, high + 1)))
    numbers = (
        row
        for start, stop in _ranges_by_digits(low, high)
        for row in lexicon.range(start, stop)
        if len(row[0]) == len(start) and row[0].isdigit()
    )
    too_many = f"more than {MAX_EXPANSIONS:,} different numbers lie in {low}..{high}; narrow the range"
    return entry_of(_expanded(numbers, too_many))


def _expanded(rows: Iterable[tuple[bytes, list[TermInfo]]], too_many: str) -> dict[bytes, list[TermInfo]]:
    found: dict[bytes, list[TermInfo]] = {}
    for term, infos in rows:
        if len(found) == MAX_EXPANSIONS:
            raise QueryError(too_many)
        found[term] = infos
    return found


def _ranges_by_digits(low: int, high: int) -> Iterator[tuple[bytes, bytes]]:
    """Yield a range of terms per number of digits; it holds all numbers of that length from low to high."""
    for digits in range(len(str(low)), len(str(high)) + 1):
        first = max(low, 10 ** (digits - 1) if digits > 1 else 0)
        last = min(high, 10**digits - 1)
        yield str(first).encode(), prefix_end(str(last).encode())
