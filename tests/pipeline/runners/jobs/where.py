"""Tells where a task finds crawlctl, and what reaches it of the environment."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import crawlctl
from crawlctl.pipeline.mrjob_light import MRJob

if TYPE_CHECKING:
    from collections.abc import Iterator


class Where(MRJob):
    def mapper(self, _: None, name: str) -> Iterator[tuple[str, str | None]]:
        yield "package", crawlctl.__file__
        yield name, os.environ.get(name)


if __name__ == "__main__":
    Where.run()
