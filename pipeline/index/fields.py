"""The fields of a document, and how a position says in which of them it lies."""

from __future__ import annotations

INDEXED_FIELDS = ("body", "heading", "title", "url", "anchor")
OFFSET_BITS = 20  # a position is the number of its field and, below it, the offset in the field

ANCHOR = INDEXED_FIELDS.index("anchor")
PAGE_FIELDS = INDEXED_FIELDS[:ANCHOR]  # what the page itself says; anchors are other pages' words for it
MAX_OFFSETS = 1 << OFFSET_BITS  # of a field so many words count
POSITION_BITS = OFFSET_BITS + 3


def field_of(position: int) -> int:
    """Return the number of the field in which a position lies."""
    return position >> OFFSET_BITS
