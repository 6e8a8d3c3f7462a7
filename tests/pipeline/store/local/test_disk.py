"""Durability: what reaches the disk in which order, and what is visible when any single step fails."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from crawlctl.pipeline.errors import StoreUnavailable
from crawlctl.pipeline.state.manifest import FileEntry
from crawlctl.pipeline.state.snapshots import commit, create_crawl, load_current
from crawlctl.pipeline.store.local import disk
from crawlctl.pipeline.store.local.store import LocalStore

if TYPE_CHECKING:
    from collections.abc import Callable

STEPS = ("open", "write", "fsync", "link", "close")


@pytest.fixture
def folder(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "store")


def write(folder: LocalStore, name: str) -> FileEntry:
    with folder.write(name) as sink:
        sink.write(b"x" * (1 << 20))
        sink.write(b"y" * (1 << 20))
        sink.write(b"rest")
    return FileEntry("webdb", 0, name, sink.bytes, 1, sink.checksum)


class Trace:
    """Writes down what is done to the disk, by the name of the file."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.steps: list[tuple[str, str]] = []
        self._files: dict[int, str] = {}
        real_open, real_fsync, real_link = os.open, os.fsync, os.link

        def traced_open(path: Any, *arguments: Any) -> int:
            descriptor = real_open(path, *arguments)
            self._files[descriptor] = Path(path).name
            return descriptor

        def traced_fsync(descriptor: int) -> None:
            self.steps.append(("sync", self._files[descriptor]))
            real_fsync(descriptor)

        def traced_link(source: Any, target: Any) -> None:
            self.steps.append(("link", Path(target).name))
            real_link(source, target)

        monkeypatch.setattr(os, "open", traced_open)
        monkeypatch.setattr(os, "fsync", traced_fsync)
        monkeypatch.setattr(os, "link", traced_link)
        monkeypatch.setattr(disk, "_FULL_SYNC", None)


def test_a_created_file_is_on_disk_before_it_has_its_name(
    folder: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.put("lease/first", b"")
    trace = Trace(monkeypatch)
    folder.create("lease/second", b"content")
    kinds = [(kind, name if not name.startswith(".tmp-") else "temporary") for kind, name in trace.steps]
    assert kinds == [("sync", "temporary"), ("link", "second"), ("sync", "lease"), ("sync", "store")]


def test_a_written_file_and_every_folder_above_it_are_on_disk_at_the_end(
    folder: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = Trace(monkeypatch)
    with folder.write("webdb/00001/a/data") as sink:
        sink.write(b"content")
        made = list(trace.steps)
    above = folder.root.parent.name
    assert [name for _, name in made] == [above, "store", "webdb", "00001"]
    assert [name for _, name in trace.steps[len(made) :]] == ["data", "a", "00001", "webdb", "store"]


def test_a_deletion_is_on_disk_when_it_returns(folder: LocalStore, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("snapshots/1", "snapshots/2", "webdb/1/a"):
        folder.put(name, b"")
    trace = Trace(monkeypatch)
    folder.delete(["snapshots/1", "webdb/1/a"])
    assert {name for _, name in trace.steps} == {"snapshots", "store"}


def fail_at(monkeypatch: pytest.MonkeyPatch, count: int, error: BaseException) -> Callable[[], bool]:
    """Make the count-th step of any kind fail; return a function that tells whether it came to that."""
    steps = 0

    def failing(real: Callable[..., Any], name: str) -> Callable[..., Any]:
        def step(*arguments: Any, **keywords: Any) -> Any:
            nonlocal steps
            steps += 1
            if steps == count:
                if name == "close":  # a failing close() closes
                    real(*arguments)
                raise error
            return real(*arguments, **keywords)

        return step

    for name in STEPS:
        monkeypatch.setattr(os, name, failing(getattr(os, name), name))
    return lambda: steps >= count


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)),
        OSError(errno.EIO, os.strerror(errno.EIO)),
        KeyboardInterrupt(),
    ],
    ids=["no space", "bad disk", "Ctrl-C"],
)
def test_whichever_step_fails_a_commit_is_whole_or_absent(folder: LocalStore, error: BaseException) -> None:
    expected = KeyboardInterrupt if isinstance(error, KeyboardInterrupt) else StoreUnavailable
    current = create_crawl(folder, 1)
    count, failed, reached = 0, 0, True
    while reached:
        count += 1
        name, written = f"webdb/00000/{count:08d}", None
        with pytest.MonkeyPatch.context() as patch:
            was_reached = fail_at(patch, count, error)
            try:
                written = write(folder, name)
                commit(folder, current, files=[written], round_number=1)
            except expected:
                failed += 1
            reached = was_reached()
        found = load_current(folder)
        assert found == current or (found.parent, found.files) == (current.writer, (written,))
        assert [file.bytes for file in folder.list(name)] == ([(2 << 20) + 4] if written else [])
        assert not list(folder.root.rglob(".tmp-*"))
        current = found
    assert failed == count - 1, "a failing step went unnoticed"
    assert current.files[0].name == name, "the last commit met no failure"


def test_a_failed_write_leaves_no_file(folder: LocalStore) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(errno.EIO, "bad")))
        patch.setattr(disk, "_FULL_SYNC", None)
        (folder.root / "webdb").mkdir(parents=True)
        with pytest.raises(StoreUnavailable, match="dmesg"), folder.write("webdb/a") as sink:
            sink.write(b"content")
    assert list(folder.list()) == []


def test_a_create_that_could_not_be_made_durable_may_be_tried_again(folder: LocalStore) -> None:
    folder.put("lease/0", b"")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(disk, "sync_names", lambda *_: (_ for _ in ()).throw(OSError(errno.EIO, "bad")))
        with pytest.raises(StoreUnavailable):
            folder.create("lease/1", b"mine")
    assert folder.create("lease/1", b"mine")
    assert not folder.create("lease/1", b"theirs")


@pytest.mark.parametrize("number", [errno.EPERM, errno.ENOTSUP])
def test_a_file_system_without_links_is_explained(
    folder: LocalStore, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "link", refuse)
    with pytest.raises(StoreUnavailable, match="no hard links; keep the store on one that has"):
        folder.create("lease/1", b"mine")
    assert not list(folder.root.rglob(".tmp-*"))


def test_a_file_system_that_cannot_sync_folders_works(
    folder: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.fsync

    def only_files(descriptor: int) -> None:
        if os.path.isdir(f"/dev/fd/{descriptor}"):  # noqa: PTH112 - a Path would resolve the link
            raise OSError(errno.EINVAL, "no")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", only_files)
    folder.put("lease/1", b"mine")
    assert folder.read("lease/1") == b"mine"


@pytest.mark.parametrize("supported", [True, False])
def test_where_the_drive_can_be_told_to_flush_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, supported: bool
) -> None:
    calls: list[str] = []

    def control(_descriptor: int, _command: int) -> int:
        calls.append("full")
        if not supported:
            raise OSError(errno.ENOTSUP, "no")
        return 0

    monkeypatch.setattr(disk, "_FULL_SYNC", 51)
    monkeypatch.setattr(fcntl, "fcntl", control)
    monkeypatch.setattr(os, "fsync", lambda _: calls.append("plain"))
    with (tmp_path / "a").open("wb") as file:
        disk.sync_file(file.fileno())
    assert calls == (["full"] if supported else ["full", "plain"])
