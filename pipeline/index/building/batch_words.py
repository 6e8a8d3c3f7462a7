"""The words of a batch of documents: what an inversion begins with.

The offset of a word is the number of words before it in its field, and one more for each heading before its
own, so that no phrase reaches from one heading into the next. Of a field the first 2²⁰ offsets count.
"""

from __future__ import annotations

from bisect import bisect
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

import msgspec

from crawlctl.pipeline.index.building.vocabulary import BREAK, BREAK_NUMBER, FIELD_END, FIELD_END_NUMBER
from crawlctl.pipeline.index.fields import MAX_OFFSETS, PAGE_FIELDS
from crawlctl.pipeline.index.segment.stored_documents import Lengths

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from crawlctl.pipeline.index.building.vocabulary import Numbers, Vocabulary
    from crawlctl.pipeline.index.segment.stored_documents import Document

# How long the heads of msgpack's texts are, and the packed sizes at which the next longer one begins.
_PACKED_HEADS = (1, 2, 3, 5)
_PACKED_SIZES = (32 + 2, 0xFF + 1 + 3, 0xFFFF + 1 + 5)
_pack = msgspec.msgpack.Encoder().encode

_END = b" " + FIELD_END + b" "
_BREAK = b" " + BREAK + b" "


class Words(NamedTuple):
    """The words of some documents, terms by number, with the marks of breaks and of the end of each field."""

    numbers: Numbers
    documents: Numbers  # ordinals of the documents

    @property
    def memory(self) -> int:
        """The bytes held."""
        return self.numbers.nbytes + self.documents.nbytes


def marked(document: Document) -> bytes:
    """Return the fields of a document in UTF-8, each with its end marked."""
    fields = (
        utf8_of_kept(document.text),
        _BREAK.join(map(_utf8, document.headings)),
        _utf8(document.title),
        _utf8(url_text(document.url)),
    )
    return _END.join((*fields, b""))


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def utf8_of_kept(text: str) -> bytes | memoryview:
    """Return a text in UTF-8 that is going to be packed too.

    What msgspec packs keeps its UTF-8 from then on, so that a text of more than ASCII is encoded only once.
    """
    try:
        packed = _pack(text)
    except UnicodeEncodeError:
        return _utf8(text)
    return memoryview(packed)[_PACKED_HEADS[bisect(_PACKED_SIZES, len(packed))] :]


def url_text(url: str) -> str:
    """Return what is searched of a URL: all but the scheme, escapes undone."""
    return unquote(url.partition("://")[2] or url)


def words_of_batch(data: bytes, ordinals: Sequence[int], language: str, vocabulary: Vocabulary) -> Words:
    """Return the words of marked documents of one language."""
    import numpy as np

    numbers = vocabulary.numbers(data, language)
    ends = field_ends(numbers)
    starts = field_starts(ends)
    if (ends - starts).max(initial=0) > MAX_OFFSETS:
        numbers = _cut(numbers, starts, ends)
    return Words(numbers, np.array(ordinals, np.int32))


def field_ends(numbers: Numbers) -> NDArray[np.intp]:
    """Return where fields end."""
    import numpy as np

    return np.flatnonzero(numbers == FIELD_END_NUMBER)


def field_starts(ends: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return where fields begin that have these ends."""
    import numpy as np

    starts = np.zeros_like(ends)
    starts[1:] = ends[:-1] + 1
    return starts


def lengths_of(words: Words) -> list[Lengths]:
    """Return the lengths of the documents of a batch, breaks not counted."""
    import numpy as np

    ends = field_ends(words.numbers)
    breaks = np.flatnonzero(words.numbers == BREAK_NUMBER)
    lengths = ends - field_starts(ends) - np.bincount(np.searchsorted(ends, breaks), minlength=len(ends))
    return [Lengths(*found) for found in lengths.reshape(-1, len(PAGE_FIELDS)).tolist()]


def _cut(numbers: Numbers, starts: NDArray[np.intp], ends: NDArray[np.intp]) -> Numbers:
    """Return the numbers without those beyond the limit of their field."""
    import numpy as np

    kept = np.ones(len(numbers), np.bool_)
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        kept[start + MAX_OFFSETS : end] = False
    return numbers[kept]
