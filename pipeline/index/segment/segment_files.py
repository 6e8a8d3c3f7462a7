"""The files of a segment, the immutable part of the index that queries read.

    segments/<partition>/<round>-<attempt>/docs/data, docs/index     row → DocRecord
    segments/<partition>/<round>-<attempt>/links                     row → links
    segments/<partition>/<round>-<attempt>/terms/data, terms/index   term → term info (term_info.py)
    segments/<partition>/<round>-<attempt>/postings                  lists end to end, in the order of terms
    segments/<partition>/<round>-<attempt>/columns                   numbers by ordinal (columns.py)
    segments/<partition>/<round>-<attempt>/sketches                  SKETCH_BYTES per ordinal, for duplicates
    segments/<partition>/<round>-<attempt>/titles                    titles and headings (title_table.py)

Postings, columns and sketches lie in pages with checksums (paged_file.py); a counter in the manifest says so.
In older segments they lie without pages. Older segments and frontier segments have no titles.

Ordinals follow the order of the WebDB, by host and URL. So the documents of a host are one range, and a merge
meets documents and pages in the same order. Documents and links lie in the order in which a merge reads them,
since it copies them block by block; the column `rows` leads from the ordinal of a document to its row there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.errors import StoreError
from crawlctl.pipeline.formats.paged_file import PAGE_BYTES, PagedSource
from crawlctl.pipeline.index.fields import INDEXED_FIELDS, WORDS
from crawlctl.pipeline.state.entry_source import EntrySource
from crawlctl.pipeline.state.kinds import SEGMENTS
from crawlctl.pipeline.state.layout import data_name
from crawlctl.pipeline.state.manifest import FileEntry

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlctl.pipeline.formats.source import RangedSource
    from crawlctl.pipeline.store.base import Store

DOCS_DATA = "docs/data"
DOCS_INDEX = "docs/index"
LINKS = "links"
TERMS_DATA = "terms/data"
TERMS_INDEX = "terms/index"
POSTINGS = "postings"
COLUMNS = "columns"
SKETCHES = "sketches"
TITLES = "titles"
SEGMENT_FILES = (DOCS_DATA, DOCS_INDEX, LINKS, TERMS_DATA, TERMS_INDEX, POSTINGS, COLUMNS, SKETCHES)

MAX_DOCUMENTS = 1 << 20
MILLI = 1000  # averages are counted in thousandths of a word

IN_PAGES = {"page_bytes": PAGE_BYTES}  # the counter of a file in pages

MARKED_TERMS = {"marked_terms": 1}  # the counter of columns whose segment has marks in its terms

WITH_FORMS = {"word_forms": 1}  # the counter of columns whose segment has a form of each word

_AVERAGE = "average."
_LANGUAGE = "language."


class Segment(msgspec.Struct, frozen=True, dict=True):
    """A segment as a snapshot names it; its counters are known before any file is opened."""

    name: str
    partition: int
    entries: Mapping[str, FileEntry]  # its files, by the names in SEGMENT_FILES

    @cached_property
    def documents(self) -> int:
        """The number of documents, including documents that tombstones hide."""
        return self._counters.get("documents", 0)

    @property
    def terms(self) -> int:
        """The number of different terms."""
        return self.entries[TERMS_DATA].records

    @property
    def frontier(self) -> bool:
        """Whether its documents are pages that were not fetched yet."""
        return bool(self._counters.get("frontier", 0))

    @property
    def words(self) -> tuple[int, ...]:
        """The number of words of each field, in the order of INDEXED_FIELDS."""
        return tuple(self._counters.get(WORDS + field, 0) for field in INDEXED_FIELDS)

    @property
    def averages(self) -> tuple[float, ...]:
        """The average field lengths that the impacts in this segment were computed with."""
        return tuple(self._counters.get(_AVERAGE + field, 0) / MILLI for field in INDEXED_FIELDS)

    @property
    def languages(self) -> dict[str, int]:
        """The number of documents by language; the empty code stands for an unknown language."""
        found = (item for item in self._counters.items() if item[0].startswith(_LANGUAGE))
        return {name.removeprefix(_LANGUAGE): count for name, count in found}

    @property
    def has_marks(self) -> bool:
        """Whether its terms are marked with their language (text/words/stems.py); not in older segments."""
        return bool(self._counters.get("marked_terms", 0))

    @property
    def has_forms(self) -> bool:
        """Whether words as they are written are terms (text/words/stems.py); not in older segments."""
        return bool(self._counters.get("word_forms", 0))

    @property
    def bytes(self) -> int:
        """The size of all its files in bytes."""
        return sum(entry.bytes for entry in self.entries.values())

    @property
    def _counters(self) -> dict[str, int]:
        return self.entries[COLUMNS].counters

    def open(self, store: Store, file: str) -> RangedSource:
        """Return one of its files for ranged reads."""
        return self.checked(EntrySource(store, self.entries[file]), file)

    def held_open(self, store: Store, file: str) -> RangedSource:
        """Return one of its files for many ranged reads; a local file stays open."""
        return self.checked(store.open(self.entries[file].name), file)

    def checked(self, source: RangedSource, file: str) -> RangedSource:
        """Return an open file of the segment so that reads check its pages, if it has pages."""
        page_bytes = self.entries[file].counters.get("page_bytes")
        return PagedSource(source, page_bytes) if page_bytes else source


def segment_name(partition: int, round_number: int) -> str:
    """Return a name for a new segment."""
    return data_name(SEGMENTS, partition, round_number)


def counters_of(
    documents: int,
    words: Iterable[int],
    averages: Iterable[float],
    languages: Mapping[str, int],
    *,
    frontier: bool = False,
    forms: bool = True,
) -> dict[str, int]:
    """Return the counters that the entry of the columns carries."""
    return {
        "documents": documents,
        "frontier": int(frontier),
        **MARKED_TERMS,
        **(WITH_FORMS if forms else {}),
        **{WORDS + field: count for field, count in zip(INDEXED_FIELDS, words, strict=True)},
        **{
            _AVERAGE + field: round(MILLI * mean)
            for field, mean in zip(INDEXED_FIELDS, averages, strict=True)
        },
        **{_LANGUAGE + language: count for language, count in sorted(languages.items())},
    }


def segments_of(entries: Iterable[FileEntry]) -> list[Segment]:
    """Return the segments among the files of a manifest or snapshot, in the order of their names."""
    found: defaultdict[str, dict[str, FileEntry]] = defaultdict(dict)
    for entry in entries:
        if entry.kind == SEGMENTS:
            name, file = _split(entry.name)
            found[name][file] = entry
    return [_segment(name, found[name]) for name in sorted(found)]


def _split(name: str) -> tuple[str, str]:
    kind, partition, attempt, file = (name.split("/", 3) + [""] * 3)[:4]
    return f"{kind}/{partition}/{attempt}", file


def _segment(name: str, files: dict[str, FileEntry]) -> Segment:
    if strays := set(SEGMENT_FILES).symmetric_difference(files.keys() - {TITLES}):
        raise StoreError(
            f"{name}/{min(strays)} is missing in the snapshot, or does not belong there; "
            "`crawlctl check --repair` rebuilds the segment"
        )
    return Segment(name, files[COLUMNS].partition, files)
