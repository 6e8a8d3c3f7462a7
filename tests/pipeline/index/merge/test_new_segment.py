from __future__ import annotations

import io
from typing import TYPE_CHECKING, cast

import numpy as np

from crawlctl.pipeline.formats.sequencefile.block_body import Layout, encode_block
from crawlctl.pipeline.formats.sequencefile.sequencefile import SequenceFileReader, SequenceFileWriter
from crawlctl.pipeline.formats.sequencefile.writables import LONG, pack_long
from crawlctl.pipeline.index.merge.new_segment import SegmentContent, _copy_docs
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.tests.bytes_source import BytesSource

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.pipeline.index.merge.sources import Source, Values


class Documents:
    """A source of documents whose file has a block without any."""

    def __init__(self) -> None:
        sink = io.BytesIO()
        with SequenceFileWriter(sink, key_class=LONG) as writer:
            sink.write(encode_block(Layout.of(writer.header, 1 << 20), [], []))
            writer.append(pack_long(0), b"one")
        self.data = sink.getvalue()

    def docs(self) -> Values:
        """Yield the numbers of the documents, and the blocks."""
        for block in SequenceFileReader(BytesSource(self.data)).stored_blocks():
            yield np.arange(len(block.keys)), block


def test_a_block_without_documents_is_passed_over(tmp_path: Path) -> None:
    source = cast("Source", Documents())
    content = SegmentContent([(source, np.zeros(1, np.int32))], 1, [], [])
    rows, (data, _) = _copy_docs(LocalStore(tmp_path), "segments/a", 0, content)
    assert rows.tolist() == [0]
    assert data.records == 1
