"""Finds the document of a URL, and the documents that are nearly equal to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.formats.sequencefile.mapfile import MapFileReader
from crawlctl.pipeline.formats.sequencefile.sequencefile import SequenceFileReader
from crawlctl.pipeline.formats.sequencefile.writables import pack_long
from crawlctl.pipeline.index.runs.run_files import runs_of
from crawlctl.pipeline.index.segment.columns import ColumnReader
from crawlctl.pipeline.index.segment.duplicate_groups import read_groups
from crawlctl.pipeline.index.segment.segment_files import COLUMNS, DOCS_DATA, DOCS_INDEX, segments_of
from crawlctl.pipeline.index.segment.stored_documents import decode_head, decode_record
from crawlctl.pipeline.urls.hosts import host_of, stable_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawlctl.pipeline.index.runs.run_files import RunFiles
    from crawlctl.pipeline.index.segment.segment_files import Segment
    from crawlctl.pipeline.index.segment.stored_documents import DocRecord
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store


def find_document(store: Store, entries: Iterable[FileEntry], url: str) -> DocRecord | None:
    """Return the newest document of a URL in the runs and segments of its partition, or None."""
    files = tuple(entries)
    found = [record for run in runs_of(files) for record in _of_run(store, run, url)]
    found += [record for one in segments_of(files) for record in _of_segment(store, one, url)]
    return max(found, key=lambda record: record.fetched_at, default=None)


def _of_run(store: Store, run: RunFiles, url: str) -> Iterator[DocRecord]:
    packed = url.encode()
    source = store.open(run.docs_heads)
    for block in SequenceFileReader(source).blocks():
        for number, value in zip(block.keys, block.values, strict=True):
            if packed in value and decode_head(value, source.name, block.offset).url == url:
                docs = MapFileReader(store.open(run.docs_data), store.open(run.docs_index))
                yield from _record(docs, number, store.locate(run.docs_data))


def similar_to(store: Store, entries: Iterable[FileEntry], url: str) -> Iterator[str]:
    """Yield the URLs of the other documents in the duplicate group of a URL, if it is in one."""
    files = tuple(entries)
    groups = read_groups(store, files)
    segments = [segment for segment in segments_of(files) if segment.name in groups]
    own = {
        groups[segment.name].group_of(ordinal)
        for segment in segments
        for ordinal in _ordinals(store, segment, url)
    } - {None}
    for segment in segments if own else ():
        members = groups[segment.name]
        for ordinal, group in zip(members.ordinals, members.groups, strict=True):
            if group in own:
                yield from (record.url for record in _document(store, segment, ordinal) if record.url != url)


def _of_segment(store: Store, segment: Segment, url: str) -> Iterator[DocRecord]:
    for ordinal in _ordinals(store, segment, url):
        yield from _document(store, segment, ordinal)


def _ordinals(store: Store, segment: Segment, url: str) -> Iterator[int]:
    """Yield the ordinal of the document of a URL, if the segment has it."""
    if segment.frontier:
        return
    columns = _columns(store, segment)
    hosts = columns.hosts()
    host, url_hash = host_of(url).encode("ascii"), stable_hash(url)
    if host in hosts.names:
        first, after = hosts.bounds(hosts.names.index(host), segment.documents)
        hashes = columns.column("hashes")
        yield from (ordinal for ordinal in range(first, after) if hashes[ordinal] == url_hash)


def _document(store: Store, segment: Segment, ordinal: int) -> Iterator[DocRecord]:
    source = segment.open(store, DOCS_DATA)
    docs = MapFileReader(source, segment.open(store, DOCS_INDEX))
    row = _columns(store, segment).number("rows", ordinal)
    return _record(docs, pack_long(row), source.name)


def _columns(store: Store, segment: Segment) -> ColumnReader:
    return ColumnReader(segment.open(store, COLUMNS), segment.documents)


def _record(docs: MapFileReader, number: bytes, name: str) -> Iterator[DocRecord]:
    value = docs.get(number)
    if value is not None:
        yield decode_record(value, name)
