"""Finds out whether a file is a web archive at all, before an import does anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import CorruptFile, UnsupportedFile
from crawlctl.pipeline.formats.warc.warc_reader import WarcReader
from crawlctl.pipeline.imports.answer_reader import next_record

if TYPE_CHECKING:
    from crawlctl.pipeline.formats.source import RangedSource

_TRIES = 16  # places in a file that look like the beginning of a record


class NoArchive(UnsupportedFile):
    """A file is neither WARC nor ARC."""

    finding = "no web archive"
    remedy = "give WARC or ARC files; nothing was imported"


def require_archive(source: RangedSource) -> bool:
    """Return whether an archive has any records; raise NoArchive if it is something else.

    The first record may be damaged, as long as one of the next records can be read.
    """
    start: int | None = 0
    problem: CorruptFile | None = None
    for _ in range(_TRIES):
        if start is None:
            break
        try:
            return next(iter(WarcReader(source, start)), None) is not None
        except CorruptFile as err:
            problem = problem or err
            start = next_record(source, max(start, err.offset) + 1)
    raise NoArchive(source.name, 0, problem.reason if problem else "it has no records")
