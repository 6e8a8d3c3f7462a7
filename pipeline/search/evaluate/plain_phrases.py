"""Phrases in plain Python: of the documents that have all words, those that have them side by side."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from crawlctl.pipeline.index.fields import OFFSET_BITS
from crawlctl.pipeline.index.segment.postings.plain_lists import decode_positions
from crawlctl.pipeline.search.plan.steps import ANY_FIELD

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crawlctl.pipeline.index.segment.postings.plain_lists import Documents, Positions
    from crawlctl.pipeline.index.segment.term_info import TermPlace
    from crawlctl.pipeline.search.open.searcher import Searcher


class _Word:
    """Where a word stands: in the lists of all its terms."""

    def __init__(self, lists: Sequence[tuple[Documents, Positions]]) -> None:
        self._lists = lists

    def positions(self, ordinal: int) -> set[int]:
        """Return the positions in a document."""
        found: set[int] = set()
        for documents, positions in self._lists:
            place = bisect_left(documents.ordinals, ordinal)
            if place < len(documents.ordinals) and documents.ordinals[place] == ordinal:
                found.update(positions[place])
        return found


def phrase_matches(
    index: Searcher,
    mask: int,
    lists: Sequence[Sequence[tuple[Documents, TermPlace]]],
    together: dict[int, int],
    read: Mapping[TermPlace, tuple[bytes, bytes]],
) -> dict[int, int]:
    """Return those of the documents with all words that have them side by side, in the fields of a mask."""
    words = []
    for alternatives in lists:
        decoded = []
        for documents, place in alternatives:
            with index.lists.damage(place):
                decoded.append((documents, decode_positions(read[place][1], place.count)))
        words.append(_Word(decoded))
    return {ordinal: units for ordinal, units in together.items() if _stand_together(words, ordinal, mask)}


def _stand_together(words: Sequence[_Word], ordinal: int, mask: int) -> bool:
    firsts = words[0].positions(ordinal)
    if mask != ANY_FIELD:
        firsts = {position for position in firsts if mask >> (position >> OFFSET_BITS) & 1}
    for distance, word in enumerate(words[1:], 1):
        if not firsts:
            return False
        firsts &= {position - distance for position in word.positions(ordinal)}
    return bool(firsts)
