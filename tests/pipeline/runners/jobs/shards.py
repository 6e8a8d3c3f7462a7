"""Sends packed values to shards and counts what each reduce task gets, in the order it comes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from crawlctl.jobs.shared.shards import ShardProtocol
from crawlctl.pipeline.mrjob_light import MRJob

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Shards(MRJob):
    INTERNAL_PROTOCOL = ShardProtocol
    OUTPUT_PROTOCOL = ShardProtocol
    SORT_VALUES = True

    def configure_args(self) -> None:
        super().configure_args()
        self.add_passthru_arg("--reducers", type=int, default=0)

    def jobconf(self) -> dict[str, int]:
        return {"mapreduce.job.reduces": self.options.reducers} if self.options.reducers else {}

    def mapper(self, _: None, line: str) -> Iterator[tuple[int, bytes]]:
        shard, value = json.loads(line)
        yield shard, bytes.fromhex(value)

    def reducer_init(self) -> None:
        self.groups = 0

    def reducer(self, shard: int, values: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
        self.groups += 1
        for value in values:
            yield shard, value

    def reducer_final(self) -> None:
        self.increment_counter("reduce tasks", f"with {self.groups} groups")


if __name__ == "__main__":
    Shards.run()
