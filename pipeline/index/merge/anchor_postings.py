"""Inverts the anchors of the documents of a new segment: one more source of its posting lists.

The anchors of a page are one of its fields. They are cut into words in the language of the page. When the
memory is full, posting lists are written to a temporary file, which becomes another source.
"""

from __future__ import annotations

from tempfile import TemporaryFile
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from crawlctl.pipeline.formats.sequencefile.sequencefile import SequenceFileReader, SequenceFileWriter
from crawlctl.pipeline.index.building.inversion import (
    ALL_OF_FIELD,
    BREAK_MARK,
    END_MARK,
    field_ends,
    field_lengths,
    field_starts,
    lists_of_keys,
    side_positions,
    without_repeats,
)
from crawlctl.pipeline.index.building.vocabulary import FIRST_TERM, Vocabulary
from crawlctl.pipeline.index.fields import ANCHOR, OFFSET_BITS, POSITION_BITS
from crawlctl.pipeline.index.merge.posting_merge import DOCUMENT_BITS, MAX_TERMS, TERM_SHIFT
from crawlctl.pipeline.index.runs.posting_slices import decode_slice, encode_slice
from crawlctl.pipeline.index.runs.run_files import MAX_POSTINGS_BLOCK_BYTES
from crawlctl.pipeline.index.segment.segment_files import MAX_DOCUMENTS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlctl.pipeline.arrays.array_types import Int32Array, Int64Array, UInt32Array
    from crawlctl.pipeline.index.merge.posting_merge import Slices

_BATCH_BYTES = 1 << 20
_SLICE_POSITIONS = 200_000


class AnchorWords:
    """The anchors of the documents of a new segment: as text, as numbers of terms, or in files on disk."""

    def __init__(self, memory: int) -> None:
        self._memory = memory
        self._waiting: dict[str, list[tuple[int, bytes]]] = {}  # waiting anchors by language
        self._waiting_bytes = 0
        self._vocabulary = Vocabulary()
        self._words: list[tuple[Int32Array, Int64Array]] = []  # terms, and documents with positions
        self._held = 0
        self._lengths: list[tuple[Int32Array, Int32Array]] = []  # ordinals, and their numbers of words
        self._spilled: list[BinaryIO] = []

    def add(self, ordinal: int, language: str, anchors: Iterable[str]) -> None:
        """Add the anchors of a document."""
        marked = BREAK_MARK.join([anchor.encode("utf-8", "replace") for anchor in anchors]) + END_MARK
        self._waiting.setdefault(language, []).append((ordinal, marked))
        self._waiting_bytes += len(marked)
        if self._waiting_bytes >= _BATCH_BYTES:
            self._cut()
            if self._held + self._vocabulary.memory > self._memory or len(self._vocabulary) > MAX_TERMS // 2:
                self._spill()

    def lengths(self, documents: int) -> UInt32Array:
        """Return the number of words in the anchors of each document."""
        self._cut()
        lengths = np.zeros(documents, np.uint32)
        for ordinals, words in self._lengths:
            lengths[ordinals] = words
        return lengths

    def sources(self) -> list[Slices]:
        """Return one source per file on disk and one for the rest; all of them are consumed."""
        self._cut()
        return [*map(_read_back, self._spilled), self._slices()]

    def _cut(self) -> None:
        for language, documents in self._waiting.items():
            data = b"".join([marked for _, marked in documents])
            numbers, beside = self._vocabulary.terms(data, language)
            ends = field_ends(numbers)
            starts = field_starts(ends)
            ordinals = np.array([ordinal for ordinal, _ in documents], np.int32)
            first = ordinals.astype(np.int64) << POSITION_BITS | ANCHOR << OFFSET_BITS
            positions = np.repeat(first - starts, ends - starts + 1) + np.arange(len(numbers))
            lengths = field_lengths(numbers, starts, ends)
            words = numbers >= FIRST_TERM
            self._words.append((numbers[words], positions[words]))
            places, others = side_positions(positions, beside)
            self._words.append((others, places))
            # Bytes, including those of forms and the memory for sorting.
            self._held += 48 * (int(words.sum()) + len(places))
            self._lengths.append((ordinals, lengths.astype(np.int32)))
        self._waiting, self._waiting_bytes = {}, 0

    def _slices(self) -> Slices:
        terms, ranks = self._vocabulary.sorted_terms()
        stems = self._vocabulary.stems()
        forms = stems != np.arange(len(stems))
        found = [
            ranks[stems[numbers]].astype(np.int64) << TERM_SHIFT | positions
            for numbers, positions in self._words
        ]
        found += [
            ranks[numbers[written]].astype(np.int64) << TERM_SHIFT | positions[written] & ALL_OF_FIELD
            for numbers, positions in self._words
            for written in [forms[numbers]]
        ]
        self._words, self._held, self._vocabulary = [], 0, Vocabulary()
        if not found:
            return
        keys = np.concatenate(found).view(np.uint64)
        del found
        keys.sort()
        keys = without_repeats(keys)
        start = 0
        while start < len(keys):
            # Terms are not cut in two.
            last = keys[min(start + _SLICE_POSITIONS, len(keys)) - 1] >> np.uint64(TERM_SHIFT)
            end = int(np.searchsorted(keys, (last + np.uint64(1)) << np.uint64(TERM_SHIFT)))
            chosen, lists = lists_of_keys(keys[start:end], DOCUMENT_BITS)
            yield terms.take(chosen), lists
            start = end

    def _spill(self) -> None:
        file = TemporaryFile()  # noqa: SIM115  # closed by the source that reads it
        with SequenceFileWriter(file, compression="none", max_block_bytes=MAX_POSTINGS_BLOCK_BYTES) as writer:
            for terms, lists in self._slices():
                writer.append(terms[0], encode_slice(terms, lists))
        self._spilled.append(file)


class _FileSource:
    """An open file as a source of ranged reads."""

    def __init__(self, file: BinaryIO) -> None:
        self.name = "anchors on disk"
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
