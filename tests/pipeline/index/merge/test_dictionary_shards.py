from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.config.settings import IndexSettings
from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.formats.sequencefile.mapfile import MapFileReader
from crawlctl.pipeline.formats.sequencefile.sequencefile import SequenceFileReader, SequenceFileWriter
from crawlctl.pipeline.formats.sequencefile.writables import LONG, pack_long
from crawlctl.pipeline.index.merge import dictionary_shards
from crawlctl.pipeline.index.merge.dictionary_shards import bounds_of, write_all, write_shard
from crawlctl.pipeline.index.merge.liveness import PageState
from crawlctl.pipeline.index.merge.partition import MergeTask, merge_partition
from crawlctl.pipeline.index.segment import segment_writer as segment_writing
from crawlctl.pipeline.index.segment.dictionary import Dictionary
from crawlctl.pipeline.index.segment.segment_files import TERMS_DATA, TERMS_INDEX, segments_of
from crawlctl.pipeline.index.segment.stored_documents import Document
from crawlctl.pipeline.index.statistics import expected_shards, totals_of
from crawlctl.pipeline.urls.hosts import webdb_key
from crawlctl.tests.bytes_source import BytesSource
from crawlctl.tests.pipeline.index.merge.reading import write_run
from crawlctl.tests.pipeline.index.segment.test_dictionary import columns

if TYPE_CHECKING:
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.local.store import LocalStore

URLS = [f"https://a.example/{number}" for number in range(3)]


@pytest.fixture
def index(store: LocalStore, monkeypatch: pytest.MonkeyPatch) -> tuple[FileEntry, ...]:
    """An index of three segments whose terms fill many blocks."""
    monkeypatch.setattr(segment_writing, "TERMS_BLOCK_BYTES", 200)
    files: tuple[FileEntry, ...] = ()
    for number, url in enumerate(URLS):
        words = " ".join(f"word{place}x{place % (number + 1)}" for place in range(100))
        files += write_run(store, [Document(url, text=words)], number + 1)
    pages = [PageState(webdb_key(url)) for url in URLS]
    task = MergeTask(0, 4, IndexSettings(), totals_of(files), 0, max_documents=1)
    return merge_partition(store, task, files, pages).files


def counts(store: LocalStore, files: tuple[FileEntry, ...]) -> dict[bytes, int]:
    """Return in how many documents each term is, by the terms of the segments."""
    found: dict[bytes, int] = {}
    for segment in segments_of(files):
        for term, _ in MapFileReader(segment.open(store, TERMS_DATA), segment.open(store, TERMS_INDEX)):
            found[term] = found.get(term, 0) + 1
    return found


@pytest.mark.parametrize("shards", [1, 2, 5])
def test_shards_together_hold_all_terms(store: LocalStore, index: tuple[FileEntry, ...], shards: int) -> None:
    entries = [
        entry
        for shard in range(shards)
        for entry in write_shard(store, segments_of(index), shard=shard, shards=shards, round_number=4)
    ]
    dictionary = Dictionary(store, entries)
    assert {entry.partition for entry in entries} == set(range(shards))
    expected = counts(store, index)
    assert len(segments_of(index)) == 3
    assert {term: len(places) for term, places in dictionary.range()} == expected
    assert {term: len(dictionary.find(term)) for term in expected} == expected


def test_shards_are_of_similar_size(store: LocalStore, index: tuple[FileEntry, ...]) -> None:
    bounds = bounds_of(store, segments_of(index), 4)
    assert len(bounds) == 3
    sizes = [
        write_shard(store, segments_of(index), shard=shard, shards=4, round_number=4)[0].records
        for shard in range(4)
    ]
    assert max(sizes) < 2 * min(sizes)


def test_too_few_terms_leave_shards_out(store: LocalStore) -> None:
    files = write_run(store, [Document(URLS[0], text="one two")], 1)
    task = MergeTask(0, 1, IndexSettings(), totals_of(files), 0)
    files = merge_partition(store, task, files, [PageState(webdb_key(URLS[0]))]).files
    segments = segments_of(files)
    entries = [
        e for shard in range(9) for e in write_shard(store, segments, shard=shard, shards=9, round_number=1)
    ]
    dictionary = Dictionary(store, entries)
    assert dictionary.find(b"two")
    assert {term for term, _ in dictionary.range()} == set(counts(store, files))


def test_an_index_without_segments_has_no_dictionary(store: LocalStore) -> None:
    assert write_all(store, (), 1) == ()
    assert expected_shards(()) == 1


def test_terms_out_of_order_are_damage(store: LocalStore, index: tuple[FileEntry, ...]) -> None:
    segment = segments_of(index)[0]
    names = [segment.entries[part].name for part in (TERMS_DATA, TERMS_INDEX)]
    (first, place), *rows = MapFileReader(*(segment.open(store, part) for part in (TERMS_DATA, TERMS_INDEX)))
    data, sparse = BytesIO(), BytesIO()
    with SequenceFileWriter(data) as writer:
        writer.extend([*(term for term, _ in rows), first], [*(value for _, value in rows), place])
    with SequenceFileWriter(sparse, value_class=LONG) as writer:
        writer.append(rows[0][0], pack_long(SequenceFileReader(BytesSource(data.getvalue())).header.end))
    contents = dict(zip(names, (data.getvalue(), sparse.getvalue()), strict=True))
    for name, content in contents.items():
        (store.root / name).write_bytes(content)
    spoilt = [
        msgspec.structs.replace(entry, bytes=len(contents.get(entry.name, bytes(entry.bytes))))
        for entry in index
    ]
    with pytest.raises(CorruptFile, match=f"{names[0]}.*in order"):
        write_all(store, spoilt, 4)


long_words = st.builds(bytes.__add__, st.sampled_from([b"", b"long" * 4]), st.binary(max_size=2))


@given(
    st.lists(st.dictionaries(long_words, st.binary(max_size=200), max_size=12), max_size=4),
    st.integers(1, 9),
    st.integers(1, 20),
)
def test_term_infos_of_all_segments_are_joined_wherever_they_are_cut(
    segments: list[dict[bytes, bytes]], size: int, at_once: int
) -> None:
    expected: dict[bytes, bytes] = {}
    for number, infos in enumerate(segments):
        for term, info in infos.items():
            expected[term] = expected.get(term, b"") + number.to_bytes(2, "big") + info
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dictionary_shards, "TERMS_AT_ONCE", at_once)
        found = [*dictionary_shards.merge_terms([columns(sorted(some.items()), size) for some in segments])]
    assert [item for some in found for item in zip(*some, strict=True)] == sorted(expected.items())
