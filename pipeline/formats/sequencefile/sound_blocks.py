"""Reads the sound blocks of a damaged SequenceFile: each begins with a marker by which it can be found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.formats.sequencefile.header import ESCAPE
from crawlctl.pipeline.formats.sequencefile.sequencefile import SequenceFileReader

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.formats.sequencefile.block_body import Block
    from crawlctl.pipeline.formats.source import RangedSource

_SEARCHED = 1 << 20


def sound_blocks(source: RangedSource) -> Iterator[Block]:
    """Yield the blocks of a file that can be read; none if its header is damaged."""
    try:
        reader = SequenceFileReader(source)
    except CorruptFile:
        return
    marker = ESCAPE + reader.header.sync
    start: int | None = reader.header.end
    while start is not None and start < source.size:
        after = start + 1
        try:
            for block in reader.blocks_from(start, source.size):
                after = block.offset + 1
                yield block
            return
        except CorruptFile:
            start = _next_marker(source, marker, after)


def _next_marker(source: RangedSource, marker: bytes, start: int) -> int | None:
    while start < source.size:
        data = source.read(start, _SEARCHED)
        found = data.find(marker)
        if found >= 0:
            return start + found
        if len(data) < len(marker):
            return None
        start += len(data) - len(marker) + 1
    return None
