"""Interleaved lists: which segments have them, and when they are written again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.index.segment.dictionary import Dictionary
from crawlctl.pipeline.index.segment.interleaved_lists import InterleavedLists
from crawlctl.pipeline.index.segment.segment_files import POSTINGS, segments_of
from crawlctl.pipeline.search.open import gathering, interleaving
from crawlctl.pipeline.search.open.gathering import with_compound
from crawlctl.pipeline.search.open.interleaving import interleave
from crawlctl.pipeline.state.kinds import COMPOUND, DICTIONARY, INTERLEAVED, PRIORS
from crawlctl.tests.pipeline.search.memory_store import MemoryStore
from crawlctl.tests.pipeline.search.merged_index import merged_files

if TYPE_CHECKING:
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot


@pytest.fixture(autouse=True)
def large_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the compound file leave out all posting lists, as it does with those of large segments."""
    monkeypatch.setattr(gathering, "_TABLE_BYTES", gathering.MAX_BYTES)


@pytest.fixture(name="index")
def made_index() -> tuple[MemoryStore, Snapshot, tuple[FileEntry, ...]]:
    store = MemoryStore()
    first, files = merged_files(store, partitions=3, rounds=2, count=30)
    return store, first, tuple(files)


def interleaved(files: tuple[FileEntry, ...]) -> list[FileEntry]:
    return [entry for entry in files if entry.kind == INTERLEAVED]


@pytest.mark.parametrize("slice_bytes", [1, 60, 400, 1 << 20])
def test_every_list_is_there_and_those_of_a_word_are_near_each_other(
    index: tuple[MemoryStore, Snapshot, tuple[FileEntry, ...]],
    slice_bytes: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(interleaving, "_SLICE_BYTES", slice_bytes)
    store, _, files = index
    segments = sorted(segments_of(files), key=lambda segment: segment.name)
    lists = InterleavedLists(store, interleave(store, segments, round_number=2))
    own = [segment.open(store, POSTINGS) for segment in segments]
    assert lists.source.size > sum(source.size for source in own)
    seen = 0
    dictionary = Dictionary(store, [entry for entry in files if entry.kind == DICTIONARY])
    assert dictionary.segments == [segment.name for segment in segments]
    for _, infos in dictionary.range():
        stored = [info for info in infos if not info.inlined]
        places = [lists.place(segments[info.segment].name, info.offset) for info in stored]
        for info, place in zip(stored, places, strict=True):
            length = info.documents_bytes + info.positions_bytes
            assert place is not None
            assert lists.source.read(place, length) == own[info.segment].read(info.offset, length)
            seen += length
        if slice_bytes == 1 and stored:  # each list begins a slice
            lengths = [info.documents_bytes + info.positions_bytes for info in stored]
            assert max(places) - min(places) <= sum(lengths)  # type: ignore[type-var, operator]
    assert seen == sum(source.size for source in own)
    assert lists.place("segments/none", 0) is None
    assert lists.place(segments[0].name, own[0].size) is None


def test_they_are_kept_as_long_as_most_lists_are_there(
    index: tuple[MemoryStore, Snapshot, tuple[FileEntry, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, first, files = index
    made = with_compound(store, first, files)
    (old,) = interleaved(made)
    assert with_compound(store, first, made) != made  # another snapshot than `before` is gathered again
    changed = tuple(entry for entry in made if entry.kind != PRIORS)
    assert interleaved(with_compound(store, first, changed)) == [old]
    monkeypatch.setattr(gathering, "_MOST_LACKING", -1)
    (new,) = interleaved(with_compound(store, first, changed))
    assert new.name != old.name
    assert new.checksum == old.checksum


def test_damaged_lists_are_written_again(
    index: tuple[MemoryStore, Snapshot, tuple[FileEntry, ...]],
) -> None:
    store, first, files = index
    made = with_compound(store, first, files)
    (old,) = interleaved(made)
    store.files[old.name] = b"damaged"
    (new,) = interleaved(with_compound(store, first, tuple(one for one in made if one.kind != COMPOUND)))
    assert new.name != old.name


def test_a_single_large_segment_has_its_own_lists_only(monkeypatch: pytest.MonkeyPatch) -> None:
    store = MemoryStore()
    first, files = merged_files(store, partitions=1, rounds=1, count=30)
    assert interleaved(with_compound(store, first, tuple(files))) == []


def test_the_largest_segments_are_left_out_where_all_are_too_many(
    index: tuple[MemoryStore, Snapshot, tuple[FileEntry, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, first, files = index
    sizes = {segment.name: segment.entries[POSTINGS].bytes for segment in segments_of(files)}
    monkeypatch.setattr(interleaving, "MAX_LISTS_BYTES", sum(sizes.values()) - 1)
    (made,) = interleaved(with_compound(store, first, files))
    (left_out,) = sizes.keys() - InterleavedLists(store, made).segments
    assert sizes[left_out] == max(sizes.values())


def test_where_the_compound_file_has_room_nothing_is_interleaved(
    index: tuple[MemoryStore, Snapshot, tuple[FileEntry, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, first, files = index
    monkeypatch.setattr(gathering, "_TABLE_BYTES", 0)
    assert interleaved(with_compound(store, first, files)) == []
