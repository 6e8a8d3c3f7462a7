"""Finds the sound records of a damaged web archive, with their places, so that they can be copied.

Each record that crawlctl writes is a gzip member of its own with the digest of its block. So it can be
checked, and copied byte for byte.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.formats.warc.warc_reader import WarcReader
from crawlctl.pipeline.formats.warc.warc_writer import labelled_digest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.formats.source import RangedSource

_SEARCHED = 1 << 20
_MEMBER = re.compile(rb"\x1f\x8b\x08\x00")  # the first bytes of a gzip member that crawlctl writes


class SoundRecord(NamedTuple):
    """A record that fits its digest: its bytes in the file, and what its header says."""

    start: int
    end: int
    type: str
    url: str
    date: str


def sound_records(source: RangedSource) -> Iterator[SoundRecord]:
    """Yield the sound records of a compressed archive in their order; damage between them is skipped."""
    start: int | None = 0
    while start is not None and start < source.size:
        last: SoundRecord | None = None
        try:
            for record in WarcReader(source, start):
                if last is not None:
                    yield last._replace(end=record.offset)
                start, last = record.offset, None
                if record.header("WARC-Block-Digest") in (None, labelled_digest(record.read())):
                    about = record.type, record.url or "", record.header("WARC-Date") or ""
                    last = SoundRecord(record.offset, source.size, *about)
            if last is not None:
                yield last
            return
        except CorruptFile as err:
            if last is not None and err.offset > last.start:
                yield last._replace(end=err.offset)
            start = _next_member(source, max(start, err.offset) + 1)


def _next_member(source: RangedSource, start: int) -> int | None:
    while start < source.size:
        data = source.read(start, _SEARCHED)
        if found := _MEMBER.search(data):
            return start + found.start()
        start += max(1, len(data) - 3)
    return None
