"""From words in the order of documents to posting lists in the order of terms.

A word becomes one 64-bit key: the place of its term, its document, its position, from the high bits down; so
sorting keys sorts postings. Each batch is sorted by itself, since keys that fit a cache sort twice as fast,
and all are cut at the same terms. The cuts are merged by numpy's stable sort, which finds what is in order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.index.building.batch_words import field_ends, field_starts
from crawlctl.pipeline.index.building.vocabulary import FIRST_TERM
from crawlctl.pipeline.index.fields import OFFSET_BITS, PAGE_FIELDS, POSITION_BITS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from crawlctl.pipeline.index.building.batch_words import Words
    from crawlctl.pipeline.index.building.vocabulary import Numbers
    from crawlctl.pipeline.index.runs.posting_slices import Lists
    from crawlctl.pipeline.index.segment.postings.short_numbers import Integers

    Keys = NDArray[np.uint64]

_DOCUMENT_BITS = 17  # which leaves 24 for terms
MAX_DOCUMENTS = 1 << _DOCUMENT_BITS
SLICE_POSITIONS = 200_000

_SAMPLES = 1000  # keys of a slice that are looked at to tell where to cut
_TERM_SHIFT = POSITION_BITS + _DOCUMENT_BITS
_FIRST_MARK = (1 << 64) - (1 << _TERM_SHIFT)
_MARK = _FIRST_MARK - (1 << 64)  # the same bits in a signed number


def inverted(batches: Iterable[Words], places: Numbers) -> Iterator[tuple[NDArray[np.intp], Lists]]:
    """Yield slices of the postings: the places of some terms, rising, and the list of each.

    `places` says where the term of a number stands in the order of terms.
    """
    import numpy as np

    from crawlctl.pipeline.index.building.occurrences import grouped

    terms = places.astype(np.int64) << _TERM_SHIFT
    terms[:FIRST_TERM] = _MARK  # sorts behind all terms
    keys = [_sorted_keys(words, terms) for words in batches]
    bounds = _bounds(keys, len(places))
    cuts = [np.searchsorted(part, bounds) for part in keys]
    for number in range(len(bounds) - 1):
        parts = [part[cut[number] : cut[number + 1]] for part, cut in zip(keys, cuts, strict=True)]
        together = np.concatenate(parts)
        together.sort(kind="stable")
        yield grouped(together, _DOCUMENT_BITS)


def _sorted_keys(words: Words, terms: Integers) -> Keys:
    """Return the keys of the words, given what each number stands for in the high bits."""
    import numpy as np

    ends = field_ends(words.numbers)
    starts = field_starts(ends)
    fields = np.arange(len(ends)) % len(PAGE_FIELDS)
    first = (words.documents.astype(np.int64) << POSITION_BITS).repeat(len(PAGE_FIELDS))
    # The place in the batch, less that of the field's first word, is the offset.
    keys = np.repeat((first | fields << OFFSET_BITS) - starts, ends - starts + 1)
    keys += np.arange(len(keys))
    keys |= terms[words.numbers]
    packed: Keys = keys.view(np.uint64)
    packed.sort()
    return packed[: np.searchsorted(packed, np.uint64(_FIRST_MARK))]


def _bounds(keys: Sequence[Keys], terms: int) -> Keys:
    """Return keys that cut the terms into slices of about SLICE_POSITIONS, the ends included."""
    import numpy as np

    every = max(SLICE_POSITIONS // _SAMPLES, 1)
    # What is left over is left at both ends, so that many small batches do not all show their lowest key.
    sample = np.concatenate([part[len(part) % every // 2 :: every] for part in keys])
    sample.sort()
    edges = sample[:: SLICE_POSITIONS // every] >> np.uint64(_TERM_SHIFT)
    edges[:1] = 0
    bounds: Keys = np.unique(np.append(edges, np.uint64(terms))) << np.uint64(_TERM_SHIFT)
    return bounds
