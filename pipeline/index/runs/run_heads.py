"""Reads the heads of the documents of a run; needs no numpy and inflates no texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.formats.sequencefile.sequencefile import SequenceFileReader
from crawlctl.pipeline.formats.window import READ_AHEAD
from crawlctl.pipeline.index.segment.stored_documents import decode_head

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.index.segment.stored_documents import DocHead
    from crawlctl.pipeline.store.base import Store


def read_heads(store: Store, name: str, *, read_ahead: int = READ_AHEAD) -> Iterator[tuple[bytes, DocHead]]:
    """Yield the heads in a `heads` file, packed and decoded, in the order of ordinals."""
    source = store.open(name)
    for block in SequenceFileReader(source, read_ahead=read_ahead).blocks():
        for value in block.values:
            yield value, decode_head(value, source.name, block.offset)
