"""The anchors of the documents of a new segment, inverted: one more source of its postings.

An anchor is a field of its own to the page it names. It is cut into words in the language of that page. What
exceeds the memory goes to disk as posting lists, and comes back from there as a source by itself.
"""

from __future__ import annotations

from tempfile import TemporaryFile
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from crawlctl.pipeline.formats.sequencefile.sequencefile import SequenceFileReader, SequenceFileWriter
from crawlctl.pipeline.index.building.batch_words import field_ends, field_starts
from crawlctl.pipeline.index.building.occurrences import grouped
from crawlctl.pipeline.index.building.vocabulary import (
    BREAK,
    BREAK_NUMBER,
    FIELD_END,
    FIRST_TERM,
    Vocabulary,
)
from crawlctl.pipeline.index.fields import ANCHOR, OFFSET_BITS, POSITION_BITS
from crawlctl.pipeline.index.merge.posting_merge import DOCUMENT_BITS, MAX_TERMS, TERM_SHIFT
from crawlctl.pipeline.index.runs.posting_slices import decode_slice, encode_slice
from crawlctl.pipeline.index.runs.run_files import MAX_POSTINGS_BLOCK_BYTES
from crawlctl.pipeline.index.segment.segment_files import MAX_DOCUMENTS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from crawlctl.pipeline.index.building.vocabulary import Numbers
    from crawlctl.pipeline.index.merge.sources import Slices

_BATCH_BYTES = 1 << 20
_SLICE_POSITIONS = 200_000
_END = b" " + FIELD_END + b" "
_BREAK = b" " + BREAK + b" "


class AnchorWords:
    """The anchors of a segment's documents, by ordinal."""

    def __init__(self, memory: int) -> None:
        self._memory = memory
        self._waiting: dict[str, list[tuple[int, bytes]]] = {}  # by language
        self._waiting_bytes = 0
        self._vocabulary = Vocabulary()
        self._words: list[tuple[Numbers, NDArray[np.int64]]] = []  # terms, and documents with positions
        self._held = 0
        self._lengths: list[tuple[Numbers, Numbers]] = []  # ordinals and words
        self._spilled: list[BinaryIO] = []

    def add(self, ordinal: int, language: str, anchors: Iterable[str]) -> None:
        """Add the anchors of a document."""
        marked = _BREAK.join([anchor.encode("utf-8", "replace") for anchor in anchors]) + _END
        self._waiting.setdefault(language, []).append((ordinal, marked))
        self._waiting_bytes += len(marked)
        if self._waiting_bytes >= _BATCH_BYTES:
            self._cut()
            if self._held + self._vocabulary.memory > self._memory or len(self._vocabulary) > MAX_TERMS // 2:
                self._spill()

    def lengths(self, documents: int) -> NDArray[np.uint32]:
        """Return how many words the anchors of each document have."""
        self._cut()
        lengths = np.zeros(documents, np.uint32)
        for ordinals, words in self._lengths:
            lengths[ordinals] = words
        return lengths

    def sources(self) -> list[Slices]:
        """Return the postings, which are used up: one source for each part on disk and one for the rest."""
        self._cut()
        return [*map(_read_back, self._spilled), self._slices()]

    def _cut(self) -> None:
        for language, documents in self._waiting.items():
            numbers = self._vocabulary.numbers(b"".join([marked for _, marked in documents]), language)
            ends = field_ends(numbers)
            starts = field_starts(ends)
            ordinals = np.array([ordinal for ordinal, _ in documents], np.int32)
            first = ordinals.astype(np.int64) << POSITION_BITS | ANCHOR << OFFSET_BITS
            places = np.repeat(first - starts, ends - starts + 1) + np.arange(len(numbers))
            breaks = np.searchsorted(ends, np.flatnonzero(numbers == BREAK_NUMBER))
            lengths = ends - starts - np.bincount(breaks, minlength=len(ends))
            words = numbers >= FIRST_TERM
            self._words.append((numbers[words], places[words]))
            self._held += 24 * int(words.sum())  # with what sorting takes
            self._lengths.append((ordinals, lengths.astype(np.int32)))
        self._waiting, self._waiting_bytes = {}, 0

    def _slices(self) -> Slices:
        terms, places = self._vocabulary.sorted_terms()
        parts = [places[numbers].astype(np.int64) << TERM_SHIFT | found for numbers, found in self._words]
        self._words, self._held, self._vocabulary = [], 0, Vocabulary()
        if not parts:
            return
        keys = np.concatenate(parts).view(np.uint64)
        del parts
        keys.sort()
        start = 0
        while start < len(keys):
            # Terms are not cut in two.
            last = keys[min(start + _SLICE_POSITIONS, len(keys)) - 1] >> np.uint64(TERM_SHIFT)
            end = int(np.searchsorted(keys, (last + np.uint64(1)) << np.uint64(TERM_SHIFT)))
            found, lists = grouped(keys[start:end], DOCUMENT_BITS)
            yield terms.take(found), lists
            start = end

    def _spill(self) -> None:
        file = TemporaryFile()  # noqa: SIM115  # closed when the source that reads it is through
        with SequenceFileWriter(file, compression="none", max_block_bytes=MAX_POSTINGS_BLOCK_BYTES) as writer:
            for terms, lists in self._slices():
                writer.append(terms[0], encode_slice(terms, lists))
        self._spilled.append(file)


class _FileSource:
    """An open file as a source of ranged reads."""

    def __init__(self, file: BinaryIO) -> None:
        self.name = "anchors set aside"
        self.size = file.seek(0, 2)
        self._file = file

    def read(self, start: int, length: int) -> bytes:
        self._file.seek(start)
        return self._file.read(length)


def _read_back(file: BinaryIO) -> Slices:
    with file:
        reader = SequenceFileReader(_FileSource(file), max_block_bytes=MAX_POSTINGS_BLOCK_BYTES)
        for block in reader.blocks():
            for value in block.values:
                yield decode_slice(value, MAX_DOCUMENTS)
