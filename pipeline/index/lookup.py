"""The document of a URL, for whoever asks about one page; a search goes by ordinals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.formats.mapfile import MapFileReader
from crawlctl.pipeline.formats.sequencefile import SequenceFileReader
from crawlctl.pipeline.formats.writables import pack_long
from crawlctl.pipeline.index.columns import ColumnReader
from crawlctl.pipeline.index.documents import decode_head, decode_record
from crawlctl.pipeline.index.files import runs_of
from crawlctl.pipeline.index.segments import COLUMNS, DOCS_DATA, DOCS_INDEX, segments_of
from crawlctl.pipeline.net.hosts import host_of
from crawlctl.pipeline.net.urls import stable_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawlctl.pipeline.index.documents import DocRecord
    from crawlctl.pipeline.index.files import RunFiles
    from crawlctl.pipeline.index.segments import Segment
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.store.manifest import FileEntry


def find_document(store: Store, entries: Iterable[FileEntry], url: str) -> DocRecord | None:
    """Return the latest document of a URL in the runs and segments of its partition, None without one."""
    files = tuple(entries)
    found = [record for run in runs_of(files) for record in _of_run(store, run, url)]
    found += [record for one in segments_of(files) for record in _of_segment(store, one, url)]
    return max(found, key=lambda record: record.fetched_at, default=None)


def _of_run(store: Store, run: RunFiles, url: str) -> Iterator[DocRecord]:
    wanted = url.encode()
    source = store.open(run.docs_heads)
    for block in SequenceFileReader(source).blocks():
        for number, value in zip(block.keys, block.values, strict=True):
            if wanted in value and decode_head(value, source.name, block.offset).url == url:
                docs = MapFileReader(store.open(run.docs_data), store.open(run.docs_index))
                yield from _record(docs, number, store.locate(run.docs_data))


def _of_segment(store: Store, segment: Segment, url: str) -> Iterator[DocRecord]:
    if segment.frontier:
        return
    columns = ColumnReader(segment.open(store, COLUMNS), segment.documents)
    hosts = columns.hosts()
    host, wanted = host_of(url).encode("ascii"), stable_hash(url)
    if host not in hosts.names:
        return
    first, after = hosts.bounds(hosts.names.index(host), segment.documents)
    hashes = columns.column("hashes")
    for ordinal in range(first, after):
        if hashes[ordinal] == wanted:
            source = segment.open(store, DOCS_DATA)
            docs = MapFileReader(source, segment.open(store, DOCS_INDEX))
            yield from _record(docs, pack_long(columns.number("places", ordinal)), source.name)


def _record(docs: MapFileReader, number: bytes, name: str) -> Iterator[DocRecord]:
    value = docs.get(number)
    if value is not None:
        yield decode_record(value, name)
