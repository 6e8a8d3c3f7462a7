"""Counts words, then finds the words of each count: two steps, a combiner, counters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.mrjob_light import MRJob, MRStep

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class WordCount(MRJob):
    def mapper_get_words(self, _: None, line: str) -> Iterator[tuple[str, int]]:
        self.increment_counter("words", "lines")
        for word in line.split():
            yield word, 1

    def combine_counts(self, word: str, counts: Iterable[int]) -> Iterator[tuple[str, int]]:
        yield word, sum(counts)

    def reducer_sum(self, word: str, counts: Iterable[int]) -> Iterator[tuple[int, str]]:
        self.increment_counter("words", "different")
        yield sum(counts), word

    def reducer_list_words(self, count: int, words: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
        self.increment_counter("counts", "different")
        yield count, sorted(words)

    def steps(self) -> list[MRStep]:
        return [
            MRStep(mapper=self.mapper_get_words, combiner=self.combine_counts, reducer=self.reducer_sum),
            MRStep(reducer=self.reducer_list_words),
        ]


if __name__ == "__main__":
    WordCount.run()
