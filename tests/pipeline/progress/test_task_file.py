from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.progress.task_file import Progress, ProgressFile, read_progress

if TYPE_CHECKING:
    from pathlib import Path


def test_the_tasks_of_a_folder_are_added_up_by_their_last_word(tmp_path: Path) -> None:
    one, other = ProgressFile(str(tmp_path), 0), ProgressFile(str(tmp_path), 1)
    one.write(Progress(done=99_999, total=100_000, bytes=1 << 40, errors=12, waiting=3))
    one.write(Progress(done=3, total=10, bytes=300, errors=1))
    other.write(Progress(done=4, total=20, waiting=2))
    assert read_progress(tmp_path) == Progress(done=7, total=30, bytes=300, errors=1, waiting=2)
    one.close()
    other.close()
    assert read_progress(tmp_path).done == 7


def test_where_nobody_listens_nothing_is_said(tmp_path: Path) -> None:
    for folder in ("", str(tmp_path / "elsewhere")):
        said = ProgressFile(folder, 0)
        said.write(Progress(done=1))
        said.close()
    assert list(tmp_path.iterdir()) == []


def test_what_is_not_written_yet_counts_as_nothing(tmp_path: Path) -> None:
    ProgressFile(str(tmp_path), 0).close()
    (tmp_path / "1.json").write_bytes(b"[1, 2")
    assert read_progress(tmp_path) == Progress()
    assert read_progress(tmp_path / "nowhere") == Progress()
