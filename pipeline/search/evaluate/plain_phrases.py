"""Phrases in plain Python: of the documents that have all words, those that have them side by side."""

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
    """The positions of a word in the documents of a segment, in the lists of all its terms.

    The positions of a document are unpacked when it is asked for: few documents have all words of a phrase.
    """

    def __init__(self, reader: ListReader, lists: Sequence[tuple[Documents, bytes, TermInfo]]) -> None:
        self._lists = []
        for documents, packed, info in lists:
            with reader.naming_damage(info):
                self._lists.append((documents.ordinals, decode_positions(packed, info.count)))

    def of(self, ordinal: int) -> set[int]:
        """Return the positions in a document."""
        found: set[int] = set()
        for ordinals, positions in self._lists:
            index = bisect_left(ordinals, ordinal)
            if index < len(ordinals) and ordinals[index] == ordinal:
                found.update(positions[index])
        return found


def phrase_matches(words: Sequence[WordPositions], mask: int, together: dict[int, int]) -> dict[int, int]:
    """Return those of the documents with all words that have them side by side in a field of the mask."""
    return {ordinal: score for ordinal, score in together.items() if _side_by_side(words, ordinal, mask)}


def _side_by_side(words: Sequence[WordPositions], ordinal: int, mask: int) -> bool:
    firsts = words[0].of(ordinal)
    if mask != ANY_FIELD:
        firsts = {position for position in firsts if mask >> (position >> OFFSET_BITS) & 1}
    for distance, word in enumerate(words[1:], 1):
        if not firsts:
            return False
        firsts &= {position - distance for position in word.of(ordinal)}
    return bool(firsts)
