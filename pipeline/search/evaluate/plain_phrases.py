"""Phrases in plain Python: finds the documents that have the words of a phrase side by side."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from crawlctl.pipeline.index.fields import OFFSET_BITS
from crawlctl.pipeline.index.segment.postings.plain_lists import decode_positions
from crawlctl.pipeline.search.plan.steps import ANY_FIELD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawlctl.pipeline.index.segment.postings.plain_lists import Documents
    from crawlctl.pipeline.index.segment.term_info import TermInfo
    from crawlctl.pipeline.search.evaluate.list_reads import ListReader


class WordPositions:
    """The positions of a word in the documents of a segment, from the posting lists of all its terms."""

    def __init__(self, reader: ListReader, lists: Sequence[tuple[Documents, bytes, TermInfo]]) -> None:
        self._lists = []
        for documents, packed, info in lists:
            with reader.naming_damage(info):
                self._lists.append((documents.ordinals, decode_positions(packed, info.count)))
        self.count = sum(positions.count for _, positions in self._lists)

    def of(self, ordinal: int) -> list[int]:
        """Return the positions in a document."""
        found: list[int] = []
        for ordinals, positions in self._lists:
            index = bisect_left(ordinals, ordinal)
            if index < len(ordinals) and ordinals[index] == ordinal:
                found = found + positions[index] if found else positions[index]
        return found


def phrase_matches(words: Sequence[WordPositions], mask: int, together: dict[int, int]) -> dict[int, int]:
    """Return the documents that have all words side by side in a field of the mask.

    `together` are the scores of the documents that have all words. The rarest word is looked at first: its
    set of positions is small, and the long lists of the frequent words are only compared with this set.
    """
    order = sorted(range(len(words)), key=lambda index: words[index].count)
    found: dict[int, int] = {}
    for ordinal, score in together.items():
        last = order[0]
        positions = set(words[last].of(ordinal))
        for index in order[1:]:
            distance = index - last
            shifted = {position + distance for position in positions}
            positions = shifted.intersection(words[index].of(ordinal))
            if not positions:
                break
            last = index
        if positions and (mask == ANY_FIELD or _in_fields(positions, last, mask)):
            found[ordinal] = score
    return found


def _in_fields(positions: set[int], index: int, mask: int) -> bool:
    """Return whether a phrase is in a field of the mask; `positions` are those of its word `index`."""
    return any(mask >> (position - index >> OFFSET_BITS) & 1 for position in positions)
