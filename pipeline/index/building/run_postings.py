"""Writes the postings of a run, a slice of terms at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.formats.sequencefile.mapfile import MapFileWriter
from crawlctl.pipeline.index.building.inversion import inverted
from crawlctl.pipeline.index.runs.posting_slices import encode_slice
from crawlctl.pipeline.index.runs.run_files import DOCUMENTS_KEY, MAX_POSTINGS_BLOCK_BYTES, file_entry
from crawlctl.pipeline.state.kinds import POSTINGS
from crawlctl.pipeline.state.layout import KIND_KEY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.arrays.byte_strings import ByteStrings
    from crawlctl.pipeline.index.building.batch_words import Words
    from crawlctl.pipeline.index.building.vocabulary import Vocabulary
    from crawlctl.pipeline.index.runs.posting_slices import Lists
    from crawlctl.pipeline.index.runs.run_files import RunFiles
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store


class RunWords(NamedTuple):
    """The words of a whole run; writing them uses up the batches."""

    documents: int
    vocabulary: Vocabulary
    batches: list[Words]


def write_postings(store: Store, files: RunFiles, partition: int, words: RunWords) -> tuple[FileEntry, ...]:
    """Write the postings of a run and return their files."""
    counters = dict.fromkeys(("terms", "postings", "positions"), 0)
    with (
        store.write(files.postings_data) as data,
        store.write(files.postings_index) as index,
        MapFileWriter(
            data,
            index,
            compression="none",
            metadata={KIND_KEY: POSTINGS, DOCUMENTS_KEY: str(words.documents)},
            max_block_bytes=MAX_POSTINGS_BLOCK_BYTES,
        ) as postings,
    ):
        for keys, lists in _slices(words):
            postings.append(keys[0], encode_slice(keys, lists))
            counters["terms"] += len(keys)
            counters["postings"] += len(lists.documents)
            counters["positions"] += len(lists.positions)
    return (
        file_entry(data, POSTINGS, partition, postings.records, counters),
        file_entry(index, POSTINGS, partition),
    )


def _slices(words: RunWords) -> Iterator[tuple[ByteStrings, Lists]]:
    """Yield terms and their lists, in the order of the file."""
    terms, places = words.vocabulary.sorted_terms()
    for found, lists in inverted(_drained(words.batches), places):
        if len(found):
            yield terms.take(found), lists


def _drained(batches: list[Words]) -> Iterator[Words]:
    """Yield the batches so that each can be freed when the next is asked for."""
    while batches:
        yield batches.pop(0)
