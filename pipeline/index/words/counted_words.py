"""CountedWords: collects the words of a shard of the dictionary while its terms are written."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.index.segment.dictionary import SEGMENT_NUMBER_BYTES
from crawlctl.pipeline.index.segment.postings.form_terms import are_forms
from crawlctl.pipeline.index.segment.term_info import LONG_COLUMNS, SHORT_HEAD_BYTES
from crawlctl.pipeline.index.words.word_table import LONGEST
from crawlctl.pipeline.text.words.stems import FORM_MARK, stem_in

if TYPE_CHECKING:
    from crawlctl.pipeline.arrays.array_types import Int64Array
    from crawlctl.pipeline.arrays.byte_strings import ByteStrings

_LONG_BYTES = np.dtype(LONG_COLUMNS).itemsize
_COUNT_AT = 2  # the offset of the number of documents in a long term info, in bytes
_MOST = 1 << 20  # the most words held in memory at once
_LAST_MARK = FORM_MARK[0]


class CountedWords:
    """The words of one shard as they are written, with the number of documents of each, for one merge.

    If there are too many words, words that only one document has are dropped, then words of two documents,
    and so on.
    """

    def __init__(self) -> None:
        self.documents: Counter[str] = Counter()
        self._least = 1

    def add(self, terms: ByteStrings, values: ByteStrings) -> None:
        """Add terms of the dictionary, with their values."""
        octets, ends = terms.octets, terms.starts + terms.lengths
        marks = octets[np.maximum(ends - 3, 0)] <= _LAST_MARK
        chosen = np.flatnonzero((are_forms(terms) | ~marks) & (octets[terms.starts] > _LAST_MARK))
        counts = documents_of(values.take(chosen)).tolist()
        for term, count in zip(terms.take(chosen).tolist(), counts, strict=True):
            word = stem_in(term).decode("utf-8", "replace")
            if count >= self._least and word.isalpha() and len(word) <= LONGEST:
                self.documents[word] += count
        while len(self.documents) > _MOST:
            self._least += 1
            self.documents = Counter(
                {word: count for word, count in self.documents.items() if count >= self._least}
            )


def documents_of(values: ByteStrings) -> Int64Array:
    """Return the sum of the counts of the term infos in each value of the dictionary."""
    octets, at = values.octets, values.starts + SEGMENT_NUMBER_BYTES
    ends = values.starts + values.lengths
    sums = np.zeros(len(values), np.int64)
    left = np.flatnonzero(at < ends)
    at = at[left]
    while len(left):
        heads = octets[at].astype(np.int64)
        columns = [octets[at + _COUNT_AT + byte].astype(np.int64) << 8 * byte for byte in range(4)]
        sums[left] += np.where(heads > 0, heads, sum(columns))
        short = SHORT_HEAD_BYTES + octets[at + 2].astype(np.int64) + octets[at + 3]
        at = at + np.where(heads > 0, short, _LONG_BYTES) + SEGMENT_NUMBER_BYTES
        more = at < ends[left]
        left, at = left[more], at[more]
    return sums
