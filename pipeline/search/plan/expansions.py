"""The terms that a prefix such as `run*` or a range of numbers such as `1990..1999` stands for."""

from __future__ import annotations

from heapq import nlargest
from itertools import islice
from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.errors import QueryError
from crawlctl.pipeline.search.plan.lexicon import OLDER_PAGES, entry_of, prefix_end
from crawlctl.pipeline.text.words.stems import is_form, stem_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawlctl.pipeline.index.segment.term_info import TermInfo
    from crawlctl.pipeline.search.plan.lexicon import Entry, Lexicon

    Row = tuple[bytes, list[TermInfo]]

MAX_EXPANSIONS = 1024  # the most terms per prefix or range

_MAX_LOOKED_AT = 20_000  # the most terms read per prefix; reading this many takes a tenth of a second
_CUT = "more than {:,} words begin with {}; searched for those on the most pages; write more of its letters"

# A range of fewer numbers is looked up number by number, because other terms lie between them.
_LOOKED_UP = 64


def prefix_entry(prefix: str, lexicon: Lexicon) -> Entry:
    """Return the entry of all words (as written) that begin with a prefix; if too many, the most frequent.

    In segments of older versions, which have no such terms, it has the stems that begin so, and those of the
    prefix itself. Words as they are written have no positions (index/fields.py).
    """
    rows = list(islice(lexicon.beginning_with(prefix.encode()), _MAX_LOOKED_AT + 1))
    is_cut = len(rows) > _MAX_LOOKED_AT
    written = dict(_written(rows, lexicon.without_forms))
    if lexicon.without_forms:
        for term, infos in lexicon.find(lexicon.words.terms(prefix)).items():
            older = [info for info in infos if info.segment in lexicon.without_forms]
            written[term] = list(dict.fromkeys((*written.get(term, ()), *older)))
    if len(written) > MAX_EXPANSIONS:
        is_cut = True
        most = nlargest(MAX_EXPANSIONS, written.items(), key=lambda row: sum(info.count for info in row[1]))
        written = dict(sorted(most))
    notices = [_CUT.format(MAX_EXPANSIONS, prefix)] if is_cut else []
    notices += [OLDER_PAGES] if lexicon.without_forms else []
    placed = entry_of({term: infos for term, infos in written.items() if not is_form(term)})
    return msgspec.structs.replace(entry_of(written), notice="; ".join(notices), placed=placed)


def _written(rows: Iterable[Row], without_forms: frozenset[int]) -> Iterator[Row]:
    """Yield the terms that are words as they are written, and of other terms what older segments have."""
    for term, infos in rows:
        stem = stem_in(term)
        if is_form(term) or stem == term or not stem.decode("utf-8", "replace").isalpha():
            yield term, infos
        elif older := [info for info in infos if info.segment in without_forms]:
            yield term, older


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
