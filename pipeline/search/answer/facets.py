"""Facets: how many of the pages that match are of each site, language, type, year and value of a field.

Sites, languages and years are columns: the time to count them grows with the number of matches. Types and
fields are keywords: their posting lists are intersected with the matches, the longest list first, until no
remaining list is long enough for one of the greatest counts. So only a few lists are read, even if a field
has many values.
"""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from crawlctl.pipeline.index.document_types import PARSED_TYPES
from crawlctl.pipeline.index.keywords import all_fields, all_types, split_keyword
from crawlctl.pipeline.index.segment.columns import unpack_language
from crawlctl.pipeline.search.answer.results import Facet, FacetCount
from crawlctl.pipeline.search.plan.lexicon import entry_of
from crawlctl.pipeline.search.plan.steps import Keywords

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from crawlctl.pipeline.index.segment.term_info import TermInfo
    from crawlctl.pipeline.search.evaluate.matches import Matches
    from crawlctl.pipeline.search.open.searcher import Searcher

    Row = tuple[bytes, list[TermInfo]]  # a keyword, and where its posting lists are stored

SHOWN = 10  # how many values of a facet are shown
MAX_KEYWORDS = 20_000  # how many keywords of all fields together are read
_FIRST_YEAR = 1970
UNKNOWN = ""  # stands for pages without a known value

_rows_of: WeakKeyDictionary[Searcher, dict[str, list[Row]]] = WeakKeyDictionary()


def facets_of(searcher: Searcher, matches: Matches, most_lists: int) -> tuple[Facet, ...]:
    """Return the facets of the pages that match: site, language, type, year, then the fields by name.

    For each field, only the `most_lists` values that the most pages have are counted.
    """
    return _Facets(searcher, np.asarray(matches.documents(), np.int64), most_lists).all()


class _Facets:
    """Counts the facets of some documents, given in rising order of their numbers."""

    def __init__(self, searcher: Searcher, documents: NDArray[np.int64], most_lists: int) -> None:
        self._searcher = searcher
        self._most_lists = most_lists
        self._reader = searcher.reader
        self._documents = documents
        self._is_match = np.zeros(self._reader.size, np.bool_)
        self._is_match[documents] = True

    def all(self) -> tuple[Facet, ...]:
        if not len(self._documents):
            return ()
        return (
            _facet("site", self._sites()),
            _facet("language", self._languages()),
            self._types(),
            _facet("year", self._years()),
            *self._fields(),
        )

    def _by_segment(self) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """Yield each segment that has matches, and their ordinals."""
        for segment, base in enumerate(self._reader.bases):
            end = base + self._reader.segments[segment].documents
            first, after = self._documents.searchsorted((base, end))
            if after > first:
                yield segment, self._documents[first:after] - base

    def _sites(self) -> Counter[str]:
        found = Counter[str]()
        for segment, ordinals in self._by_segment():
            hosts = self._reader.hosts(segment)
            indices = np.searchsorted(np.asarray(hosts.firsts), ordinals, side="right") - 1
            for number, count in _counted(indices):
                found[hosts.names[number].decode(errors="replace")] += count
        return found

    def _languages(self) -> Counter[str]:
        found = Counter[str]()
        for numbers in self._columns("languages"):
            found.update({unpack_language(number): count for number, count in _counted(numbers)})
        return found

    def _years(self) -> Counter[str]:
        found = Counter[str]()
        for seconds in self._columns("modified"):
            years = seconds.astype("datetime64[s]").astype("datetime64[Y]").astype(np.int64) + _FIRST_YEAR
            counted = _counted(np.where(seconds == 0, 0, years))
            found.update({str(year or UNKNOWN): count for year, count in counted})
        return found

    def _columns(self, name: str) -> Iterator[NDArray[np.integer]]:
        """Yield the values of the matches in a column, segment by segment; pages not fetched have a 0."""
        for segment, ordinals in self._by_segment():
            if self._reader.segments[segment].frontier:
                yield np.zeros(len(ordinals), np.int64)
            else:
                yield np.asarray(self._reader.numbers(name, segment))[ordinals]

    def _types(self) -> Facet:
        rows = self._searcher.lexicon.beginning_with(all_types())
        found = Counter({split_keyword(term)[1]: self._matches_of(term, infos) for term, infos in rows})
        known = sum(count for name, count in found.items() if name in PARSED_TYPES)
        found[UNKNOWN] = len(self._documents) - known
        return _facet("type", +found)

    def _fields(self) -> Iterator[Facet]:
        by_name = _field_rows(self._searcher)
        is_whole = sum(map(len, by_name.values())) <= MAX_KEYWORDS
        for name, rows in by_name.items():
            facet = self._field(name, rows)
            if facet.counts:
                yield facet if is_whole else Facet(facet.name, facet.counts, complete=False)

    def _field(self, name: str, rows: list[Row]) -> Facet:
        """Return the facet of a field; posting lists shorter than the least count shown are not read."""
        found = Counter[str]()
        looked_at = 0
        for term, infos in rows:
            shown = [count for _, count in found.most_common(SHOWN)]
            if looked_at == self._most_lists or (len(shown) == SHOWN and shown[-1] >= _postings(infos)):
                break
            looked_at += 1
            found[split_keyword(term)[2]] = self._matches_of(term, infos)
        facet = _facet(f"in:{name}", +found)
        return facet if looked_at == len(rows) else Facet(facet.name, facet.counts, complete=False)

    def _matches_of(self, term: bytes, infos: list[TermInfo]) -> int:
        entry = entry_of({term: infos})
        documents = self._searcher.vector_lists.of(Keywords("", entry.terms, entry.infos)).documents
        return int(np.count_nonzero(self._is_match[documents]))


def _field_rows(searcher: Searcher) -> dict[str, list[Row]]:
    """Return the keywords of each field, the longest lists first; they are read once per open index."""
    if searcher not in _rows_of:
        by_name: dict[str, list[Row]] = {}
        for term, infos in islice(searcher.lexicon.beginning_with(all_fields()), MAX_KEYWORDS + 1):
            by_name.setdefault(split_keyword(term)[1], []).append((term, infos))
        for rows in by_name.values():
            rows.sort(key=lambda row: -_postings(row[1]))
        _rows_of[searcher] = by_name
    return _rows_of[searcher]


def _counted(numbers: NDArray[np.integer]) -> Iterator[tuple[int, int]]:
    """Yield each number, and how often it occurs."""
    distinct, counts = np.unique(numbers, return_counts=True)
    yield from zip(distinct.tolist(), counts.tolist(), strict=True)


def _postings(infos: Iterable[TermInfo]) -> int:
    return sum(info.count for info in infos)


def _facet(name: str, counts: Counter[str]) -> Facet:
    """Return the facet with the values that the most pages have; pages without a value come last."""
    ordered = sorted(counts.items(), key=lambda item: (item[0] == UNKNOWN, -item[1], item[0]))
    known = [FacetCount(*item) for item in ordered if item[0] != UNKNOWN]
    unknown = [FacetCount(*item) for item in ordered if item[0] == UNKNOWN]
    return Facet(name, (*known[:SHOWN], *unknown), len(known) <= SHOWN)
