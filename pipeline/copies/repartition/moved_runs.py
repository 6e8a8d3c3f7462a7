"""The runs of a partition of a copy: of each that no merge has taken in yet, the documents that land here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.copies.repartition.moved_postings import moved
from crawlctl.pipeline.formats.sequencefile.block_body import StoredBlock
from crawlctl.pipeline.formats.sequencefile.mapfile import MapFileWriter
from crawlctl.pipeline.formats.sequencefile.sequencefile import SequenceFileReader, SequenceFileWriter
from crawlctl.pipeline.formats.sequencefile.writables import LONG, pack_long
from crawlctl.pipeline.index.fields import PAGE_FIELDS
from crawlctl.pipeline.index.merge.sources import RunSource
from crawlctl.pipeline.index.runs.posting_slices import encode_slice
from crawlctl.pipeline.index.runs.run_files import (
    DOCS_BLOCK_BYTES,
    DOCUMENTS_KEY,
    HEADS,
    MAX_POSTINGS_BLOCK_BYTES,
    RUN_KINDS,
    WORDS,
    file_entry,
    new_run,
    runs_of,
)
from crawlctl.pipeline.index.segment.stored_documents import decode_head
from crawlctl.pipeline.index.segment.stored_links import decode_links
from crawlctl.pipeline.state.kinds import DOCS, LINKS, POSTINGS
from crawlctl.pipeline.state.layout import KIND_KEY, round_of
from crawlctl.pipeline.urls.hosts import host_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from crawlctl.pipeline.copies.repartition.share import Share
    from crawlctl.pipeline.index.merge.sources import Values
    from crawlctl.pipeline.index.runs.run_files import RunFiles
    from crawlctl.pipeline.index.segment.stored_documents import DocHead
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store

BLOCK_BYTES = 256 << 10  # of heads and links


def move_runs(source: Store, destination: Store, share: Share) -> Iterator[FileEntry]:
    """Write the runs of a partition and yield their files."""
    for run in runs_of(share.files_of(*RUN_KINDS)):
        heads = [row for row in _heads(source, run) if share.takes(host_of(row[2].url))]
        if heads:
            yield from _Mover(source, destination, share.number, run, heads).write()


def _heads(store: Store, run: RunFiles) -> Iterator[tuple[int, bytes, DocHead]]:
    source = store.open(run.docs_heads)
    number = 0
    for block in SequenceFileReader(source).blocks():
        for value in block.values:
            yield number, value, decode_head(value, source.name, block.offset)
            number += 1


class _Mover:
    """A run on its way."""

    def __init__(
        self,
        source: Store,
        destination: Store,
        partition: int,
        run: RunFiles,
        heads: list[tuple[int, bytes, DocHead]],
    ) -> None:
        self._source = RunSource(source, run)
        self._store = destination
        self._partition = partition
        self._heads = heads
        self._files = new_run(partition, round_of(run.links))
        self._new = np.full(self._source.documents, -1, np.int32)
        self._new[[ordinal for ordinal, _, _ in heads]] = np.arange(len(heads))

    def write(self) -> Iterator[FileEntry]:
        """Write all files of the run and yield them."""
        yield from self._write_docs()
        yield self._write_heads()
        yield self._write_links()
        yield from self._write_postings()

    def _write_docs(self) -> tuple[FileEntry, FileEntry]:
        files, facts = self._files, {KIND_KEY: DOCS}
        with (
            self._store.write(files.docs_data) as data,
            self._store.write(files.docs_index) as index,
            MapFileWriter(data, index, key_class=LONG, metadata=facts, block_bytes=DOCS_BLOCK_BYTES) as docs,
        ):
            for keys, values in self._kept(self._source.docs()):
                docs.extend(keys, values)
        heads = [head for _, _, head in self._heads]
        words = {WORDS + f: sum(getattr(head.lengths, f) for head in heads) for f in PAGE_FIELDS}
        counters = {"documents": len(heads), **words}
        return (
            file_entry(data, DOCS, self._partition, docs.records, counters),
            file_entry(index, DOCS, self._partition),
        )

    def _write_heads(self) -> FileEntry:
        with (
            self._store.write(self._files.docs_heads) as sink,
            SequenceFileWriter(
                sink, key_class=LONG, metadata={KIND_KEY: HEADS}, block_bytes=BLOCK_BYTES
            ) as table,
        ):
            table.extend(_keys(range(len(self._heads))), [value for _, value, _ in self._heads])
        return file_entry(sink, DOCS, self._partition, table.records)

    def _write_links(self) -> FileEntry:
        counters = {"links": 0, "nofollow": 0}
        with (
            self._store.write(self._files.links) as sink,
            SequenceFileWriter(
                sink, key_class=LONG, metadata={KIND_KEY: LINKS}, block_bytes=BLOCK_BYTES
            ) as table,
        ):
            for keys, values in self._kept(self._source.links()):
                table.extend(keys, values)
                for links in map(decode_links, values):
                    counters["links"] += len(links.targets)
                    counters["nofollow"] += sum(links.nofollow)
        return file_entry(sink, LINKS, self._partition, table.records, counters)

    def _write_postings(self) -> tuple[FileEntry, FileEntry]:
        counters = dict.fromkeys(("terms", "postings", "positions"), 0)
        with (
            self._store.write(self._files.postings_data) as data,
            self._store.write(self._files.postings_index) as index,
            MapFileWriter(
                data,
                index,
                compression="none",
                metadata={KIND_KEY: POSTINGS, DOCUMENTS_KEY: str(len(self._heads))},
                max_block_bytes=MAX_POSTINGS_BLOCK_BYTES,
            ) as postings,
        ):
            for terms, lists in self._source.slices():
                left, _ = moved(lists, self._new)
                places = np.flatnonzero(left.counts)
                if len(places):
                    keys = terms.take(places)
                    left = left._replace(counts=left.counts[places])
                    postings.append(keys[0], encode_slice(keys, left))
                    counters["terms"] += len(keys)
                    counters["postings"] += len(left.documents)
                    counters["positions"] += len(left.positions)
        return (
            file_entry(data, POSTINGS, self._partition, postings.records, counters),
            file_entry(index, POSTINGS, self._partition),
        )

    def _kept(self, blocks: Values) -> Iterator[tuple[list[bytes], list[bytes]]]:
        """Yield the new ordinals, as keys, and the values of the documents that land here."""
        for ordinals, block in blocks:
            new = self._new[ordinals]
            stay: NDArray[np.intp] = np.flatnonzero(new >= 0)
            if len(stay):
                values = block.values() if isinstance(block, StoredBlock) else block
                yield _keys(new[stay].tolist()), [values[place] for place in stay.tolist()]


def _keys(ordinals: Iterable[int]) -> list[bytes]:
    return [pack_long(ordinal) for ordinal in ordinals]
