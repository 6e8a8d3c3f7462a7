"""Tells which of many terms are words as they are written, by their marks (text/words/stems.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.text.words.stems import FORM_MARK

if TYPE_CHECKING:
    from crawlctl.pipeline.arrays.array_types import BoolArray
    from crawlctl.pipeline.arrays.byte_strings import ByteStrings

_MARK_BYTES = len(FORM_MARK) + 2  # behind it comes the code of a language
_KEYWORDS_BELOW = 2  # keywords begin with a byte below


def are_forms(terms: ByteStrings) -> BoolArray:
    """Return which terms are words as they are written."""
    if not len(terms.octets):
        return np.zeros(len(terms), np.bool_)
    marks = np.maximum(terms.starts + terms.lengths - _MARK_BYTES, 0)
    is_long = terms.lengths > _MARK_BYTES
    is_word = terms.octets[terms.starts] >= _KEYWORDS_BELOW
    found: BoolArray = is_long & is_word & (terms.octets[marks] == FORM_MARK[0])
    return found
