"""Reads each file itself, as a job over binary files does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from crawlctl.pipeline.mrjob_light import MRJob

if TYPE_CHECKING:
    from collections.abc import Iterator


class WholeFiles(MRJob):
    def mapper_raw(self, path: str, uri: str) -> Iterator[tuple[str, str]]:
        yield Path(uri).name, Path(path).read_bytes().hex()


if __name__ == "__main__":
    WholeFiles.run()
