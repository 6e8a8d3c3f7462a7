"""The ranks of a partition of a copy, as they were published; nothing is computed again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.copies.repartition.share import last_round
from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.formats.sequencefile.sequencefile import SequenceFileReader
from crawlctl.pipeline.rank.graph.array_file import ArrayFile
from crawlctl.pipeline.rank.publish.publish import write_aligned, write_table
from crawlctl.pipeline.rank.publish.rank_tables import ALIGNED, BY_URL
from crawlctl.pipeline.state.entry_source import EntrySource
from crawlctl.pipeline.state.kinds import RANKS
from crawlctl.pipeline.urls.hosts import host_in_key, webdb_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.copies.repartition.share import Share
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store

    Row = tuple[bytes, bytes, float]  # key in the WebDB, URL, rank


def move_ranks(source: Store, destination: Store, share: Share) -> Iterator[FileEntry]:
    """Write the ranks by URL and the ranks in the order of the WebDB, and yield the files.

    The WebDB may have grown since pages were ranked, so both are made from the table by URL, which names
    pages.
    """
    files = share.files_of(RANKS)
    rows = sorted(
        row for entry in files if entry.name.endswith(BY_URL) for row in _rows(source, entry, share)
    )
    if not rows:
        return
    number = last_round(files)
    aligned = next(entry for entry in files if entry.name.endswith(ALIGNED))
    ranks, facts = np.array([rank for _, _, rank in rows]), ArrayFile(source, aligned).facts
    yield write_aligned(destination, ranks, facts, partition=share.number, round_number=number)
    rows.sort(key=lambda row: -row[2])  # stable: of equal ranks the first in the WebDB comes first
    table = ((url, rank) for _, url, rank in rows)
    yield write_table(destination, table, BY_URL, partition=share.number, round_number=number)


def _rows(store: Store, entry: FileEntry, share: Share) -> Iterator[Row]:
    for block in SequenceFileReader(EntrySource(store, entry)).blocks():
        for url, rank in zip(block.keys, block.values, strict=True):
            try:
                key, value = webdb_key(url.decode()), float(rank)
            except ValueError as err:
                raise CorruptFile(store.locate(entry.name), block.offset, f"not a rank ({err})") from err
            if share.takes(host_in_key(key)):
                yield key, url, value
