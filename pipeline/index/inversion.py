"""From words in the order of documents to posting lists in the order of terms.

A word becomes one 64-bit key: the place of its term, its document, its position, from the high bits down; so
sorting keys sorts postings. Each batch is sorted by itself, since keys that fit a cache sort twice as fast,
and all are cut at the same terms. The cuts are merged by numpy's stable sort, which finds what is in order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.index.fields import OFFSET_BITS, PAGE_FIELDS, POSITION_BITS
from crawlctl.pipeline.index.postings import Lists
from crawlctl.pipeline.index.terms import FIRST_TERM
from crawlctl.pipeline.index.words import field_ends, field_starts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from crawlctl.pipeline.index.planes import Integers
    from crawlctl.pipeline.index.terms import Numbers
    from crawlctl.pipeline.index.words import Words

    Keys = NDArray[np.uint64]

MAX_DOCUMENTS = 1 << 17  # which leaves 24 bits for terms
SLICE_POSITIONS = 200_000

_TERM_SHIFT = POSITION_BITS + MAX_DOCUMENTS.bit_length() - 1
_FIRST_MARK = (1 << 64) - (1 << _TERM_SHIFT)
_MARK = _FIRST_MARK - (1 << 64)  # the same bits in a signed number


def inverted(batches: Iterable[Words], places: Numbers) -> Iterator[tuple[Numbers, Lists]]:
    """Yield slices of the postings: the places of some terms, rising, and the list of each.

    `places` says where the term of a number stands in the order of terms.
    """
    import numpy as np

    terms = places.astype(np.int64) << _TERM_SHIFT
    terms[:FIRST_TERM] = _MARK  # sorts behind all terms
    keys = [_sorted_keys(words, terms) for words in batches]
    bounds = _bounds(keys, len(places))
    cuts = [np.searchsorted(part, bounds) for part in keys]
    for number in range(len(bounds) - 1):
        parts = [part[cut[number] : cut[number + 1]] for part, cut in zip(keys, cuts, strict=True)]
        together = np.concatenate(parts)
        together.sort(kind="stable")
        yield _grouped(together)


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

    total = sum(map(len, keys))
    edges = np.zeros(1, np.int64)
    if total > SLICE_POSITIONS:
        counts = np.zeros(terms, np.int64)
        for part in keys:
            counts += np.bincount((part >> np.uint64(_TERM_SHIFT)).astype(np.intp), minlength=terms)
        edges = np.unique(np.searchsorted(np.cumsum(counts), np.arange(0, total, SLICE_POSITIONS)))
    bounds: Keys = np.append(edges, terms).astype(np.uint64) << np.uint64(_TERM_SHIFT)
    return bounds


def _grouped(keys: Keys) -> tuple[Numbers, Lists]:
    """Return the terms and lists that sorted keys hold."""
    import numpy as np

    positions = (keys & np.uint64((1 << POSITION_BITS) - 1)).view(np.int64)
    postings = keys >> np.uint64(POSITION_BITS)
    firsts = _changes(postings)
    frequencies = np.diff(firsts, append=len(keys))
    postings = postings[firsts]
    documents = (postings & np.uint64(MAX_DOCUMENTS - 1)).view(np.int64)
    terms = postings >> np.uint64(_TERM_SHIFT - POSITION_BITS)
    starts = _changes(terms)
    counts = np.diff(starts, append=len(terms))
    return terms[starts].astype(np.int32), Lists(counts, documents, frequencies, positions)


def _changes(numbers: Keys) -> NDArray[np.intp]:
    """Return where runs of equal numbers begin."""
    import numpy as np

    different = np.ones(len(numbers), np.bool_)
    np.not_equal(numbers[1:], numbers[:-1], out=different[1:])
    return np.flatnonzero(different)
