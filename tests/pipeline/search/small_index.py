"""Small indexes, written segment by segment, with all that a merge may leave in one."""

from __future__ import annotations

from collections import Counter, defaultdict
from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np

from crawlctl.pipeline.arrays.byte_strings import strings_of
from crawlctl.pipeline.formats.sequencefile.mapfile import MapFileWriter
from crawlctl.pipeline.formats.sequencefile.writables import LONG, pack_long
from crawlctl.pipeline.index.fields import ANCHOR, INDEXED_FIELDS, OFFSET_BITS
from crawlctl.pipeline.index.keywords import keywords_of
from crawlctl.pipeline.index.merge.dictionary_shards import write_terms_of_shard
from crawlctl.pipeline.index.segment.columns import COLUMNS, encode_columns, pack_language
from crawlctl.pipeline.index.segment.duplicate_groups import pack_groups, write_groups
from crawlctl.pipeline.index.segment.postings.list_writer import pack_lists
from crawlctl.pipeline.index.segment.postings.posting_arrays import Lists
from crawlctl.pipeline.index.segment.priors import write_priors
from crawlctl.pipeline.index.segment.segment_files import (
    MARKED_TERMS,
    SEGMENT_FILES,
    WITH_FORMS,
    counters_of,
    segment_name,
)
from crawlctl.pipeline.index.segment.stored_documents import Document, Lengths, encode_document, record_of
from crawlctl.pipeline.index.segment.tombstones import Tombstones, write_tombstones
from crawlctl.pipeline.index.words.title_table import entries_of, write_titles
from crawlctl.pipeline.state.kinds import SEGMENTS
from crawlctl.pipeline.state.manifest import FileEntry
from crawlctl.pipeline.state.snapshots import Snapshot, commit, create_crawl
from crawlctl.pipeline.text.documents.page import PageDate, PageDetails
from crawlctl.pipeline.text.words.stems import bare_term, form_of, is_form, term_of
from crawlctl.pipeline.text.words.tokens import tokens
from crawlctl.pipeline.urls.hosts import stable_hash
from crawlctl.tests.pipeline.search.brute_force import written_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from crawlctl.pipeline.arrays.byte_strings import ByteStrings
    from crawlctl.pipeline.store.base import Store
    from crawlctl.tests.pipeline.search.brute_force import Page

    Terms = tuple[ByteStrings, ByteStrings]  # with their term infos


def write_segment(
    store: Store, pages: Iterable[Page], partition: int = 0, *, frontier: bool = False, marks: bool = True
) -> tuple[str, tuple[FileEntry, ...], Terms]:
    """Write a segment; return its name, its files, and its terms for the dictionary."""
    ordered = sorted(pages, key=lambda page: page.key)
    name = segment_name(partition, 1)
    terms, postings = _terms_and_postings(ordered, term_of if marks else bare_term, forms=marks)
    docs, index = _docs(ordered)
    lengths = [_lengths(page) for page in ordered]
    hosts = {page.key[0]: ordinal for ordinal, page in reversed(list(enumerate(ordered)))}
    columns = _columns(ordered, lengths)
    hosts_of = [(host.encode(), first) for host, first in sorted(hosts.items())]
    encoded = b"".join(encode_columns(columns, hosts_of, len(ordered)))
    counters = counters_of(
        len(ordered),
        [sum(column) for column in zip(*lengths, strict=True)] or [0] * 5,
        [1.0] * len(INDEXED_FIELDS),
        Counter(page.language for page in ordered),
        frontier=frontier,
    )
    if not marks:
        newer = MARKED_TERMS | WITH_FORMS
        counters = {name: count for name, count in counters.items() if name not in newer}
    data = dict.fromkeys(SEGMENT_FILES, b"") | {"docs/data": docs, "docs/index": index}
    data |= {"postings": postings, "columns": encoded}
    entries = []
    for part in SEGMENT_FILES:
        with store.write(f"{name}/{part}") as sink:
            sink.write(data[part])
        counted = counters if part == "columns" else {}
        entries.append(FileEntry(SEGMENTS, partition, sink.name, sink.bytes, 0, sink.checksum, counted))
    if marks and not frontier:
        records = [record_of(document_of(page), Lengths()) for page in ordered]
        titles = [entry for ordinal, record in enumerate(records) for entry in entries_of(record, ordinal)]
        entries.append(write_titles(store, name, partition, titles, len(ordered)))
    return name, tuple(entries), terms


def _columns(pages: Sequence[Page], lengths: Sequence[tuple[int, ...]]) -> dict[str, bytes]:
    numbers: dict[str, Sequence[int]] = {
        "hashes": [stable_hash(page.url) for page in pages],
        "rows": range(len(pages)),
        "fetched": [page.fetched_at for page in pages],
        "modified": [page.last_modified for page in pages],
        "languages": [pack_language(page.language) for page in pages],
        **{field: [found[place] for found in lengths] for place, field in enumerate(INDEXED_FIELDS)},
    }
    return {
        column: b"".join(
            number.to_bytes(width, "little") for number in numbers.get(column, (0,) * len(pages))
        )
        for column, width in COLUMNS.items()
    }


def _lengths(page: Page) -> tuple[int, ...]:
    return tuple(sum(len(tokens(text)) for text in texts) for texts in page.fields())


def _docs(pages: Sequence[Page]) -> tuple[bytes, bytes]:
    data, index = BytesIO(), BytesIO()
    with MapFileWriter(data, index, key_class=LONG, block_bytes=512) as docs:
        for place, page in enumerate(pages):
            docs.append(pack_long(place), encode_document(record_of(document_of(page), Lengths())))
    return data.getvalue(), index.getvalue()


def document_of(page: Page) -> Document:
    """Return a page as the index receives it; its date is believed, whenever it was fetched."""
    modified = PageDate(page.last_modified, "last-modified") if page.last_modified else None
    return Document(
        page.url,
        page.title,
        page.headings,
        page.text,
        page.language,
        fetched_at=page.fetched_at,
        last_modified=page.last_modified,
        details=PageDetails(
            modified=modified,
            fields=page.values,
            kind=page.kind,
            sections=page.sections,
            signs=page.signs,
        ),
    )


def _terms_and_postings(
    pages: Sequence[Page], term_of_word: Callable[[str, str], bytes], *, forms: bool
) -> tuple[Terms, bytes]:
    found: defaultdict[bytes, dict[int, list[int]]] = defaultdict(dict)
    masks_of_forms: dict[tuple[bytes, int], int] = {}
    for ordinal, page in enumerate(pages):
        for position, same in sorted(page.positions(term_of_word).items()):
            for term in same:
                found[term].setdefault(ordinal, []).append(position)
        for keyword in keywords_of(document_of(page)):
            found[keyword][ordinal] = [0]
        for word, mask in written_words(page).items() if forms else ():
            form = form_of(word, page.language)
            if is_form(form):
                masks_of_forms[form, ordinal] = mask
                of_page, in_anchors = mask & (1 << ANCHOR) - 1, mask >> ANCHOR & 1
                found[form][ordinal] = [of_page] * (of_page > 0) + [ANCHOR << OFFSET_BITS] * in_anchors
    terms, values, postings = sorted(found), [], b""
    for term in terms:
        documents = found[term]
        lists = Lists(
            np.array([len(documents)]),
            np.array(list(documents)),
            np.array([len(positions) for positions in documents.values()]),
            np.array([position for positions in documents.values() for position in positions]),
        )
        impacts = [min(255, 60 * len(positions)) for positions in documents.values()]
        masks = [
            masks_of_forms.get((term, ordinal)) or sum({1 << (at >> OFFSET_BITS) for at in positions})
            for ordinal, positions in documents.items()
        ]
        ratings = np.array(impacts, np.uint8), np.array(masks, np.uint8)
        (entry,), parts = pack_lists(lists._replace(ratings=ratings), len(postings))
        values.append(entry)
        postings += b"".join(parts)
    return (strings_of(terms), strings_of(values)), postings


def write_index(
    store: Store, segments: Sequence[Sequence[Page]], frontier: Sequence[Page] = (), *, older: int = 0
) -> Snapshot:
    """Write an index of some segments, and perhaps one of pages that were not fetched, and commit it.

    The first `older` segments are as older versions wrote them: their terms have no marks.
    """
    files: list[FileEntry] = []
    columns: dict[str, Terms] = {}
    stones, priors, groups = [], {}, []
    for number, pages in enumerate((*segments, frontier) if frontier else segments):
        ordered = sorted(pages, key=lambda page: page.key)
        name, entries, terms = write_segment(
            store, ordered, frontier=bool(frontier) and number == len(segments), marks=number >= older
        )
        files += entries
        columns[name] = terms
        dead = [page.dead for page in ordered]
        bitmap = np.packbits(np.array(dead, np.bool_), bitorder="little").tobytes()
        stones.append(Tombstones(name, len(ordered), sum(dead), 0, bitmap))
        if any(page.prior for page in ordered):
            priors[name] = bytes(page.prior for page in ordered)
        members = {ordinal: page.group for ordinal, page in enumerate(ordered) if page.group}
        groups.append(pack_groups(name, members))
    files += write_tombstones(store, stones, partition=0, round_number=1)
    files += write_priors(store, priors, partition=0, round_number=1)
    files += write_groups(store, groups, partition=0, round_number=1)
    names = sorted(columns)
    sizes = {name: len(columns[name][0]) for name in names}
    files += write_terms_of_shard(store, sizes, [iter([columns[name]]) for name in names], round_number=1)
    return commit(store, create_crawl(store, 1), files=files, round_number=1)
