"""The documents and links of a run: compressed in memory as they come, copied to the store in the end."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING

from crawlctl.pipeline.formats.sequencefile.mapfile import MapFileWriter
from crawlctl.pipeline.formats.sequencefile.sequencefile import SequenceFileWriter
from crawlctl.pipeline.formats.sequencefile.writables import LONG, pack_long
from crawlctl.pipeline.index.fields import PAGE_FIELDS
from crawlctl.pipeline.index.runs.run_files import DOCS_BLOCK_BYTES, HEADS, WORDS, file_entry
from crawlctl.pipeline.index.segment.stored_documents import encode_head, encode_record
from crawlctl.pipeline.state.kinds import DOCS, LINKS
from crawlctl.pipeline.state.layout import KIND_KEY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawlctl.pipeline.index.runs.run_files import RunFiles
    from crawlctl.pipeline.index.segment.stored_documents import DocRecord
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store

_LINKS_BLOCK_BYTES = 256 << 10
_HEADS_BLOCK_BYTES = 256 << 10


class StoredDocuments:
    """What a run keeps of documents beside their words; both kinds come in the order of ordinals."""

    def __init__(self) -> None:
        self._data, self._index, self._heads_data, self._links_data = (BytesIO() for _ in range(4))
        self._docs = MapFileWriter(
            self._data, self._index, key_class=LONG, metadata={KIND_KEY: DOCS}, block_bytes=DOCS_BLOCK_BYTES
        )
        self._heads = SequenceFileWriter(
            self._heads_data, key_class=LONG, metadata={KIND_KEY: HEADS}, block_bytes=_HEADS_BLOCK_BYTES
        )
        self._links = SequenceFileWriter(
            self._links_data, key_class=LONG, metadata={KIND_KEY: LINKS}, block_bytes=_LINKS_BLOCK_BYTES
        )
        self._waiting: list[bytes] = []  # packed links of documents whose records are to come
        self._waiting_bytes = 0
        self._counters = {"links": 0, "nofollow": 0}
        self._words = dict.fromkeys(PAGE_FIELDS, 0)

    @property
    def memory(self) -> int:
        """The bytes held, without the blocks that are being filled."""
        buffers = (self._data, self._index, self._heads_data, self._links_data)
        return sum(buffer.__sizeof__() for buffer in buffers) + self._waiting_bytes

    def add_links(self, packed: bytes, links: Sequence[tuple[str, str, bool]]) -> None:
        """Add the links of the next document, packed by `encode_links`."""
        self._waiting.append(packed)
        self._waiting_bytes += packed.__sizeof__()
        self._counters["links"] += len(links)
        self._counters["nofollow"] += sum([nofollow for _, _, nofollow in links])

    def add_records(self, records: Sequence[DocRecord]) -> None:
        """Add the records of the next documents, whose links have come."""
        first = self._docs.records
        keys = [pack_long(ordinal) for ordinal in range(first, first + len(records))]
        self._docs.extend(keys, [encode_record(record) for record in records])
        self._heads.extend(keys, [encode_head(record) for record in records])
        self._links.extend(keys, self._waiting)
        self._waiting, self._waiting_bytes = [], 0
        for field in PAGE_FIELDS:
            self._words[field] += sum([getattr(record.lengths, field) for record in records])

    def write(self, store: Store, files: RunFiles, partition: int) -> tuple[FileEntry, ...]:
        """Write the files of documents and links, and free what was held."""
        self._docs.close()
        self._heads.close()
        self._links.close()
        documents = self._docs.records
        words = {f"{WORDS}{field}": count for field, count in self._words.items()}
        with store.write(files.docs_data) as data, self._data:
            data.write(self._data.getbuffer())
        with store.write(files.docs_index) as index, self._index:
            index.write(self._index.getbuffer())
        with store.write(files.docs_heads) as heads, self._heads_data:
            heads.write(self._heads_data.getbuffer())
        with store.write(files.links) as links, self._links_data:
            links.write(self._links_data.getbuffer())
        return (
            file_entry(data, DOCS, partition, documents, {"documents": documents, **words}),
            file_entry(index, DOCS, partition),
            file_entry(heads, DOCS, partition, documents),
            file_entry(links, LINKS, partition, documents, self._counters),
        )
