"""Documents that wait to be cut into words together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.index.building.batch_words import lengths_of, marked, words_of_batch
from crawlctl.pipeline.index.segment.stored_documents import Lengths, record_of

if TYPE_CHECKING:
    from crawlctl.pipeline.index.building.batch_words import Words
    from crawlctl.pipeline.index.building.vocabulary import Vocabulary
    from crawlctl.pipeline.index.segment.stored_documents import DocRecord, Document

_RECORD_BYTES = 1000  # of a record beyond its text and sketch
_NO_LENGTHS = Lengths()


class Batch:
    """Some documents, in the order of their ordinals, the first of which is given."""

    def __init__(self, first: int) -> None:
        self.bytes = 0  # of the words
        self._first = first
        self._records: list[DocRecord] = []
        self._marked: dict[str, list[tuple[int, bytes]]] = {}  # language → place in the batch, words
        self._record_bytes = 0

    @property
    def memory(self) -> int:
        """An estimate of the bytes held."""
        return self.bytes + self._record_bytes

    def __len__(self) -> int:
        return len(self._records)

    def add(self, document: Document) -> None:
        """Add the next document; one that cannot be added leaves the batch as it was."""
        words, record = marked(document), record_of(document, _NO_LENGTHS)
        self._marked.setdefault(document.language, []).append((len(self._records), words))
        self._records.append(record)
        self.bytes += len(words)
        self._record_bytes += document.text.__sizeof__() + len(document.similarity) + _RECORD_BYTES

    def cut(self, vocabulary: Vocabulary) -> tuple[list[DocRecord], list[Words]]:
        """Return the records, with their lengths, and the words of each language."""
        lengths = [_NO_LENGTHS] * len(self._records)
        groups = []
        for language, documents in self._marked.items():
            places = [place for place, _ in documents]
            data = b"".join([words for _, words in documents])
            ordinals = [self._first + place for place in places]
            group = words_of_batch(data, ordinals, language, vocabulary)
            for place, found in zip(places, lengths_of(group), strict=True):
                lengths[place] = found
            groups.append(group)
        records = [
            msgspec.structs.replace(record, lengths=found)
            for record, found in zip(self._records, lengths, strict=True)
        ]
        return records, groups
