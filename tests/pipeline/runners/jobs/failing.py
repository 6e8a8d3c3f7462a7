"""Fails in the way and the place its arguments name."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import CorruptFile, StoreBusy
from crawlctl.pipeline.mrjob_light import MRJob

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Unportable(Exception):
    def __init__(self, one: str, two: str) -> None:
        super().__init__(f"{one}\n{two}")


class Failing(MRJob):
    def configure_args(self) -> None:
        super().configure_args()
        self.add_passthru_arg("--fail-in", choices=["mapper", "reducer"], default="mapper")
        self.add_passthru_arg("--how", default="value")

    def mapper(self, _: None, line: str) -> Iterator[tuple[str, int]]:
        if self.options.fail_in == "mapper" and line == "bad":
            self.fail()
        yield line, 1

    def reducer(self, line: str, ones: Iterable[int]) -> Iterator[tuple[str, int]]:
        if self.options.fail_in == "reducer" and line == "bad":
            self.fail()
        yield line, sum(ones)

    def fail(self) -> None:
        match self.options.how:
            case "value":
                raise ValueError("a bad line")
            case "busy":
                raise StoreBusy("another run holds the store; wait for it")
            case "corrupt":
                raise CorruptFile("part-1", 17, "no sync marker")
            case "unportable":
                raise Unportable("first", "second")
            case "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            case "terminate":
                os.kill(os.getpid(), signal.SIGTERM)
            case "exit":
                os._exit(3)
            case "sys.exit":
                sys.exit("gave up")


if __name__ == "__main__":
    Failing.run()
