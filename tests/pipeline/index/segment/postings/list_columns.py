"""Posting lists out of their columns, and packed one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawlctl.pipeline.index.segment.postings.list_writer import pack_lists
from crawlctl.pipeline.index.segment.postings.plain_lists import PackedList
from crawlctl.pipeline.index.segment.postings.posting_arrays import Lists
from crawlctl.pipeline.index.segment.term_info import decode_term_info

if TYPE_CHECKING:
    from numpy.typing import NDArray


def lists_from(*columns: NDArray[Any]) -> Lists:
    """Return the lists of counts, documents, frequencies and positions."""
    counts, documents, frequencies, positions = columns
    return Lists(counts, documents, frequencies, positions)


def packed_lists(lists: Lists) -> list[PackedList]:
    """Return the bytes of each list."""
    infos, parts = pack_lists(lists, 0)
    postings, found = b"".join(parts), []
    for value in infos:
        info, _ = decode_term_info(value)
        data = info.inlined or postings[info.offset :]
        end = info.documents_bytes + info.positions_bytes
        found.append(
            PackedList(
                info.count, info.max_impact, data[: info.documents_bytes], data[info.documents_bytes : end]
            )
        )
    return found
