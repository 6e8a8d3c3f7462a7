from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.progress.task_file import (
    RECORD_BYTES,
    HostProgress,
    Progress,
    ProgressFile,
    read_progress,
)


def test_the_tasks_of_a_folder_are_added_up_by_their_last_word(tmp_path: Path) -> None:
    one, other = ProgressFile(str(tmp_path), 0), ProgressFile(str(tmp_path), 1)
    one.write(Progress(done=99_999, total=100_000, bytes=1 << 40, errors=12, waiting=3))
    one.write(Progress(done=3, total=10, bytes=300, errors=1))
    other.write(Progress(done=4, total=20, waiting=2))
    assert read_progress(tmp_path) == Progress(done=7, total=30, bytes=300, errors=1, waiting=2)
    one.close()
    other.close()
    assert read_progress(tmp_path).done == 7


def test_the_slowest_hosts_of_all_tasks_are_kept(tmp_path: Path) -> None:
    for task in range(4):
        said = ProgressFile(str(tmp_path), task)
        hosts = tuple(HostProgress(f"h{task}{n}", seconds=10.0 * task + n) for n in range(3))
        said.write(Progress(asking=1, failing=2, seconds=10.0 * task, hosts=hosts))
        said.close()
    all_tasks = read_progress(tmp_path)
    assert [host.host for host in all_tasks.hosts] == ["h32", "h31", "h30"]
    assert (all_tasks.asking, all_tasks.failing, all_tasks.seconds) == (4, 8, 30.0)


@given(st.lists(st.text(max_size=300), max_size=6), st.text(max_size=300))
def test_a_record_has_a_fixed_size_whatever_hosts_are_called(names: list[str], reason: str) -> None:
    with TemporaryDirectory() as folder:
        said = ProgressFile(folder, 0)
        said.write(Progress(1 << 60, hosts=tuple(HostProgress(name, reason=reason) for name in names)))
        said.close()
        assert Path(folder, "0.json").stat().st_size == RECORD_BYTES
        found = read_progress(Path(folder))
    assert found.done == 1 << 60
    assert [host.host for host in found.hosts] == [name[:100] for name in names[: len(found.hosts)]]


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
