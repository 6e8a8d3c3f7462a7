"""A job that does nothing, in three steps of a mapper and a reducer, to measure the cost of runners."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.mrjob_light import MRJob, MRStep

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class NullJob(MRJob):
    """Passes its records through unchanged."""

    def mapper_pass(self, _: object, value: str) -> Iterator[tuple[str, str]]:
        yield value, value

    def reducer_pass(self, key: str, values: Iterable[str]) -> Iterator[tuple[str, str]]:
        for value in values:
            yield key, value

    def steps(self) -> list[MRStep]:
        return [MRStep(mapper=self.mapper_pass, reducer=self.reducer_pass)] * 3


if __name__ == "__main__":
    NullJob.run()
