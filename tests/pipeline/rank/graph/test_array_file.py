"""Files of arrays: what is written is read, whole and in part, and damage is noticed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.formats.paged_file import LARGE_PAGE_BYTES, PagedSource
from crawlctl.pipeline.rank.graph.array_file import ArrayFile, write_arrays
from crawlctl.pipeline.store.local.store import LocalStore

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from crawlctl.pipeline.state.manifest import FileEntry

TYPES = ("uint8", "uint32", "uint64", "int64", "float64")


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "crawl")


@settings(deadline=None)
@given(
    st.dictionaries(
        st.text("abc.0", min_size=1), st.tuples(st.sampled_from(TYPES), st.integers(0, 9)), max_size=5
    )
)
def test_arrays_come_back_whole_and_in_part(
    tmp_path_factory: pytest.TempPathFactory, shapes: dict[str, tuple[str, int]]
) -> None:
    store = LocalStore(tmp_path_factory.mktemp("store"))
    arrays = {name: np.arange(count).astype(kind) for name, (kind, count) in shapes.items()}
    entry = write_arrays(
        store, arrays, partition=3, round_number=7, facts={"sum": 0.5}, counters={"nodes": 2}
    )
    file = ArrayFile(store, entry)
    assert (entry.kind, entry.partition, entry.counters, file.facts) == (
        "graph",
        3,
        {"nodes": 2},
        {"sum": 0.5},
    )
    for name, array in arrays.items():
        assert file.read(name).tolist() == array.tolist()
        assert file.read(name, 1, 3).tolist() == array[1:3].tolist()
        assert file.read(name).dtype == array.dtype
    assert file.read("nobody wrote this").tolist() == []


def as_older_versions_wrote_it(store: LocalStore, entry: FileEntry) -> FileEntry:
    """Write a file of arrays again without pages."""
    pages = PagedSource(store.open(entry.name), LARGE_PAGE_BYTES)
    plain = b"CRWLARR1" + pages.read(8, pages.size)
    (store.root / entry.name).write_bytes(plain)
    return replace(entry, bytes=len(plain))


def test_a_file_of_an_older_version_has_no_pages_and_is_read(store: LocalStore) -> None:
    written: dict[str, NDArray[Any]] = {"a": np.arange(30_000), "b": np.arange(3, dtype=np.uint8)}
    entry = write_arrays(store, written, partition=0, round_number=1, facts={"sum": 0.5})
    older = ArrayFile(store, as_older_versions_wrote_it(store, entry))
    assert older.facts == {"sum": 0.5}
    assert older.read("a").tolist() == list(range(30_000))
    assert older.read("b", 1).tolist() == [1, 2]


def test_every_flipped_bit_is_told(store: LocalStore) -> None:
    entry = write_arrays(store, {"a": np.arange(3), "b": np.zeros(0)}, partition=0, round_number=1)
    path = store.root / entry.name
    data = path.read_bytes()
    for place in range(8 * len(data)):
        at, bit = divmod(place, 8)
        path.write_bytes(data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :])
        with pytest.raises(CorruptFile, match=entry.name):
            ArrayFile(store, entry).read("a", 1, 2)


def test_a_file_of_another_length_or_kind_is_refused(store: LocalStore) -> None:
    entry = write_arrays(store, {"a": np.arange(9)}, partition=0, round_number=1)
    path = store.root / entry.name
    data = path.read_bytes()
    path.write_bytes(data[:-1])
    with pytest.raises(CorruptFile, match="bytes instead of"):
        ArrayFile(store, entry)
    with pytest.raises(CorruptFile, match="does not fit its checksum"):
        ArrayFile(store, replace(entry, bytes=len(data) - 1))
    path.write_bytes(b"SEQ\x06" + data[4:])
    with pytest.raises(CorruptFile, match="does not begin like"):
        ArrayFile(store, entry)


def test_an_older_file_without_a_directory_or_with_too_little_is_refused(store: LocalStore) -> None:
    entry = write_arrays(store, {"a": np.arange(9)}, partition=0, round_number=1)
    older = as_older_versions_wrote_it(store, entry)
    path = store.root / entry.name
    data = path.read_bytes()
    path.write_bytes(data[:-1])
    with pytest.raises(CorruptFile, match="should end at byte"):
        ArrayFile(store, replace(older, bytes=len(data) - 1))
    path.write_bytes(data[:12] + b"?" + data[13:])
    with pytest.raises(CorruptFile, match="no directory"):
        ArrayFile(store, older)
