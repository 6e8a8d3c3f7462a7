from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.index.segment.tombstones import Tombstones, read_tombstones, write_tombstones
from crawlctl.pipeline.store.local.store import LocalStore


def stones(segment: str, documents: int, dead: set[int], reanchored: int = 0) -> Tombstones:
    bitmap = bytearray((documents + 7) // 8)
    for ordinal in dead:
        bitmap[ordinal >> 3] |= 1 << (ordinal & 7)
    return Tombstones(segment, documents, len(dead), reanchored, bytes(bitmap))


@given(st.lists(st.integers(1, 70).flatmap(lambda n: st.tuples(st.just(n), st.sets(st.integers(0, n - 1))))))
@settings(deadline=None)  # the disk may take its time
def test_the_dead_are_known_by_segment(segments: list[tuple[int, set[int]]]) -> None:
    made = [
        stones(f"segments/00002/{n:08d}-a", documents, dead) for n, (documents, dead) in enumerate(segments)
    ]
    with TemporaryDirectory() as folder:
        store = LocalStore(Path(folder))
        files = write_tombstones(store, made, partition=2, round_number=7)
        read = read_tombstones(store, files)
    assert read == {item.segment: item for item in made if item.dead}
    for item, (documents, dead) in zip(made, segments, strict=True):
        if dead:
            assert {ordinal for ordinal in range(documents) if ordinal in read[item.segment]} == dead


def test_where_nobody_died_there_is_no_file(store: LocalStore) -> None:
    assert write_tombstones(store, [stones("s", 9, set())], partition=0, round_number=1) == ()


def test_changed_anchors_are_counted(store: LocalStore) -> None:
    (entry,) = write_tombstones(store, [stones("s", 9, {1, 2}, 3)], partition=0, round_number=1)
    assert entry.counters == {"dead": 2, "reanchored": 3}
    assert read_tombstones(store, [entry])["s"].reanchored == 3


@given(st.data())
@settings(deadline=None)  # the disk may take its time
def test_damage_is_noticed_or_harmless(data: st.DataObject) -> None:
    with TemporaryDirectory() as folder:
        store = LocalStore(Path(folder))
        made = stones("s", 40, {1, 39})
        (entry,) = write_tombstones(store, [made], partition=0, round_number=1)
        whole = store.read(entry.name)
        place = data.draw(st.integers(0, len(whole) - 1))
        damaged = whole[:place] + bytes((whole[place] ^ data.draw(st.integers(1, 255)),)) + whole[place + 1 :]
        (store.root / entry.name).write_bytes(damaged)
        try:
            read = read_tombstones(store, [entry])
        except CorruptFile:
            return
        assert [item.bitmap for item in read.values()] == [made.bitmap]


def test_a_cut_file_is_damaged(store: LocalStore) -> None:
    (entry,) = write_tombstones(store, [stones("s", 40, {1, 39})], partition=0, round_number=1)
    (store.root / entry.name).write_bytes(store.read(entry.name)[:-1])
    with pytest.raises(CorruptFile):
        read_tombstones(store, [entry])
