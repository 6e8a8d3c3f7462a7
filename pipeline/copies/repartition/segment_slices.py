"""Writes the files of a segment that is made of slices of others."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crawlctl.pipeline.copies.repartition.moved_postings import merged, moved_slices
from crawlctl.pipeline.index.merge.kept_fields import copy_docs, copy_links, copy_sketches
from crawlctl.pipeline.index.segment.columns import COLUMNS as WIDTHS
from crawlctl.pipeline.index.segment.segment_writer import write_columns, write_terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from crawlctl.pipeline.index.merge.sources import SegmentSource
    from crawlctl.pipeline.index.segment.segment_writer import Columns
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store


class SegmentContent(NamedTuple):
    """What goes into a segment, in the order of its ordinals."""

    members: Sequence[tuple[SegmentSource, NDArray[np.int32]]]  # with the new ordinal of each document or −1
    documents: int
    hosts: Sequence[tuple[bytes, int]]  # with their first ordinals
    averages: Sequence[float]
    frontier: bool


def write_files(store: Store, name: str, partition: int, content: SegmentContent) -> tuple[FileEntry, ...]:
    """Write all files of a segment and return them."""
    where = store, name, partition
    places, docs = copy_docs(*where, content.members, content.documents)
    links = copy_links(*where, content.members)
    sketches = copy_sketches(*where, content.members, content.documents)
    columns = write_columns(
        *where,
        {**_columns(content), "places": places},
        hosts=content.hosts,
        averages=content.averages,
        frontier=content.frontier,
    )
    terms = write_terms(*where, merged([moved_slices(*member) for member in content.members]))
    return (*docs, links, *terms, columns, sketches)


def _columns(content: SegmentContent) -> Columns:
    """Return the columns by new ordinal, but for the places."""
    columns: Columns = {
        name: np.zeros(content.documents, f"<u{width}") for name, width in WIDTHS.items() if name != "places"
    }
    for source, new in content.members:
        stay = np.flatnonzero(new >= 0)
        for name, column in columns.items():
            column[new[stay]] = source.column(name)[stay]
    return columns
