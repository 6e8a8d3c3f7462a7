"""The fields of a document, and how a position says in which of them it lies."""

from __future__ import annotations

INDEXED_FIELDS = ("body", "heading", "title", "url", "anchor")
OFFSET_BITS = 20  # a position is the number of its field and, in the bits below, the offset in the field

ANCHOR = INDEXED_FIELDS.index("anchor")
PAGE_FIELDS = INDEXED_FIELDS[
    :ANCHOR
]  # the words of the page itself; anchors are words of other pages about it
MAX_OFFSETS = 1 << OFFSET_BITS  # words of a field beyond these are not indexed
POSITION_BITS = OFFSET_BITS + 3

MAX_IMPACT = 255  # an impact is one byte

WORDS = "words."  # the counter of the words in a field is this and the name of the field
