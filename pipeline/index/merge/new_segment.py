"""Writes a segment: what its sources hold of the documents that go into it, by their new ordinals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.arrays.malloc import keep_freed_memory
from crawlctl.pipeline.index.fields import INDEXED_FIELDS
from crawlctl.pipeline.index.merge.impacts import Impacts
from crawlctl.pipeline.index.merge.kept_fields import copy_docs, copy_links, copy_sketches
from crawlctl.pipeline.index.merge.posting_merge import Feed, merged
from crawlctl.pipeline.index.merge.sources import CARRIED
from crawlctl.pipeline.index.runs.posting_slices import Rated
from crawlctl.pipeline.index.segment.columns import COLUMNS as WIDTHS
from crawlctl.pipeline.index.segment.columns import NOT_FETCHED
from crawlctl.pipeline.index.segment.segment_files import new_segment
from crawlctl.pipeline.index.segment.segment_writer import write_columns, write_terms

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from crawlctl.pipeline.arrays.byte_strings import ByteStrings
    from crawlctl.pipeline.config.settings import IndexSettings
    from crawlctl.pipeline.index.merge.anchor_postings import AnchorWords
    from crawlctl.pipeline.index.merge.kept_fields import Members
    from crawlctl.pipeline.index.segment.segment_writer import Columns
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store

SLICE_POSITIONS = 600_000  # more no longer fit the caches
BYTES_OF_A_POSITION = 480  # of memory: a slice takes about a quarter of that while it is sorted and packed


@dataclass(frozen=True)
class Content:
    """What goes into a new segment, in the order of ordinals."""

    members: Members
    documents: int
    hosts: Sequence[tuple[bytes, int]]  # with their first ordinals
    anchors: AnchorWords
    checksums: NDArray[np.uint32]  # of the anchors of each document
    frontier: bool = False


def write_segment(
    store: Store,
    content: Content,
    averages: Sequence[float],
    settings: IndexSettings,
    *,
    partition: int,
    round_number: int,
) -> tuple[FileEntry, ...]:
    """Write the files of a segment; `averages` are the lengths of fields in the whole index."""
    keep_freed_memory()
    where = store, new_segment(partition, round_number), partition
    places, docs = copy_docs(*where, content.members, content.documents)
    links = copy_links(*where, content.members)
    sketches = copy_sketches(*where, content.members, content.documents)
    columns = {**_columns(content), "places": places}
    written = write_columns(
        *where, columns, hosts=content.hosts, averages=averages, frontier=content.frontier
    )
    impacts = Impacts({field: columns[field] for field in INDEXED_FIELDS}, averages, settings)
    del columns
    terms = write_terms(*where, _rated_slices(content, impacts, settings.memory))
    return (*docs, links, *terms, written, sketches)


def _rated_slices(content: Content, impacts: Impacts, memory: int) -> Iterator[tuple[ByteStrings, Rated]]:
    feeds = [Feed(source.slices(), new) for source, new in content.members]
    feeds += [Feed(slices, None) for slices in content.anchors.sources()]
    for terms, lists in merged(feeds, min(SLICE_POSITIONS, memory // BYTES_OF_A_POSITION)):
        yield terms, Rated(lists, *impacts.of(lists))


def _columns(content: Content) -> Columns:
    """Return the columns by new ordinal, but for the places."""
    columns: Columns = {name: np.zeros(content.documents, f"<u{WIDTHS[name]}") for name in CARRIED}
    for source, new in content.members:
        stay = np.flatnonzero(new >= 0)
        for name, column in columns.items():
            column[new[stay]] = source.columns[name][stay]
    columns["anchor"] = content.anchors.lengths(content.documents)
    columns["anchors"] = content.checksums
    columns["flags"] = np.full(content.documents, NOT_FETCHED if content.frontier else 0, np.uint8)
    return columns
