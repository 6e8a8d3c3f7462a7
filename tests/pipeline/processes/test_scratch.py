from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.errors import ConfigError
from crawlctl.pipeline.processes.scratch import PREFIX, remove_abandoned, scratch_folder

if TYPE_CHECKING:
    from collections.abc import Iterator


def test_a_folder_is_there_and_gone_with_its_files(tmp_path: Path) -> None:
    with scratch_folder(str(tmp_path)) as folder:
        (folder / "inner").mkdir()
        (folder / "inner" / "file").touch()
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_while_it_is_removed_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    remove = shutil.rmtree

    def interrupted(folder: Path, *, ignore_errors: bool) -> None:
        monkeypatch.setattr(shutil, "rmtree", remove)
        raise KeyboardInterrupt

    monkeypatch.setattr(shutil, "rmtree", interrupted)
    with pytest.raises(KeyboardInterrupt), scratch_folder(str(tmp_path)) as folder:
        (folder / "file").touch()
    assert list(tmp_path.iterdir()) == []


def test_a_parent_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="set TMPDIR to a folder"), scratch_folder(str(tmp_path / "no")):
        pass


OWNER = """
import sys, time
from crawlctl.pipeline.processes.scratch import scratch_folder
with scratch_folder(sys.argv[1]) as folder:
    (folder / "file").write_text("x")
    print(folder, flush=True)
    time.sleep(600)
"""


@pytest.fixture
def owner(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that has a folder here, whose path it has printed."""
    process = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(tmp_path)], stdout=subprocess.PIPE, text=True, bufsize=1
    )
    yield process
    process.kill()
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


def folder_of(process: subprocess.Popen[str]) -> Path:
    assert process.stdout is not None
    return Path(process.stdout.readline().strip())


def use(parent: Path) -> None:
    remove_abandoned.cache_clear()
    with scratch_folder(parent):
        pass


def test_the_folder_of_a_killed_process_is_removed_by_the_next(
    tmp_path: Path, owner: subprocess.Popen[str]
) -> None:
    folder = folder_of(owner)
    use(tmp_path)
    assert (folder / "file").exists(), "its owner lives"
    owner.kill()
    owner.wait()
    assert folder.exists()
    use(tmp_path)
    assert not folder.exists()


def test_a_folder_is_kept_while_a_fork_of_its_owner_lives(tmp_path: Path) -> None:
    with scratch_folder(tmp_path) as folder:
        use(tmp_path)
        assert folder.exists()
        pid = os.fork()
        if pid == 0:
            use(tmp_path)
            os._exit(0 if folder.exists() else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def test_only_folders_of_that_name_and_of_the_same_user_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "target"
    target.mkdir()
    (target / "file").touch()
    (tmp_path / "crawlctl-of-an-older-version").mkdir()
    (tmp_path / f"{PREFIX}link").symlink_to(target)
    (tmp_path / f"{PREFIX}file").touch()
    (tmp_path / f"{PREFIX}old").mkdir()
    with monkeypatch.context() as patch:
        patch.setattr(os, "getuid", lambda: 4711)
        use(tmp_path)
        assert (tmp_path / f"{PREFIX}old").exists(), "it is of another user"
    use(tmp_path)
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"target", "crawlctl-of-an-older-version", f"{PREFIX}link", f"{PREFIX}file"}
    assert (target / "file").exists()


def test_a_new_folder_that_another_process_removes_before_it_is_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    mkdtemp = tempfile.mkdtemp

    def made_and_removed(**options: str) -> str:
        made.append(mkdtemp(**options))
        if len(made) < 3:
            Path(made[-1]).rmdir()
        return made[-1]

    monkeypatch.setattr(tempfile, "mkdtemp", made_and_removed)
    with scratch_folder(tmp_path) as folder:
        assert folder == Path(made[2]) and folder.exists()


def test_where_nothing_can_be_locked_nothing_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "no locks here")

    (tmp_path / f"{PREFIX}old").mkdir()
    monkeypatch.setattr("fcntl.flock", refuse)
    use(tmp_path)
    assert (tmp_path / f"{PREFIX}old").exists()


def test_open_files_do_not_pile_up(tmp_path: Path) -> None:
    before = len(list(Path("/dev/fd").iterdir()))
    for _ in range(5):
        use(tmp_path)
    assert len(list(Path("/dev/fd").iterdir())) == before
