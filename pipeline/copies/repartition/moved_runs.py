"""The runs of a partition of a copy: the documents of each unmerged run of the source that land there."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.formats.sequencefile.block_body import StoredBlock
from crawlctl.pipeline.index.building.inversion import SLICE_POSITIONS
from crawlctl.pipeline.index.merge.new_segment import kept_values
from crawlctl.pipeline.index.merge.posting_merge import PostingSource, merge_postings
from crawlctl.pipeline.index.merge.sources import RunSource
from crawlctl.pipeline.index.runs.run_files import RUN_KINDS, new_run, runs_of
from crawlctl.pipeline.index.runs.run_heads import read_heads
from crawlctl.pipeline.index.runs.run_writer import StoredFields, StoredFiles, stored_names, write_postings
from crawlctl.pipeline.state.layout import round_of
from crawlctl.pipeline.urls.hosts import host_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.arrays.array_types import Int32Array
    from crawlctl.pipeline.copies.repartition.share import Share
    from crawlctl.pipeline.index.merge.sources import Values
    from crawlctl.pipeline.index.runs.run_files import RunFiles
    from crawlctl.pipeline.index.segment.stored_documents import DocHead
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store

    Heads = list[tuple[int, bytes, DocHead]]  # old ordinal, packed head, head


def move_runs(source: Store, destination: Store, share: Share) -> Iterator[FileEntry]:
    """Write the runs of a partition and yield their files."""
    for run in runs_of(share.files_of(*RUN_KINDS)):
        heads: Heads = [
            (ordinal, packed, head)
            for ordinal, (packed, head) in enumerate(read_heads(source, run.docs_heads))
            if share.takes(host_of(head.url))
        ]
        if heads:
            yield from _move_run(RunSource(source, run), destination, share.number, run, heads)


def _move_run(
    source: RunSource, store: Store, partition: int, run: RunFiles, heads: Heads
) -> Iterator[FileEntry]:
    files = new_run(partition, round_of(run.links))
    new = np.full(source.documents, -1, np.int32)
    new[[ordinal for ordinal, _, _ in heads]] = np.arange(len(heads))
    with ExitStack() as stack:
        written = [stack.enter_context(store.write(name)) for name in stored_names(files)]
        stored = StoredFields(StoredFiles(*written))
        for records in _kept(source.docs(), new):
            stored.add_records(records)
        stored.add_heads([packed for _, packed, _ in heads], [head.lengths for _, _, head in heads])
        for links in _kept(source.links(), new):
            stored.add_links(links)
        stored.close()
    yield from stored.entries(written, partition)
    slices = merge_postings([PostingSource(source.slices(), new)], SLICE_POSITIONS)
    yield from write_postings(store, files, partition, slices, documents=len(heads), forms=source.has_forms)


def _kept(blocks: Values, new: Int32Array) -> Iterator[list[bytes]]:
    for _, values in kept_values([(blocks, new)]):
        yield values.values() if isinstance(values, StoredBlock) else values
