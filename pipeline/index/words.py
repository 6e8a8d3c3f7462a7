"""The words of a batch of documents, by field: what an inversion begins with.

A position is the number of words before a word in its field, and one more for each heading before its own, so
that no phrase reaches from one heading into the next. Of a field the first 2²⁰ positions count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from crawlctl.pipeline.index.documents import FIELDS, Lengths
from crawlctl.pipeline.index.terms import BREAK, BREAK_NUMBER, FIELD_END, FIELD_END_NUMBER, pieces_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from crawlctl.pipeline.index.documents import Document
    from crawlctl.pipeline.index.terms import Numbers, Vocabulary

MAX_POSITIONS = 1 << 20

_END = b" " + FIELD_END + b" "
_BREAK = b" " + BREAK + b" "


class Words(NamedTuple):
    """The words of one field in a batch: terms by number, heading breaks among them, and whose they are."""

    numbers: Numbers
    documents: Numbers  # ordinals of the documents
    spans: Numbers  # how many of the numbers are of each document

    @property
    def memory(self) -> int:
        """The bytes held."""
        return self.numbers.nbytes + self.documents.nbytes + self.spans.nbytes


def marked(document: Document) -> bytes:
    """Return the fields of a document in pieces, each field with its end marked."""
    fields = (
        pieces_of(document.text),
        _BREAK.join(map(pieces_of, document.headings)),
        pieces_of(document.title),
        pieces_of(url_text(document.url)),
    )
    return _END.join((*fields, b""))


def url_text(url: str) -> str:
    """Return what is searched of a URL: all but the scheme, escapes undone."""
    return unquote(url.partition("://")[2] or url)


def words_by_field(
    data: bytes, ordinals: Sequence[int], language: str, vocabulary: Vocabulary
) -> tuple[Words, ...]:
    """Return the words of marked documents of one language, in the order of FIELDS."""
    import numpy as np

    numbers = vocabulary.numbers(data, language)
    ends = np.flatnonzero(numbers == FIELD_END_NUMBER)
    starts = np.zeros_like(ends)
    starts[1:] = ends[:-1] + 1
    documents = np.array(ordinals, np.int32)
    spans = np.minimum(ends - starts, MAX_POSITIONS)
    step = len(FIELDS)
    return tuple(
        Words(_stretches(numbers, start, span), documents, span.astype(np.int32))
        for start, span in ((starts[field::step], spans[field::step]) for field in range(step))
    )


def lengths_of(fields: Sequence[Words]) -> list[Lengths]:
    """Return the lengths of the documents of a batch, breaks not counted."""
    import numpy as np

    columns = []
    for words in fields:
        breaks = np.flatnonzero(words.numbers == BREAK_NUMBER)
        owners = np.searchsorted(np.cumsum(words.spans), breaks, side="right")
        columns.append((words.spans - np.bincount(owners, minlength=len(words.spans))).tolist())
    return [Lengths(*lengths) for lengths in zip(*columns, strict=True)]


def _stretches(numbers: Numbers, starts: NDArray[np.intp], spans: NDArray[np.intp]) -> Numbers:
    """Return the stretches of the numbers that begin at `starts`, end to end."""
    import numpy as np

    places = np.repeat(starts - (np.cumsum(spans) - spans), spans)
    places += np.arange(len(places))
    stretches: Numbers = numbers[places]
    return stretches
