"""What a segment keeps of its documents beside their words: records and links as they were, and sketches."""

from __future__ import annotations

import os
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.formats.paged_file import PageWriter
from crawlctl.pipeline.formats.sequencefile.block_body import StoredBlock
from crawlctl.pipeline.formats.sequencefile.mapfile import MapFileWriter
from crawlctl.pipeline.formats.sequencefile.sequencefile import SequenceFileWriter
from crawlctl.pipeline.formats.sequencefile.writables import LONG, pack_long
from crawlctl.pipeline.index.runs.run_files import DOCS_BLOCK_BYTES, file_entry
from crawlctl.pipeline.index.segment.segment_files import DOCS_DATA, DOCS_INDEX, IN_PAGES, LINKS, SKETCHES
from crawlctl.pipeline.state.kinds import DOCS, SEGMENTS
from crawlctl.pipeline.state.layout import KIND_KEY
from crawlctl.pipeline.text.likeness.fingerprint import SKETCH_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from crawlctl.pipeline.index.merge.sources import Source, Values
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store

    Members = Sequence[
        tuple[Source, NDArray[np.int32]]
    ]  # sources, and the new ordinal of each document or -1

_LINKS_BLOCK_BYTES = 256 << 10
_COPIED_AT_ONCE = 1 << 20


def copy_docs(
    store: Store, name: str, partition: int, members: Members, documents: int
) -> tuple[NDArray[np.uint32], tuple[FileEntry, ...]]:
    """Write the records of the documents as they come; return the place of each by ordinal."""
    places = np.zeros(documents, np.uint32)
    with (
        store.write(f"{name}/{DOCS_DATA}") as data,
        store.write(f"{name}/{DOCS_INDEX}") as index,
        MapFileWriter(
            data, index, key_class=LONG, metadata={KIND_KEY: DOCS}, block_bytes=DOCS_BLOCK_BYTES
        ) as docs,
    ):
        for ordinals, values in _kept((source.docs(), new) for source, new in members):
            first = docs.records
            places[ordinals] = np.arange(first, first + len(ordinals))
            _add(docs, first, values)
    entries = (
        file_entry(data, SEGMENTS, partition, docs.records),
        file_entry(index, SEGMENTS, partition),
    )
    return places, entries


def copy_links(store: Store, name: str, partition: int, members: Members) -> FileEntry:
    """Write the links of the documents, in the same order as their records."""
    with (
        store.write(f"{name}/{LINKS}") as sink,
        SequenceFileWriter(
            sink, key_class=LONG, metadata={KIND_KEY: LINKS}, block_bytes=_LINKS_BLOCK_BYTES
        ) as links,
    ):
        for _, values in _kept((source.links(), new) for source, new in members):
            _add(links, links.records, values)
    return file_entry(sink, SEGMENTS, partition, links.records)


def copy_sketches(store: Store, name: str, partition: int, members: Members, documents: int) -> FileEntry:
    """Write the sketches by ordinal; they come in another order, so they meet on disk first."""
    with TemporaryFile() as file, store.write(f"{name}/{SKETCHES}") as sink, PageWriter(sink) as pages:
        file.truncate(documents * SKETCH_BYTES)
        for ordinals, values in _kept((source.sketches(), new) for source, new in members):
            for ordinal, value in zip(ordinals.tolist(), _unpacked(values), strict=True):
                os.pwrite(file.fileno(), value, ordinal * SKETCH_BYTES)
        while chunk := file.read(_COPIED_AT_ONCE):
            pages.write(chunk)
    return file_entry(sink, SEGMENTS, partition, documents, dict(IN_PAGES))


def _add(writer: MapFileWriter | SequenceFileWriter, first: int, values: list[bytes] | StoredBlock) -> None:
    """Add values under the next places; a whole block is copied without being inflated."""
    if isinstance(values, StoredBlock):
        writer.copy([pack_long(place) for place in range(first, first + len(values.keys))], values)
    else:
        writer.extend([pack_long(place) for place in range(first, first + len(values))], values)


def _unpacked(values: list[bytes] | StoredBlock) -> list[bytes]:
    return values.values() if isinstance(values, StoredBlock) else values


def _kept(
    members: Iterable[tuple[Values, NDArray[np.int32]]],
) -> Iterator[tuple[NDArray[np.int32], list[bytes] | StoredBlock]]:
    """Yield new ordinals and values of the documents that go into the segment."""
    for blocks, new in members:
        for old, values in blocks:
            ordinals = new[old]
            stay = np.flatnonzero(ordinals >= 0)
            if len(stay) == len(ordinals):
                yield ordinals, values
            elif len(stay):
                held = _unpacked(values)
                yield ordinals[stay], [held[place] for place in stay.tolist()]
