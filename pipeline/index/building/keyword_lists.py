"""KeywordLists: the posting lists of the keywords of a run, collected document by document."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.arrays.byte_strings import strings_of
from crawlctl.pipeline.index.keywords import keywords_of
from crawlctl.pipeline.index.segment.postings.posting_arrays import Lists

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.arrays.byte_strings import ByteStrings
    from crawlctl.pipeline.index.segment.stored_documents import Document

SLICE_TERMS = 10_000
_TERM_BYTES = 300  # bytes of the objects that hold a term and its list
_POSTING_BYTES = 8


class KeywordLists:
    """The ordinals of the documents that have each keyword, in memory until the run is written."""

    def __init__(self) -> None:
        self.postings = 0
        self._ordinals: dict[bytes, list[int]] = {}

    @property
    def memory(self) -> int:
        """An estimate of the bytes held."""
        return _TERM_BYTES * len(self._ordinals) + _POSTING_BYTES * self.postings

    def add(self, ordinal: int, document: Document) -> None:
        """Add the keywords of a document; ordinals rise."""
        for term in keywords_of(document):
            self._ordinals.setdefault(term, []).append(ordinal)
            self.postings += 1

    def slices(self) -> Iterator[tuple[ByteStrings, Lists]]:
        """Yield the terms in byte order with their lists; they come before the terms of all words."""
        terms = sorted(self._ordinals)
        for start in range(0, len(terms), SLICE_TERMS):
            some = terms[start : start + SLICE_TERMS]
            yield strings_of(some), _lists([self._ordinals[term] for term in some])


def _lists(ordinals: list[list[int]]) -> Lists:
    counts = np.array([len(some) for some in ordinals], np.int64)
    documents = np.array([ordinal for some in ordinals for ordinal in some], np.int32)
    return Lists(counts, documents, np.ones(len(documents), np.int32), np.zeros(len(documents), np.int32))
