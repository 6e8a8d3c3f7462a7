"""Impacts: what a term adds to the score of a document, by BM25F, in a byte.

    t = Σ weight · occurrences / (1 - b + b · length / average length), over the fields
    impact = 255 · t / (t + k1), at least 1

That leaves out how rare the term is, which a query knows better. The length of anchors does not count: each
text is there once, however many pages use it, so a long field is the mark of a good page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.formats.stretches import places_of, starts_of
from crawlctl.pipeline.index.fields import INDEXED_FIELDS, OFFSET_BITS, PAGE_FIELDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from crawlctl.pipeline.config.index import IndexSettings
    from crawlctl.pipeline.index.postings import Lists

MOST = 255

_BODY_ONLY = 1


class Impacts:
    """The impacts of terms in the documents of a segment, of which the lengths of fields are known."""

    def __init__(
        self,
        lengths: Mapping[str, NDArray[np.unsignedinteger]],
        averages: Sequence[float],
        settings: IndexSettings,
    ) -> None:
        self._k1 = np.float32(settings.k1)
        self._worth = [
            _worth(lengths[field], average, getattr(settings.weights, field), settings.b)
            if field in PAGE_FIELDS
            else np.full(len(lengths[field]), getattr(settings.weights, field), np.float32)
            for field, average in zip(INDEXED_FIELDS, averages, strict=True)
        ]

    def of(self, lists: Lists) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        """Return the impact of each posting, and the fields in which the term stands there, a bit each."""
        frequencies = lists.frequencies
        firsts = starts_of(frequencies)
        weighted = self._worth[0][lists.documents]
        weighted *= frequencies
        masks = np.full(len(frequencies), _BODY_ONLY, np.uint8)
        elsewhere = np.flatnonzero(lists.positions[firsts + frequencies - 1] >> OFFSET_BITS)
        if len(elsewhere):
            counts = frequencies[elsewhere]
            fields = lists.positions[places_of(firsts[elsewhere], counts)] >> OFFSET_BITS
            documents = np.repeat(lists.documents[elsewhere], counts)
            worth = np.empty(len(fields), np.float32)
            for field, worths in enumerate(self._worth):
                here = np.flatnonzero(fields == field)
                worth[here] = worths[documents[here]]
            starts = starts_of(counts)
            weighted[elsewhere] = np.add.reduceat(worth, starts)
            masks[elsewhere] = np.bitwise_or.reduceat(np.uint8(1) << fields.astype(np.uint8), starts)
        impacts = np.rint(MOST * weighted / (weighted + self._k1))
        return np.maximum(impacts, 1).astype(np.uint8), masks


def _worth(
    lengths: NDArray[np.unsignedinteger], average: float, weight: float, b: float
) -> NDArray[np.float32]:
    """Return what one occurrence in the field counts in each document."""
    relative = lengths / np.float32(average) if average > 0 else np.ones(len(lengths), np.float32)
    worth: NDArray[np.float32] = (weight / (1 - b + b * relative + np.float32(1e-9))).astype(np.float32)
    return worth
