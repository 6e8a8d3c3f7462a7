"""What the counters of files tell of an index, without opening any."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.index.fields import INDEXED_FIELDS
from crawlctl.pipeline.index.runs.run_files import WORDS
from crawlctl.pipeline.index.segment.segment_files import segments_of
from crawlctl.pipeline.state.kinds import DELETED, DICTIONARY, DOCS, POSTINGS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlctl.pipeline.state.manifest import FileEntry

SHARD_TERMS = 4_000_000  # of all segments; a shard of so many takes some ten seconds
MAX_SHARDS = 64


class Totals(NamedTuple):
    """The documents of the whole index and what they hold, runs included and the frontier left out."""

    documents: int
    words: tuple[int, ...]  # of INDEXED_FIELDS
    languages: dict[str, int]  # as far as known: that of the documents in runs is not

    @property
    def averages(self) -> tuple[float, ...]:
        """The average length of each field."""
        return tuple(count / self.documents if self.documents else 0.0 for count in self.words)


def totals_of(entries: Iterable[FileEntry]) -> Totals:
    """Return the totals of an index that has these files; versions of one page count as often as they lie."""
    files = tuple(entries)
    segments = [segment for segment in segments_of(files) if not segment.frontier]
    runs = [entry.counters for entry in files if entry.kind == DOCS and entry.counters]
    words = [
        sum(segment.words[number] for segment in segments)
        + sum(counters.get(WORDS + field, 0) for counters in runs)
        for number, field in enumerate(INDEXED_FIELDS)
    ]
    languages: Counter[str] = Counter()
    for segment in segments:
        languages.update(segment.languages)
    documents = sum(segment.documents for segment in segments)
    documents += sum(counters.get("documents", 0) for counters in runs)
    return Totals(documents, tuple(words), dict(languages))


def expected_shards(entries: Iterable[FileEntry]) -> int:
    """Return in how many shards to write the dictionary of what these files, runs included, become."""
    files = tuple(entries)
    terms = sum(segment.terms for segment in segments_of(files))
    terms += sum(entry.counters.get("terms", 0) for entry in files if entry.kind == POSTINGS)
    return min(max(1, -(-terms // SHARD_TERMS)), MAX_SHARDS)


def summary_of(entries: Iterable[FileEntry]) -> dict[str, int]:
    """Return how large an index is."""
    files = tuple(entries)
    segments = segments_of(files)
    dead = sum(entry.counters.get("dead", 0) for entry in files if entry.kind == DELETED)
    return {
        "documents": sum(segment.documents for segment in segments if not segment.frontier) - dead,
        "frontier documents": sum(segment.documents for segment in segments if segment.frontier),
        "segments": len(segments),
        "terms": sum(entry.records for entry in files if entry.kind == DICTIONARY),
        "unmerged runs": sum(entry.kind == DOCS and bool(entry.counters) for entry in files),
    }
