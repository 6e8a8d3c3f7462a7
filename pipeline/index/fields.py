"""The fields of a document, and how a position says in which field it lies.

A word as it is written (text/words/stems.py) has another kind of position, because no phrase searches for it:
one number for all fields of the page, which has a bit for each field with the word. It takes one byte, and
most often the same byte in all documents. In anchors, which a merge replaces, it has the first position of
the field.
"""

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

WORDS = "words."  # the name of the counter of the words in a field is this prefix and the name of the field
