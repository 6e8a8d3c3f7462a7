"""Files that are written together reach the disk together, before anything may name them."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from crawlctl.pipeline.errors import StoreFull
from crawlctl.pipeline.store.local import disk, sync_group
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.store.local.sync_group import current_group, synced_together

DATA = b"content"


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    store = LocalStore(tmp_path / "store")
    store.put("webdb/00000/first", b"")  # so that the folders are there
    return store


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that gets the name of each file and folder that is synced."""
    names: list[str] = []
    real = os.fsync

    def noting(descriptor: int) -> None:
        names.append(Path(f"/proc/self/fd/{descriptor}").readlink().name)
        real(descriptor)

    monkeypatch.setattr(os, "fsync", noting)
    monkeypatch.setattr(disk, "_FULL_SYNC", None)
    return names


def write(store: LocalStore, name: str) -> str:
    with store.write(name) as sink:
        sink.write(DATA)
    return sink.checksum


def test_nothing_is_synced_before_the_end_and_each_folder_once(store: LocalStore, synced: list[str]) -> None:
    with synced_together():
        checksums = {write(store, f"webdb/00000/{name}") for name in "abc"}
        assert len(checksums) == 1
        assert synced == []
    assert sorted(synced) == ["00000", "a", "b", "c", "store", "webdb"]
    assert store.read("webdb/00000/b") == DATA


def test_files_come_to_the_disk_before_their_names(store: LocalStore, synced: list[str]) -> None:
    with synced_together():
        for name in "abc":
            write(store, f"webdb/00000/{name}")
    assert set(synced[:3]) == {"a", "b", "c"}


def test_small_records_and_files_outside_of_the_block_are_synced_at_once(
    store: LocalStore, synced: list[str]
) -> None:
    with synced_together():
        store.create("webdb/00000/record", DATA)
        assert synced[-3:] == ["00000", "webdb", "store"]
    synced.clear()
    write(store, "webdb/00000/alone")
    assert synced == ["alone", "00000", "webdb", "store"]


def test_an_inner_block_is_synced_at_its_own_end(store: LocalStore, synced: list[str]) -> None:
    with synced_together():
        write(store, "webdb/00000/outer")
        with synced_together():
            write(store, "webdb/00000/inner")
        assert "inner" in synced
        assert "outer" not in synced
    assert "outer" in synced


def test_many_files_do_not_hold_many_descriptors(
    store: LocalStore, synced: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sync_group, "_MOST_FILES", 2)
    with synced_together():
        for name in "abc":
            write(store, f"webdb/00000/{name}")
        assert {"a", "b"} <= set(synced)
        assert "c" not in synced
    assert "c" in synced


def test_after_an_error_the_files_of_the_block_are_gone(store: LocalStore) -> None:
    with pytest.raises(KeyboardInterrupt), synced_together():
        write(store, "webdb/00000/a")
        raise KeyboardInterrupt
    assert [file.name for file in store.list()] == ["webdb/00000/first"]
    assert current_group() is None


def test_a_disk_that_is_full_at_the_sync_is_reported_and_gets_its_room_back(
    store: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.fsync

    def full(descriptor: int) -> None:
        if Path(f"/proc/self/fd/{descriptor}").readlink().name == "b":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", full)
    monkeypatch.setattr(disk, "_FULL_SYNC", None)
    with pytest.raises(StoreFull, match="free some space"), synced_together():
        for name in "abc":
            write(store, f"webdb/00000/{name}")
    assert [file.name for file in store.list()] == ["webdb/00000/first"]


def test_a_fork_and_another_thread_sync_their_files_themselves(store: LocalStore, synced: list[str]) -> None:
    found: list[Any] = []
    with synced_together():
        thread = Thread(target=lambda: found.append(current_group()))
        thread.start()
        thread.join()
        pid = os.fork()
        if pid == 0:
            os._exit(0 if current_group() is None else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        assert current_group() is not None
    assert found == [None]


def test_a_scratch_store_is_not_synced(tmp_path: Path, synced: list[str]) -> None:
    scratch = LocalStore(tmp_path, synced=False)
    with synced_together():
        write(scratch, "a")
    write(scratch, "b")
    assert synced == []
    assert scratch.read("a") == scratch.read("b") == DATA


def test_where_no_thread_can_be_started_files_are_synced_one_after_the_other(
    store: LocalStore, synced: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(_: Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(Thread, "start", refused)
    with synced_together():
        for name in "abc":
            write(store, f"webdb/00000/{name}")
    assert sorted(synced) == ["00000", "a", "b", "c", "store", "webdb"]
    assert store.read("webdb/00000/c") == DATA
