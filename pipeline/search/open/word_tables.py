"""WordTables: the word tables of all shards of the dictionary, as corrections and completions ask them."""

from __future__ import annotations

from heapq import nlargest
from typing import TYPE_CHECKING

from crawlctl.pipeline.index.words.word_table import WORDS, WordTable
from crawlctl.pipeline.state.kinds import DICTIONARY

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.store.parallel_reads import ParallelReads


class WordTables:
    """All words of the tables of a snapshot; an index that an older version merged has none."""

    def __init__(self, store: Store, snapshot: Snapshot, parallel: ParallelReads) -> None:
        names = [entry.name for entry in snapshot.files_of(DICTIONARY) if entry.name.endswith(f"/{WORDS}")]
        found = parallel.map(store.read, names)
        pairs = zip(found, names, strict=True)
        self._tables = [WordTable(data, store.locate(name)) for data, name in pairs]

    def __len__(self) -> int:
        return sum(map(len, self._tables))

    def documents(self, word: str) -> int:
        """Return how many documents have a word; 0 if no table has it."""
        return sum(table.documents(word) for table in self._tables)

    def sharing(self, texts: Iterable[str]) -> set[tuple[str, int]]:
        """Return the words that share one of these texts, with their documents; see WordTable."""
        asked = list(texts)
        return {found for table in self._tables for found in table.sharing(asked)}

    def beginning_with(self, prefix: str, limit: int) -> list[tuple[int, str]]:
        """Return the words that begin with a prefix and are in the most documents, with that number."""
        found = (pair for table in self._tables for pair in table.beginning_with(prefix, limit))
        return nlargest(limit, found)
