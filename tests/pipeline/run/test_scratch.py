from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.errors import ConfigError
from crawlctl.pipeline.run.scratch import scratch_folder

if TYPE_CHECKING:
    from pathlib import Path


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
    with pytest.raises(ConfigError, match="let TMPDIR name a place"), scratch_folder(str(tmp_path / "no")):
        pass
