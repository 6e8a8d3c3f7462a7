"""The links of a crawl, read from its index in batches, and the rules for which of them count.

The graph (build.py) counts links by these rules:

* Only documents of pages that are live in the WebDB have links. Of several versions of a document the one
  fetched last counts.
* A nofollow link does not recommend its target and is left out. But a page that links to a target both with
  and without nofollow does recommend it.
* Several links of a page to the same page count once; links of a page to itself do not count.
* A link to a page that has moved, or that names another page as its canonical one, counts as a link to that
  page. At most MAX_HOPS such steps are followed. So two links of a page that lead to the same page by
  different URLs count once.
* Links to pages that the WebDB does not know, or knows to be gone or unreachable, are left out: the rank that
  they would carry goes to the other links of the page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.formats.sequencefile.sequencefile import SequenceFileReader
from crawlctl.pipeline.formats.sequencefile.writables import unpack_long
from crawlctl.pipeline.index.runs.run_files import runs_of
from crawlctl.pipeline.index.runs.run_heads import read_heads
from crawlctl.pipeline.index.segment.columns import ColumnReader
from crawlctl.pipeline.index.segment.segment_files import COLUMNS, LINKS, segments_of
from crawlctl.pipeline.index.segment.stored_links import LINK_BYTES, TARGET_BYTES
from crawlctl.pipeline.urls.hosts import stable_hash

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from crawlctl.pipeline.formats.source import RangedSource
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store

    Hashes = NDArray[np.uint64]

BATCH_LINKS = 1 << 20


class LinkBatch(NamedTuple):
    """The links of some documents; URLs are given by their stable hashes."""

    sources: Hashes  # the URL of each document
    versions: NDArray[np.int64]  # when each document was fetched
    counts: NDArray[np.int64]  # the number of links of each document
    targets: Hashes  # the targets of all links, document by document
    nofollow: NDArray[np.bool_]  # whether each link is nofollow


def crawl_links(store: Store, entries: Sequence[FileEntry]) -> Iterator[LinkBatch]:
    """Yield the links of all documents in the files of one partition, both segments and runs.

    A document may come in several versions.
    """
    yield from _segment_links(store, entries)
    yield from _run_links(store, entries)


def _segment_links(store: Store, entries: Sequence[FileEntry]) -> Iterator[LinkBatch]:
    """Yield the documents of one segment after the other, in the order of its links file."""
    for segment in segments_of(entries):
        if segment.frontier:
            continue
        columns = ColumnReader(segment.open(store, COLUMNS), segment.documents)
        rows = np.frombuffer(columns.raw("rows"), "<u4")
        hashes = np.zeros(int(rows.max()) + 1 if len(rows) else 0, np.uint64)
        hashes[rows] = np.frombuffer(columns.raw("hashes"), "<u8")
        fetched = np.zeros(len(hashes), np.int64)
        fetched[rows] = np.frombuffer(columns.raw("fetched"), "<u4")
        known = np.zeros(len(hashes), np.bool_)
        known[rows] = True
        yield from _batches(segment.open(store, LINKS), hashes, fetched, known)


def _run_links(store: Store, entries: Sequence[FileEntry]) -> Iterator[LinkBatch]:
    """Yield the documents of the runs that are not merged into segments yet."""
    for run in runs_of(entries):
        heads = [(stable_hash(head.url), head.fetched_at) for _, head in read_heads(store, run.docs_heads)]
        hashes = np.array([number for number, _ in heads], np.uint64)
        fetched = np.array([when for _, when in heads], np.int64)
        yield from _batches(store.open(run.links), hashes, fetched, np.ones(len(hashes), np.bool_))


def _batches(
    source: RangedSource, hashes: Hashes, versions: NDArray[np.int64], known: NDArray[np.bool_]
) -> Iterator[LinkBatch]:
    """Yield the links in a file of packed links, of the documents whose row in it is `known`.

    `hashes` and `versions` describe the documents by row.
    """
    rows: list[int] = []
    values: list[bytes] = []
    held = 0
    for block in SequenceFileReader(source).blocks():
        for key, value in zip(block.keys, block.values, strict=True):
            row = unpack_long(key)
            if len(value) % LINK_BYTES or not 0 <= row < len(hashes):
                raise CorruptFile(
                    source.name, block.offset, f"document {row} has {len(value)} bytes of links"
                )
            if known[row]:
                rows.append(row)
                values.append(value)
                held += len(value) // LINK_BYTES
        if held >= BATCH_LINKS:
            yield _batch(rows, values, hashes, versions)
            rows, values, held = [], [], 0
    if rows:
        yield _batch(rows, values, hashes, versions)


def _batch(rows: list[int], values: list[bytes], hashes: Hashes, versions: NDArray[np.int64]) -> LinkBatch:
    counts = np.fromiter((len(value) // LINK_BYTES for value in values), np.int64, len(values))
    pairs = list(zip(values, counts.tolist(), strict=True))
    targets = np.frombuffer(b"".join([value[: TARGET_BYTES * count] for value, count in pairs]), ">u8")
    flags = np.frombuffer(b"".join([value[TARGET_BYTES * count :] for value, count in pairs]), np.uint8)
    numbers = np.array(rows)
    return LinkBatch(
        hashes[numbers], versions[numbers], counts, targets.astype(np.uint64), flags.astype(np.bool_)
    )
