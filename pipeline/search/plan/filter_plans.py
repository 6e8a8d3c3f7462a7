"""How filters become steps: which numbers of a column, or which keywords, a filter selects.

A filter for a value that the index does not hold yet: see CONTRIBUTING.md.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

from crawlctl.pipeline.index.keywords import field_keyword, type_keyword
from crawlctl.pipeline.index.segment.columns import pack_language
from crawlctl.pipeline.search.plan.lexicon import entry_of
from crawlctl.pipeline.search.plan.steps import ColumnRange, Keywords
from crawlctl.pipeline.search.query.filters import (
    After,
    Before,
    DocumentType,
    FieldValue,
    Language,
    day_of,
    first_second,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from crawlctl.pipeline.search.plan.lexicon import Lexicon
    from crawlctl.pipeline.search.plan.steps import Step

_LAST_SECOND = (1 << 32) - 1


class FilteredIndex(Protocol):
    """The interface of an open index that filters use."""

    @property
    def lexicon(self) -> Lexicon:
        """The terms of words and their posting lists."""

    def fetched_numbers(self, column: str) -> Mapping[int, Sequence[int]]:
        """Return a column of all pages that were fetched, by segment."""


def _in_language(node: Language, index: FilteredIndex) -> Step:
    code = pack_language(node.code)
    return ColumnRange(node.infix(), index.fetched_numbers("languages"), code, code)


def _before(node: Before, index: FilteredIndex) -> Step:
    # 0 stands for a page without a date, which is neither before a day nor after it.
    return ColumnRange(node.infix(), index.fetched_numbers("modified"), 1, first_second(node.day) - 1)


def _after(node: After, index: FilteredIndex) -> Step:
    first = max(first_second(node.day), 1)
    return ColumnRange(node.infix(), index.fetched_numbers("modified"), first, _LAST_SECOND)


def _of_type(node: DocumentType, index: FilteredIndex) -> Step:
    return _with_keywords(node.infix(), (type_keyword(node.name),), index)


def _with_value(node: FieldValue, index: FilteredIndex) -> Step:
    return _with_keywords(
        node.infix(), (field_keyword(node.name, value) for value in _values(node.value)), index
    )


def _values(text: str) -> Iterable[str | float]:
    """Yield the values that a text may stand for: itself, a number, the first second of a day.

    Fields of the kind `number` and `date` are indexed as numbers.
    """
    yield text
    try:
        yield float(text)
    except ValueError:
        with suppress(ValueError):
            yield first_second(day_of(text))


def _with_keywords(text: str, terms: Iterable[bytes], index: FilteredIndex) -> Step:
    entry = entry_of(index.lexicon.find(terms))
    return Keywords(text, entry.terms, entry.infos)


FILTER_STEPS: dict[type, Callable[[Any, FilteredIndex], Step]] = {
    Language: _in_language,
    Before: _before,
    After: _after,
    DocumentType: _of_type,
    FieldValue: _with_value,
}
