from __future__ import annotations

import errno
import os
import pickle
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.errors import StoreUnavailable
from crawlctl.pipeline.state.snapshots import create_crawl, load_snapshot, snapshot_numbers
from crawlctl.pipeline.store.local.store import LocalStore

if TYPE_CHECKING:
    from crawlctl.pipeline.store.base import Store

RACER = Path(__file__).parents[1] / "racer.py"
KILLS = 12


@pytest.fixture
def folder(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "store")


def test_files_that_are_not_ours_are_not_listed(folder: LocalStore) -> None:
    folder.put("docs/a", b"")
    for name in ("docs/.tmp-1", "docs/with space", ".hidden/a", "docs/.git/config"):
        path = folder.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (folder.root / "docs" / "link").symlink_to(folder.root / "docs" / "a")
    (folder.root / "loop").symlink_to(folder.root)
    assert [file.name for file in folder.list()] == ["docs/a"]


def test_deleting_the_last_file_removes_its_folders(folder: LocalStore) -> None:
    folder.put("docs/00001/a/data", b"")
    folder.put("docs/00002/b", b"")
    folder.delete(["docs/00001/a/data"])
    assert sorted(path.name for path in (folder.root / "docs").iterdir()) == ["00002"]
    folder.delete(["docs/00002/b"])
    assert list(folder.root.iterdir()) == []


def test_a_folder_that_vanishes_under_a_writer_is_made_again(
    folder: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    real_open = os.open
    removed: list[Path] = []

    def remove_first(path: Path, flags: int, *mode: int) -> int:
        if flags & os.O_CREAT and len(removed) < 3 and Path(path).parent.exists():
            Path(path).parent.rmdir()
            removed.append(path)
        return real_open(path, flags, *mode)

    monkeypatch.setattr(os, "open", remove_first)
    folder.put("docs/00001/a", b"content")
    assert folder.read("docs/00001/a") == b"content"
    assert len(removed) == 3


def test_sweeping_takes_old_temporaries_and_empty_folders_only(folder: LocalStore) -> None:
    folder.put("docs/00001/kept", b"")
    old, new = folder.root / "docs/00001/.tmp-old", folder.root / "docs/00001/.tmp-new"
    empty = folder.root / "docs/00002"
    empty.mkdir()
    for path in (old, new):
        path.write_bytes(b"12345")
    long_ago = time.time() - 1000
    for path in (old, empty):
        os.utime(path, (long_ago, long_ago))
    (found,) = folder.sweep("docs", time.time() - 500, dry_run=True)
    assert (found.name, found.bytes) == ("docs/00001/.tmp-old", 5)
    assert old.exists()
    assert folder.sweep("docs", time.time() - 500) == (found,)
    assert not old.exists()
    assert not empty.exists()
    assert new.exists()
    assert folder.read("docs/00001/kept") == b""
    assert folder.sweep("pages", time.time()) == ()


def test_an_open_source_outlives_the_deletion_of_its_file(folder: LocalStore) -> None:
    folder.put("docs/a", b"0123456789")
    source = folder.open("docs/a")
    folder.delete(["docs/a"])
    assert source.read(2, 3) == b"234"
    source.close()
    with pytest.raises(StoreUnavailable, match="Bad file descriptor"):
        source.read(0, 1)


def test_a_source_that_is_dropped_closes_its_file(folder: LocalStore) -> None:
    folder.put("docs/a", b"0123456789")
    before = sum(1 for _ in Path("/dev/fd").iterdir())
    for _ in range(50):
        folder.open("docs/a").read(0, 1)
    assert sum(1 for _ in Path("/dev/fd").iterdir()) == before


def test_a_disk_that_fails_when_a_read_file_is_closed_disturbs_nobody(
    folder: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.put("docs/a", b"0123456789")
    source, close = folder.open("docs/a"), os.close

    def failing(descriptor: int) -> None:
        close(descriptor)
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "close", failing)
    assert source.read(0, 4) == b"0123"
    source.close()
    del source
    folder.open("docs/a").read(0, 1)  # dropped: pytest would report what a finaliser raises


def test_a_store_travels_to_another_process(folder: LocalStore) -> None:
    folder.put("docs/a", b"content")
    assert pickle.loads(pickle.dumps(folder)).read("docs/a") == b"content"


def test_a_store_that_is_a_file_is_explained(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("not a folder")
    store = LocalStore(tmp_path / "store")
    for call in (lambda: store.put("docs/a", b""), lambda: store.create("docs/a", b"")):
        with pytest.raises(StoreUnavailable, match="part of that path is a file"):
            call()
    assert list(store.list()) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_store_that_may_not_be_written_is_explained(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir(mode=0o555)
    with pytest.raises(StoreUnavailable, match="check the owner and the permissions"):
        LocalStore(tmp_path / "store").put("docs/a", b"")


@pytest.mark.parametrize(
    ("number", "remedy"),
    [
        (errno.ENOSPC, "crawlctl gc"),
        (errno.EDQUOT, "crawlctl gc"),
        (errno.EACCES, "permissions"),
        (errno.EROFS, "mount that file system writable"),
        (errno.EIO, "dmesg"),
        (errno.EMFILE, "ulimit -n"),
        (errno.ESTALE, "mounted and healthy"),
    ],
)
def test_each_error_of_the_system_names_path_and_remedy(
    folder: LocalStore, monkeypatch: pytest.MonkeyPatch, number: int, remedy: str
) -> None:
    def fail(*_: object) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "write", fail)
    with pytest.raises(StoreUnavailable) as caught, folder.write("pages/a") as sink:
        sink.write(b"x")
    message = str(caught.value)
    assert message.startswith(f"{folder.root}/pages/a: {os.strerror(number)}; ")
    assert remedy in message
    assert "\n" not in message


def test_a_disk_that_is_really_full_leaves_nothing_torn(folder: LocalStore) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("no /dev/full on this system")
    folder.put("pages/kept", b"")
    (folder.root / "full").mkdir()
    sink = folder._sink("full/a")
    os.dup2(os.open(full, os.O_WRONLY), sink._descriptor)
    with pytest.raises(StoreUnavailable, match="No space left on device; free some space there"):
        sink.write(b"x" * (2 << 20))
    sink.discard()
    assert [file.name for file in folder.list()] == ["pages/kept"]


def test_a_writer_killed_at_any_moment_leaves_only_whole_snapshots(folder: LocalStore) -> None:
    create_crawl(folder, 1)
    seen = 1
    for _ in range(KILLS):
        child = subprocess.Popen(
            [sys.executable, str(RACER), "commit", folder.uri], stdout=subprocess.PIPE, text=True
        )
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        for _ in range(random.randint(0, 2)):
            child.stdout.readline()
        time.sleep(random.uniform(0, 0.05))
        child.kill()
        child.communicate()
        seen = check_every_snapshot(folder, seen)
    assert seen > 1, "nothing was committed between the kills"


def check_every_snapshot(store: Store, seen: int) -> int:
    """Load the snapshots from a number on, and check that the files they name are there and whole."""
    import hashlib

    numbers = snapshot_numbers(store)
    assert numbers == tuple(range(1, len(numbers) + 1))
    for number in range(seen, len(numbers) + 1):
        for entry in load_snapshot(store, number).files:
            assert hashlib.sha256(store.read(entry.name)).hexdigest() == entry.checksum
    return len(numbers)
