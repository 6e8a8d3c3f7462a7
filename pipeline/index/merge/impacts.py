"""Impacts: what a term adds to the score of a document, by BM25F, in one byte.

    t = Σ weight · occurrences / (1 - b + b · length / average length), over the fields
    impact = 255 · t / (t + k1), at least 1

The rarity of the term (idf) is left out, because it changes: a query computes it when it is asked. The length
of the field of anchors does not count. This field has each anchor text once, however many pages use the text.
So it is long if many pages link with different words, which is the mark of a good page.

A word as it is written (a form) counts once in each field that has it, and as if all fields had their average
length: then there are few different impacts, which take hardly any room. Only stems decide the order of
results; forms only select documents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.arrays.ragged import starts_of
from crawlctl.pipeline.index.fields import ANCHOR, INDEXED_FIELDS, MAX_IMPACT, OFFSET_BITS, PAGE_FIELDS
from crawlctl.pipeline.index.segment.postings.form_terms import are_forms

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from crawlctl.pipeline.arrays.byte_strings import ByteStrings
    from crawlctl.pipeline.config.settings import IndexSettings
    from crawlctl.pipeline.index.segment.postings.posting_arrays import Lists

_BODY = 0  # the index of the field "body"
_PAGE_MASK = (1 << ANCHOR) - 1  # the bits of all fields of a page
_ANCHOR_BIT = np.uint8(1 << ANCHOR)


class Impacts:
    """Computes the impacts of terms in the documents of a segment; holds the worth of a word per field."""

    def __init__(
        self,
        lengths: Mapping[str, NDArray[np.unsignedinteger]],
        averages: Sequence[float],
        settings: IndexSettings,
    ) -> None:
        self._k1 = np.float32(settings.k1)
        rows = [
            _worth(lengths[field], average, getattr(settings.weights, field), settings.b)
            if field in PAGE_FIELDS
            else np.full(len(lengths[field]), getattr(settings.weights, field), np.float32)
            for field, average in zip(INDEXED_FIELDS, averages, strict=True)
        ]
        self._worth: NDArray[np.float32] = np.stack(rows)
        self._of_forms = _impacts_by_mask(settings)

    def of_terms(self, terms: ByteStrings, lists: Lists) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        """Return the impacts and fields of all postings, as `of` does; here terms may also be forms.

        A form counts once in each field that has it (see above), so `of` knows nothing of forms.
        """
        impacts, masks = self.of(lists)
        forms = np.repeat(are_forms(terms), lists.counts)
        if forms.any():
            first = lists.positions[starts_of(lists.frequencies)[forms]]  # the fields of the page, if any
            fields = np.where(first <= _PAGE_MASK, first, 0).astype(np.uint8) | masks[forms] & _ANCHOR_BIT
            masks[forms] = fields
            impacts[forms] = self._of_forms[fields]
        return impacts, masks

    def of(self, lists: Lists) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        """Return the impact of each posting, and its field mask: one bit per field that has the term."""
        documents, frequencies = lists.documents, lists.frequencies
        weighted = self._worth[_BODY].take(documents)
        weighted *= frequencies.astype(np.float32)
        masks = np.full(len(frequencies), 1 << _BODY, np.uint8)
        elsewhere = np.flatnonzero(lists.positions >= 1 << OFFSET_BITS)
        if len(elsewhere):
            owners = np.searchsorted(np.cumsum(frequencies), elsewhere, side="right")
            starts = np.flatnonzero(np.append(True, owners[1:] != owners[:-1]))
            postings = owners[starts]
            in_body = frequencies[postings] - np.diff(starts, append=len(owners))
            fields = lists.positions[elsewhere] >> OFFSET_BITS
            worth = self._worth[fields, documents[owners]]
            weighted[postings] = self._worth[_BODY, documents[postings]] * in_body
            weighted[postings] += np.add.reduceat(worth, starts)
            bits = np.left_shift(1, fields).astype(np.uint8)
            masks[postings] = np.bitwise_or.reduceat(bits, starts) | (in_body > 0)
        impacts = np.rint(MAX_IMPACT * weighted / (weighted + self._k1))
        return np.maximum(impacts, 1).astype(np.uint8), masks


def _impacts_by_mask(settings: IndexSettings) -> NDArray[np.uint8]:
    """Return the impact of a word that is once in each field of a mask, by the mask."""
    weights = [getattr(settings.weights, field) for field in INDEXED_FIELDS]
    sums = [
        sum(weight for bit, weight in enumerate(weights) if mask >> bit & 1)
        for mask in range(1 << len(INDEXED_FIELDS))
    ]
    return np.array([max(1, round(MAX_IMPACT * t / (t + settings.k1))) if t else 1 for t in sums], np.uint8)


def _worth(
    lengths: NDArray[np.unsignedinteger], average: float, weight: float, b: float
) -> NDArray[np.float32]:
    """Return how much one occurrence in the field counts, per document."""
    relative = lengths / np.float32(average) if average > 0 else np.ones(len(lengths), np.float32)
    worth: NDArray[np.float32] = (weight / (1 - b + b * relative + np.float32(1e-9))).astype(np.float32)
    return worth
