"""WordTables: the word tables of all shards of the dictionary, as corrections and completions ask them.

A word may be in the tables of several layers; its documents are added up. Documents that were deleted after a
layer was written are counted too, because a table does not say which segment a document is in. A layer of a
few pages keeps rare words that the table of the whole index would leave out; they are left out here.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from heapq import nlargest
from typing import TYPE_CHECKING

from crawlctl.pipeline.index.segment.dictionary_layers import layers_of
from crawlctl.pipeline.index.words.word_table import WORDS, WordTable, least_documents
from crawlctl.pipeline.state.kinds import DICTIONARY

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.store.parallel_reads import ParallelReads


class WordTables:
    """All words of the tables of a snapshot; an index that an older version merged has none."""

    def __init__(self, store: Store, snapshot: Snapshot, parallel: ParallelReads) -> None:
        files = snapshot.files_of(DICTIONARY)
        names = [entry.name for entry in files if entry.name.endswith(f"/{WORDS}")]
        found = parallel.map(store.read, names)
        pairs = zip(found, names, strict=True)
        self._layers = len(layers_of(files))
        self._tables = [WordTable(data, store.locate(name)) for data, name in pairs]

    def __len__(self) -> int:
        return sum(map(len, self._tables))

    def documents(self, word: str) -> int:
        """Return how many documents have a word; 0 if no table has it."""
        found = sum(table.documents(word) for table in self._tables)
        return found if found >= self._least else 0

    def sharing(self, texts: Iterable[str]) -> set[tuple[str, int]]:
        """Return the words that share one of these texts, with their numbers of documents; see WordTable."""
        asked = list(texts)
        counts = Counter[str]()
        for table in self._tables:
            counts.update(dict(table.sharing(asked)))
        return {pair for pair in counts.items() if pair[1] >= self._least}

    def beginning_with(self, prefix: str, limit: int) -> list[tuple[int, str]]:
        """Return the words that begin with a prefix and are in the most documents, with that number."""
        words = {word for table in self._tables for _, word in table.beginning_with(prefix, limit)}
        found = ((self.documents(word), word) for word in words)
        return nlargest(limit, (pair for pair in found if pair[0]))

    @cached_property
    def _least(self) -> int:
        return (
            least_documents(max((table.most for table in self._tables), default=0)) if self._layers > 1 else 0
        )
