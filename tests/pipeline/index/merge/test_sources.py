"""Sources tell of damage in whatever file it lies."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crawlctl.pipeline.config.settings import IndexSettings
from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.formats.sequencefile.sequencefile import SequenceFileReader, SequenceFileWriter
from crawlctl.pipeline.index.merge import sources
from crawlctl.pipeline.index.merge.liveness import PageState
from crawlctl.pipeline.index.merge.partition import MergeTask, merge_partition
from crawlctl.pipeline.index.merge.sources import RunSource, SegmentSource
from crawlctl.pipeline.index.runs.run_files import runs_of
from crawlctl.pipeline.index.segment.postings.posting_arrays import Lists
from crawlctl.pipeline.index.segment.segment_files import (
    COLUMNS,
    LINKS,
    POSTINGS,
    SKETCHES,
    TERMS_DATA,
    segments_of,
)
from crawlctl.pipeline.index.segment.stored_documents import Document
from crawlctl.pipeline.index.segment.term_info import decode_term_info
from crawlctl.pipeline.index.statistics import totals_of
from crawlctl.pipeline.text.likeness.fingerprint import SKETCH_BYTES
from crawlctl.pipeline.urls.hosts import stable_hash, webdb_key
from crawlctl.tests.pipeline.index.merge.reading import write_run
from crawlctl.tests.pipeline.search.memory_store import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawlctl.pipeline.arrays.byte_strings import ByteStrings
    from crawlctl.pipeline.index.merge.sources import Source
    from crawlctl.pipeline.index.segment.segment_files import Segment

URLS = [f"https://a.example/{number}" for number in (13, 11, 12, *range(20, 30))]  # more than a term carries
DOCUMENTS = [
    Document(
        url,
        text="common " * 20 + url,
        language="en",
        fetched_at=place,
        sketch=bytes((place,)) * SKETCH_BYTES,
    )
    for place, url in enumerate(URLS)
]


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def run(store: MemoryStore) -> RunSource:
    (files,) = runs_of(write_run(store, DOCUMENTS, 1))
    return RunSource(store, files)


@pytest.fixture
def segment(store: MemoryStore) -> Segment:
    files = write_run(store, DOCUMENTS, 1)
    pages = [PageState(webdb_key(url)) for url in sorted(URLS)]
    merged = merge_partition(store, MergeTask(0, 1, IndexSettings(), totals_of(files), 0), files, pages)
    (found,) = segments_of(merged.files)
    return found


def everything(source: SegmentSource) -> list[object]:
    return [postings_of(source), list(source.docs()), list(source.links()), list(source.sketches())]


def postings_of(source: SegmentSource) -> list[tuple[ByteStrings, Lists]]:
    """Return the lists, which with impacts are the same, or damaged in the same way."""
    try:
        slices = list(source.slices())
    except CorruptFile as err:
        with pytest.raises(CorruptFile) as caught:
            list(source.rated_slices())
        assert str(caught.value) == str(err)
        raise
    assert_same(slices, [(terms, rated._replace(ratings=())) for terms, rated in source.rated_slices()])
    return slices


def assert_same(one: list[tuple[ByteStrings, Lists]], other: list[tuple[ByteStrings, Lists]]) -> None:
    for (terms, lists), (other_terms, other_lists) in zip(one, other, strict=True):
        assert terms.tolist() == other_terms.tolist()
        assert all(map(np.array_equal, lists[:4], other_lists[:4]))


def cut(rows: Iterable[tuple[bytes, bytes]], postings: int, size: int) -> Iterator[list[bytes]]:
    """Yield the terms of slices that end with the first that makes up so many postings or bytes."""
    terms: list[bytes] = []
    held = taken = 0
    for term, value in rows:
        place, _ = decode_term_info(value)
        terms.append(term)
        held, taken = held + place.count, taken + place.documents_bytes + place.positions_bytes
        if held >= postings or taken >= size:
            yield terms
            terms, held, taken = [], 0, 0
    if terms:
        yield terms


def sketches(source: Source) -> dict[int, bytes]:
    found = [(ordinals, values) for ordinals, values in source.sketches()]
    return {
        ordinal: value
        for ordinals, values in found
        for ordinal, value in zip(ordinals.tolist(), values, strict=True)
    }


def test_run_and_segment_look_alike(store: MemoryStore, run: RunSource, segment: Segment) -> None:
    other = SegmentSource(store, segment)
    assert other.column("hashes").tolist() == [stable_hash(url) for url in sorted(URLS)]
    order = [URLS.index(url) for url in sorted(URLS)]
    for name in sources.CARRIED:
        assert other.column(name).tolist() == run.column(name)[order].tolist(), name
    assert [sketches(other)[place] for place in range(len(URLS))] == [sketches(run)[place] for place in order]


def test_a_url_is_found_in_its_newest_version(store: MemoryStore) -> None:
    twice = [Document(URLS[0], text="new", fetched_at=9), Document(URLS[0], text="old", fetched_at=1)]
    (files,) = runs_of(write_run(store, twice, 1))
    wanted = np.array([stable_hash("https://elsewhere.example/"), stable_hash(URLS[0])], np.uint64)
    found, ordinals = RunSource(store, files).find(wanted)
    assert (found.tolist(), ordinals.tolist()) == ([1], [0])


@pytest.mark.parametrize(
    ("postings", "size"), [(1, 1 << 20), (5, 1 << 20), (1 << 20, 1), (1 << 20, 40), (4, 50)]
)
def test_slices_of_any_size_hold_the_same_lists(
    store: MemoryStore, segment: Segment, monkeypatch: pytest.MonkeyPatch, postings: int, size: int
) -> None:
    ((terms, lists),) = SegmentSource(store, segment).slices()
    monkeypatch.setattr(sources, "SLICE_POSTINGS", postings)
    monkeypatch.setattr(sources, "SLICE_BYTES", size)
    slices = postings_of(SegmentSource(store, segment))
    assert len(slices) > 1
    rows = SequenceFileReader(segment.open(store, TERMS_DATA))
    assert [some.tolist() for some, _ in slices] == [*cut(rows, postings, size)]
    assert [term for some, _ in slices for term in some] == terms.tolist()
    for name in Lists._fields[:4]:
        held = np.concatenate([getattr(some, name) for _, some in slices])
        assert held.tolist() == getattr(lists, name).tolist()


@pytest.mark.parametrize("part", [TERMS_DATA, POSTINGS, COLUMNS, LINKS, SKETCHES])
def test_a_file_that_is_cut_off_is_damaged(store: MemoryStore, segment: Segment, part: str) -> None:
    name = segment.entries[part].name
    store.files[name] = store.files[name][: len(store.files[name]) // 2]
    with pytest.raises(CorruptFile):
        everything(SegmentSource(store, segment))


def test_terms_out_of_order_are_damage(store: MemoryStore, segment: Segment) -> None:
    name = segment.entries[TERMS_DATA].name
    rows = list(SequenceFileReader(segment.open(store, TERMS_DATA)))
    data = BytesIO()
    with SequenceFileWriter(data, block_bytes=1) as writer:  # a block for each record
        for term, value in (*rows[1:], rows[0]):
            writer.append(term, value)
    store.files[name] = data.getvalue()
    entry = msgspec.structs.replace(segment.entries[TERMS_DATA], bytes=len(data.getvalue()))
    spoilt = msgspec.structs.replace(segment, entries={**segment.entries, TERMS_DATA: entry})
    with pytest.raises(CorruptFile, match=f"{name}.*in order"):
        postings_of(SegmentSource(store, spoilt))


@pytest.mark.parametrize("part", [TERMS_DATA, POSTINGS, COLUMNS])
@given(place=st.integers(0, 10**6), change=st.integers(1, 255))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_changed_byte_is_noticed_or_harmless(
    store: MemoryStore, segment: Segment, part: str, place: int, change: int
) -> None:
    name = segment.entries[part].name
    whole = store.files[name]
    data = bytearray(whole)
    data[place % len(data)] ^= change
    store.files[name] = bytes(data)
    try:
        everything(SegmentSource(store, segment))
    except CorruptFile as err:
        assert segment.name in str(err)
    finally:
        store.files[name] = whole
