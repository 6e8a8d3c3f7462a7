"""What the counters in manifests say about an index, without opening its files."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.index.fields import INDEXED_FIELDS, WORDS
from crawlctl.pipeline.index.segment.segment_files import segments_of
from crawlctl.pipeline.state.kinds import DELETED, DICTIONARY, DOCS, POSTINGS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlctl.pipeline.state.manifest import FileEntry

SHARD_TERMS = 4_000_000  # of all segments; writing such a shard takes some ten seconds
MAX_SHARDS = 64


class Totals(NamedTuple):
    """The documents of the whole index and their words: with unmerged runs, without the frontier."""

    documents: int
    words: tuple[int, ...]  # by INDEXED_FIELDS
    languages: dict[str, int]  # documents by language, without those in runs

    @property
    def averages(self) -> tuple[float, ...]:
        """The average field lengths, by INDEXED_FIELDS."""
        return tuple(count / self.documents if self.documents else 0.0 for count in self.words)

    @property
    def main_language(self) -> str:
        """The language of most documents, "" if it is not known."""
        return max(self.languages, key=lambda code: self.languages[code], default="")


def totals_of(entries: Iterable[FileEntry]) -> Totals:
    """Return the totals of an index with these files; each document of a page counts, also the older ones."""
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
    """Return how many shards a dictionary of all these files, runs included, has if it is one layer."""
    files = tuple(entries)
    terms = sum(segment.terms for segment in segments_of(files))
    terms += sum(entry.counters.get("terms", 0) for entry in files if entry.kind == POSTINGS)
    return shards_for(terms)


def shards_for(terms: int) -> int:
    """Return how many shards a dictionary layer has whose segments have `terms` terms in all."""
    return min(max(1, -(-terms // SHARD_TERMS)), MAX_SHARDS)


def summary_of(entries: Iterable[FileEntry]) -> dict[str, int]:
    """Return the size of an index in documents, segments, terms and runs."""
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
