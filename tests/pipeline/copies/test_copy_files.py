"""Files on their way: whole or not at all, whatever happens."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING, Any

import pytest

from crawlctl.pipeline.copies import copy_files as transfers
from crawlctl.pipeline.copies.copy_files import Transferred, transfer
from crawlctl.pipeline.errors import CorruptFile, MissingFile, StoreUnavailable
from crawlctl.pipeline.state.manifest import FileEntry
from crawlctl.pipeline.store.local.store import LocalStore

if TYPE_CHECKING:
    from pathlib import Path

CHUNK = 1 << 10
SIZES = (0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 5 * CHUNK)


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfers, "CHUNK_BYTES", CHUNK)


@pytest.fixture
def source(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "source")


@pytest.fixture
def destination(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "destination")


@pytest.fixture
def files(source: LocalStore) -> list[FileEntry]:
    return [write(source, f"webdb/00000/{size:08d}-a/data", os.urandom(size)) for size in SIZES]


def write(store: LocalStore, name: str, data: bytes) -> FileEntry:
    with store.write(name) as sink:
        sink.write(data)
    return FileEntry("webdb", 0, name, sink.bytes, 1, sink.checksum)


def spoil(store: LocalStore, name: str) -> None:
    """Change a byte in the middle."""
    data = bytearray(store.read(name))
    data[len(data) // 2] ^= 1
    (store.root / name).write_bytes(data)


def names(store: LocalStore) -> list[str]:
    return [file.name for file in store.list()]


def same(one: LocalStore, other: LocalStore) -> bool:
    return names(one) == names(other) and all(one.read(name) == other.read(name) for name in names(one))


def test_all_files_are_brought_byte_for_byte(
    source: LocalStore, destination: LocalStore, files: list[FileEntry]
) -> None:
    heard: list[tuple[int, int]] = []
    done = transfer(source, destination, files, tell=lambda *figures: heard.append(figures))
    assert done == Transferred(len(SIZES), sum(SIZES), 0)
    assert same(source, destination)
    assert heard[-1] == (len(SIZES), sum(SIZES))


def test_what_is_there_is_not_brought_again(
    source: LocalStore, destination: LocalStore, files: list[FileEntry]
) -> None:
    transfer(source, destination, files[:3])
    assert transfer(source, destination, files) == Transferred(3, sum(SIZES[3:]), 3)
    assert transfer(source, destination, files) == Transferred(0, 0, len(SIZES))


def test_a_file_that_a_kill_cut_short_is_brought_again(
    source: LocalStore, destination: LocalStore, files: list[FileEntry]
) -> None:
    transfer(source, destination, files)
    cut = destination.root / files[-1].name
    cut.write_bytes(cut.read_bytes()[:-1])
    assert transfer(source, destination, files).files == 1
    assert same(source, destination)


def test_damage_at_the_destination_is_found_when_it_is_looked_for(
    source: LocalStore, destination: LocalStore, files: list[FileEntry]
) -> None:
    transfer(source, destination, files)
    spoil(destination, files[-1].name)
    assert transfer(source, destination, files) == Transferred(0, 0, len(SIZES))
    assert transfer(source, destination, files, verify=True) == Transferred(1, SIZES[-1], len(SIZES) - 1)
    assert same(source, destination)


@pytest.mark.parametrize("size", SIZES[1:])
def test_a_damaged_source_is_an_error_that_names_the_file(
    source: LocalStore, destination: LocalStore, files: list[FileEntry], size: int
) -> None:
    entry = next(entry for entry in files if entry.bytes == size)
    spoil(source, entry.name)
    with pytest.raises(CorruptFile, match="SHA-256") as caught:
        transfer(source, destination, files)
    assert caught.value.name == source.locate(entry.name)
    assert entry.name not in names(destination)


def test_the_last_bytes_of_a_damaged_file_are_never_sent(
    source: LocalStore, destination: LocalStore, files: list[FileEntry], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kill before the file is removed leaves one that is too short, so the next copy does not trust it."""
    spoil(source, files[-1].name)
    sent: list[int] = []
    sink = type(destination._sink("webdb/x"))
    monkeypatch.setattr(sink, "discard", lambda self: sent.append(self.bytes))
    with pytest.raises(CorruptFile):
        transfer(source, destination, files[-1:])
    assert sent == [SIZES[-1] - CHUNK]


def test_a_source_of_another_size_or_without_the_file_is_an_error(
    source: LocalStore, destination: LocalStore, files: list[FileEntry]
) -> None:
    (source.root / files[-1].name).write_bytes(b"short")
    with pytest.raises(CorruptFile, match=f"5 bytes instead of {SIZES[-1]}"):
        transfer(source, destination, files)
    source.delete([files[-1].name])
    with pytest.raises(MissingFile):
        transfer(source, destination, files)


def test_a_full_disk_is_one_error_and_leaves_no_torn_file(
    source: LocalStore, destination: LocalStore, files: list[FileEntry], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.write

    def full(descriptor: int, data: Any) -> int:
        if len(data) == SIZES[-1]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(descriptor, data)

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(StoreUnavailable, match="No space left") as caught:
            transfer(source, destination, files)
    assert "\n" not in str(caught.value)
    assert files[-1].name not in names(destination)
    transfer(source, destination, files)
    assert same(source, destination)


def test_a_failure_stops_the_files_that_are_on_their_way(
    source: LocalStore, destination: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [write(source, f"webdb/00000/{number:08d}-a/data", bytes(CHUNK)) for number in range(200)]
    source.delete([files[3].name])
    monkeypatch.setattr(transfers, "AT_ONCE", 1)
    with pytest.raises(MissingFile):
        transfer(source, destination, files)
    assert len(names(destination)) <= len(files) // 2
