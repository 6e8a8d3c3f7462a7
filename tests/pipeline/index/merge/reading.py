"""Reads segments word by word, and says what they should hold: what the tests of a merge compare."""

from __future__ import annotations

from bisect import insort
from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.formats.sequencefile.mapfile import MapFileReader
from crawlctl.pipeline.formats.sequencefile.sequencefile import SequenceFileReader
from crawlctl.pipeline.formats.sequencefile.writables import pack_long
from crawlctl.pipeline.index.building.builder import RunBuilder
from crawlctl.pipeline.index.building.inversion import url_text
from crawlctl.pipeline.index.fields import ANCHOR, OFFSET_BITS
from crawlctl.pipeline.index.segment.columns import ColumnReader
from crawlctl.pipeline.index.segment.postings.plain_lists import decode_documents, decode_positions
from crawlctl.pipeline.index.segment.segment_files import (
    COLUMNS,
    DOCS_DATA,
    DOCS_INDEX,
    LINKS,
    POSTINGS,
    TERMS_DATA,
    TERMS_INDEX,
    segments_of,
)
from crawlctl.pipeline.index.segment.stored_documents import DocRecord, decode_record
from crawlctl.pipeline.index.segment.term_info import TermInfo, decode_term_info
from crawlctl.pipeline.index.segment.tombstones import read_tombstones
from crawlctl.pipeline.text.words.stems import form_of, is_form, term_of
from crawlctl.pipeline.text.words.tokens import tokens
from crawlctl.pipeline.urls.hosts import webdb_key
from crawlctl.tests.pipeline.search.brute_force import placed_words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlctl.pipeline.index.segment.segment_files import Segment
    from crawlctl.pipeline.index.segment.stored_documents import Document
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store

Postings = dict[bytes, dict[str, list[int]]]  # term → URL → positions


def write_run(store: Store, documents: Iterable[Document], round_number: int) -> tuple[FileEntry, ...]:
    builder = RunBuilder()
    for document in documents:
        builder.add(document)
    return builder.write(store, partition=0, round_number=round_number)


def words_at(postings: Postings, url: str, field: int, texts: Iterable[str], language: str) -> None:
    """Put the words of the texts of a field into postings, a break between two texts."""
    offset = 0
    for text in texts:
        words = tokens(text)
        for further, word in placed_words(text, language, body=field == 0):
            places = postings.setdefault(term_of(word, language), {}).setdefault(url, [])
            if (place := field << OFFSET_BITS | offset + further) not in places:
                insort(places, place)
        offset += len(words) + 1


def expected_postings(documents: Iterable[tuple[Document, tuple[str, ...]]]) -> Postings:
    """Return what an index of these documents and their anchors has to hold, found word by word."""
    postings: Postings = {}
    for document, anchors in documents:
        fields = [[document.text], document.headings, [document.title], [url_text(document.url)], anchors]
        for field, texts in enumerate(fields):
            words_at(postings, document.url, field, texts, document.language)
        for field, texts in enumerate(fields):
            forms_at(postings, document.url, field, texts, document.language)
    return postings


def forms_at(postings: Postings, url: str, field: int, texts: Iterable[str], language: str) -> None:
    """Put the words of a field into postings as they are written; see index/fields.py for their positions."""
    words = {word for text in texts for _, word in placed_words(text, language, body=field == 0)}
    for form in filter(is_form, {form_of(word, language) for word in words}):
        places = postings.setdefault(form, {}).setdefault(url, [])
        if field == ANCHOR:
            places.append(ANCHOR << OFFSET_BITS)
        else:
            places[:] = [sum(places) | 1 << field]


def mask_of(term: bytes, positions: list[int]) -> int:
    """Return the fields of a posting, one bit each."""
    if is_form(term) and positions[0] < 1 << ANCHOR:
        return positions[0] | (1 << ANCHOR if len(positions) > 1 else 0)
    return sum({1 << (position >> OFFSET_BITS) for position in positions})


class Opened(NamedTuple):
    """A segment with all its files at hand; `records` by ordinal."""

    segment: Segment
    columns: ColumnReader
    records: list[DocRecord]
    postings: bytes
    dead: set[int]

    def listed(self, term: bytes, place: TermInfo) -> dict[str, list[int]]:
        """Return the positions by URL in the list of a term, tombstones heeded."""
        size = place.documents_bytes + place.positions_bytes
        parts = place.inlined or self.postings[place.offset : place.offset + size]
        documents = decode_documents(parts[: place.documents_bytes], place.count, self.segment.documents)
        positions = decode_positions(parts[place.documents_bytes :], place.count)
        for mask, found in zip(documents.masks, positions, strict=True):
            assert mask == mask_of(term, found)
        assert max(documents.impacts) == place.max_impact
        assert min(documents.impacts) > 0
        return {
            self.records[ordinal].url: found
            for ordinal, found in zip(documents.ordinals, positions, strict=True)
            if ordinal not in self.dead
        }


def opened(store: Store, entries: Iterable[FileEntry]) -> list[Opened]:
    files = tuple(entries)
    stones = read_tombstones(store, files)
    found = []
    for segment in segments_of(files):
        dead = stones.get(segment.name)
        docs = MapFileReader(segment.open(store, DOCS_DATA), segment.open(store, DOCS_INDEX))
        columns = ColumnReader(segment.open(store, COLUMNS), segment.documents)
        postings = segment.open(store, POSTINGS).read(0, segment.entries[POSTINGS].bytes)
        gone = {ordinal for ordinal in range(segment.documents) if dead is not None and ordinal in dead}
        records = [_record(docs, columns, ordinal) for ordinal in range(segment.documents)]
        found.append(Opened(segment, columns, records, postings, gone))
    return found


def _record(docs: MapFileReader, columns: ColumnReader, ordinal: int) -> DocRecord:
    value = docs.get(pack_long(columns.number("rows", ordinal)))
    assert value is not None
    return decode_record(value)


def postings_of(store: Store, entries: Iterable[FileEntry], *, frontier: bool = False) -> Postings:
    """Return what the segments hold of living documents."""
    postings: Postings = {}
    for one in opened(store, entries):
        if one.segment.frontier is frontier:
            terms = MapFileReader(one.segment.open(store, TERMS_DATA), one.segment.open(store, TERMS_INDEX))
            for term, value in terms:
                found = one.listed(term, decode_term_info(value)[0])
                assert not found.keys() & postings.get(term, {}).keys(), "a document lives in two segments"
                if found:
                    postings.setdefault(term, {}).update(found)
    return postings


def records_of(store: Store, entries: Iterable[FileEntry], *, frontier: bool = False) -> dict[str, DocRecord]:
    """Return the records of living documents by URL; ordinals follow the order of the WebDB."""
    records: dict[str, DocRecord] = {}
    for one in opened(store, entries):
        if one.segment.frontier is frontier:
            keys = [webdb_key(record.url) for record in one.records]
            assert keys == sorted(set(keys))
            hosts = one.columns.hosts()
            for place, host in enumerate(hosts.names):
                start, after = hosts.bounds(place, one.segment.documents)
                assert all(key.startswith(host + b" ") for key in keys[start:after])
                assert after > start
            records.update((r.url, r) for ordinal, r in enumerate(one.records) if ordinal not in one.dead)
    return records


def links_of(store: Store, entries: Iterable[FileEntry]) -> dict[str, bytes]:
    """Return the packed links of living documents by URL."""
    links: dict[str, bytes] = {}
    for one in opened(store, entries):
        values = [value for _, value in SequenceFileReader(one.segment.open(store, LINKS))]
        for ordinal, place in enumerate(one.columns.column("rows")):
            if ordinal not in one.dead:
                links[one.records[ordinal].url] = values[place]
    return links


def without_anchors(postings: Postings) -> Postings:
    """Return postings without the positions of anchors, which are brought up to date by a rewrite only."""
    kept = {
        term: {
            url: places
            for url, found in urls.items()
            if (places := [place for place in found if place >> OFFSET_BITS != ANCHOR])
        }
        for term, urls in postings.items()
    }
    return {term: urls for term, urls in kept.items() if urls}
