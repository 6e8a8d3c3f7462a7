from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlctl.pipeline.arrays.byte_strings import strings_of
from crawlctl.pipeline.errors import CorruptFile, StoreError
from crawlctl.pipeline.index.merge.dictionary_shards import write_terms_of_shard
from crawlctl.pipeline.index.segment.dictionary import Dictionary
from crawlctl.pipeline.index.segment.postings.plain_lists import PackedList
from crawlctl.pipeline.index.segment.term_info import pack_term_infos
from crawlctl.pipeline.state.kinds import DICTIONARY
from crawlctl.pipeline.store.local.store import LocalStore

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.arrays.byte_strings import ByteStrings
    from crawlctl.pipeline.index.segment.term_info import TermInfo
    from crawlctl.pipeline.state.manifest import FileEntry

words = st.text("abü", min_size=1, max_size=3).map(str.encode)
Segments = list[dict[bytes, int]]  # by number: term → count


def written(store: LocalStore, segments: Segments, bounds: list[bytes]) -> list[FileEntry]:
    names = [f"segments/00000/{number:08d}-0" for number in range(len(segments))]
    edges = [b"", *bounds, b"\xff" * 9]
    entries: list[FileEntry] = []
    for shard, (low, high) in enumerate(pairwise(edges)):
        rows = [
            columns([(term, entry(count)) for term, count in sorted(terms.items()) if low <= term < high], 4)
            for terms in segments
        ]
        sizes = dict(zip(names, map(len, segments), strict=True))
        entries += write_terms_of_shard(store, sizes, rows, round_number=1, shard=shard, bounds=bounds)
    return entries


def columns(rows: list[tuple[bytes, bytes]], size: int) -> Iterator[tuple[ByteStrings, ByteStrings]]:
    """Yield the terms of a segment and their term infos, `size` at a time."""
    for start in range(0, len(rows), size):
        some = rows[start : start + size]
        yield strings_of([term for term, _ in some]), strings_of([info for _, info in some])


def entry(count: int) -> bytes:
    packed = PackedList(count, 200, b"dd", b"p")
    (info,), _ = pack_term_infos([packed], 100 * count)
    return info


def counts(infos: list[TermInfo]) -> list[tuple[int, int]]:
    return [(info.segment, info.count) for info in infos]


@given(
    st.lists(st.dictionaries(words, st.integers(1, 20), max_size=8), min_size=1, max_size=4),
    st.sets(words, max_size=3).map(sorted),
    words,
    words,
)
@settings(deadline=None)  # the disk may take its time
def test_terms_are_found_in_all_segments(
    segments: Segments, bounds: list[bytes], low: bytes, high: bytes
) -> None:
    expected = {
        term: [(number, terms[term]) for number, terms in enumerate(segments) if term in terms]
        for term in sorted(set().union(*segments))
    }
    with TemporaryDirectory() as folder:
        store = LocalStore(Path(folder))
        dictionary = Dictionary(store, written(store, segments, bounds))
        for term in {*expected, low}:
            assert counts(dictionary.find(term)) == expected.get(term, [])
        found = [(term, counts(infos)) for term, infos in dictionary.range(low, high)]
        assert found == [item for item in expected.items() if low <= item[0] < high]


def test_segments_are_known_by_number(store: LocalStore) -> None:
    dictionary = Dictionary(store, written(store, [{b"a": 1}, {}], []))
    assert dictionary.segments == ["segments/00000/00000000-0", "segments/00000/00000001-0"]


def test_an_index_without_a_dictionary_has_no_terms(store: LocalStore) -> None:
    empty = Dictionary(store, [])
    assert (empty.segments, empty.find(b"a"), list(empty.range())) == ([], [], [])


def test_a_dictionary_without_its_index_is_explained(store: LocalStore) -> None:
    data, *_ = written(store, [{b"a": 1}], [])
    with pytest.raises(StoreError, match="crawlctl check --repair"):
        Dictionary(store, [data])


def test_a_term_info_that_names_no_segment_is_damage(store: LocalStore) -> None:
    rows = [iter([]), columns([(b"a", entry(1))], 1)]
    entries = write_terms_of_shard(store, {"one": 1}, rows, round_number=1)
    with pytest.raises(CorruptFile, match="names segment 1"):
        Dictionary(store, entries).find(b"a")


def test_a_missing_shard_is_damage(store: LocalStore) -> None:
    entries = written(store, [{b"a": 1, b"b": 1}], [b"b"])
    left = [item for item in entries if item.partition == 0]
    twice = [msgspec.structs.replace(item, kind=DICTIONARY) for item in left]
    assert Dictionary(store, twice).find(b"a")
    three = [*entries, *write_terms_of_shard(store, {"x": 0}, [iter([])], round_number=2, shard=2)]
    with pytest.raises(CorruptFile, match="2 shards, not 3"):
        Dictionary(store, three).find(b"a")
