"""What the compound file of a snapshot holds, and when it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.index.segment.compound_file import CompoundFile
from crawlctl.pipeline.index.segment.dictionary_layers import layers_of
from crawlctl.pipeline.search.open import gathering
from crawlctl.pipeline.search.open.gathering import with_compound
from crawlctl.pipeline.state.kinds import COMPOUND, PRIORS
from crawlctl.pipeline.state.snapshots import commit
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.tests.pipeline.search.memory_store import MemoryStore
from crawlctl.tests.pipeline.search.merged_index import in_layers, merged_files

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def snapshot(store: MemoryStore) -> Snapshot:
    first, files = merged_files(store, partitions=2, rounds=1, count=3)
    return commit(store, first, files=with_compound(store, first, tuple(files)), round_number=1)


def compound(files: tuple[FileEntry, ...]) -> list[FileEntry]:
    return [entry for entry in files if entry.kind == COMPOUND]


def test_a_local_crawl_has_none(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    first, files = merged_files(store, partitions=1, rounds=1, count=2)
    assert with_compound(store, first, tuple(files)) == tuple(files)


def test_a_crawl_without_an_index_has_none(store: MemoryStore, snapshot: Snapshot) -> None:
    assert with_compound(store, snapshot, ()) == ()


def test_a_commit_that_leaves_the_index_alone_keeps_the_file(store: MemoryStore, snapshot: Snapshot) -> None:
    store.reads.clear()
    assert with_compound(store, snapshot, snapshot.files) == snapshot.files
    assert not store.reads


def test_a_commit_that_changes_the_index_writes_a_new_file_from_the_old_one(
    store: MemoryStore, snapshot: Snapshot
) -> None:
    store.reads.clear()
    others = tuple(entry for entry in snapshot.files if entry.kind != PRIORS)
    (fresh,) = compound(with_compound(store, snapshot, others))
    (old,) = compound(snapshot.files)
    assert fresh.name != old.name
    assert fresh.bytes < old.bytes
    assert {name for name, _, _ in store.reads} == {old.name}


def test_a_commit_that_leaves_out_a_damaged_file_writes_a_new_one(
    store: MemoryStore, snapshot: Snapshot
) -> None:
    (old,) = compound(snapshot.files)
    others = tuple(entry for entry in snapshot.files if entry.kind != COMPOUND)
    (fresh,) = compound(with_compound(store, snapshot, others))
    assert fresh.name != old.name
    assert fresh.checksum == old.checksum


def test_a_large_dictionary_and_large_segments_are_left_out(
    store: MemoryStore, snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gathering, "MAX_DICTIONARY_BYTES", 10)
    monkeypatch.setattr(gathering, "MAX_BYTES", 10)
    (old,) = compound(snapshot.files)
    others = tuple(entry for entry in snapshot.files if entry.kind != PRIORS)
    (small,) = compound(with_compound(store, snapshot, others))
    assert 2 * small.records < old.records


def test_the_small_layers_of_a_large_dictionary_are_kept(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, files = merged_files(store, partitions=5, rounds=1, count=9)
    layered = tuple(in_layers(store, files))
    sizes = {one.number: sum(entry.bytes for entry in one.files) for one in layers_of(layered)}
    monkeypatch.setattr(gathering, "MAX_DICTIONARY_BYTES", sum(sizes.values()) - 1)
    (made,) = compound(with_compound(store, first, layered))
    copied = CompoundFile(store.files[made.name], made.name)
    whole = {
        one.number
        for one in layers_of(layered)
        if all(copied.find(entry.name, 0, entry.bytes) is not None for entry in one.files)
    }
    assert whole == sizes.keys() - {max(sizes, key=sizes.__getitem__)}


def test_a_damaged_file_stops_no_commit(store: MemoryStore, snapshot: Snapshot) -> None:
    others = tuple(entry for entry in snapshot.files if entry.kind != COMPOUND)
    for entry in others:
        store.files[entry.name] = b"damaged"
    first = commit(store, snapshot, files=(), round_number=1)
    assert with_compound(store, first, others) == others
