from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from crawlctl.pipeline.progress.task_file import (
    MOST_HOSTS,
    MOST_URLS,
    RECORD_BYTES,
    HostProgress,
    Progress,
    ProgressFile,
    UrlProgress,
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
        hosts = tuple(HostProgress(f"h{task}{n}", seconds=10.0 * task + n) for n in range(9))
        urls = tuple(UrlProgress(f"https://h{task}/{n}", 10.0 * n + task) for n in range(9))
        failures = {"timeout": task, f"status 50{task}": 1}
        progress = Progress(asking=1, failing=2, seconds=10.0 * task, hosts=hosts)
        said.write(replace(progress, urls=urls, failures=failures))
        said.close()
    all_tasks = read_progress(tmp_path)
    slowest = [f"h{task}{n}" for task in (3, 2, 1, 0) for n in reversed(range(9))]
    assert [host.host for host in all_tasks.hosts] == slowest[:MOST_HOSTS]
    oldest = [f"https://h{task}/{n}" for n in range(9) for task in range(4)]
    assert [url.url for url in all_tasks.urls] == oldest[:MOST_URLS]
    assert all_tasks.failures == {"timeout": 6, **{f"status 50{task}": 1 for task in range(4)}}
    assert (all_tasks.asking, all_tasks.failing, all_tasks.seconds) == (4, 8, 30.0)


@given(st.lists(st.text(max_size=300), max_size=6), st.text(max_size=300))
def test_a_record_has_a_fixed_size_whatever_hosts_are_called(names: list[str], reason: str) -> None:
    hosts = tuple(HostProgress(name, reason=reason) for name in names)
    urls = tuple(UrlProgress(name * 3, 1.0) for name in names)
    with TemporaryDirectory() as folder:
        said = ProgressFile(folder, 0)
        said.write(Progress(1 << 60, hosts=hosts, urls=urls))
        said.close()
        assert Path(folder, "0.json").stat().st_size == RECORD_BYTES
        found = read_progress(Path(folder))
    assert found.done == 1 << 60
    assert [host.host for host in found.hosts] == [name[:100] for name in names[: len(found.hosts)]]


def test_a_long_reason_shows_that_it_was_cut() -> None:
    slow = "too few bytes per second: Operation too slow. Less than 256 bytes/sec transferred (libcurl 28)"
    assert HostProgress("a", reason=slow).bounded().reason == f"{slow[:59]}…"
    assert HostProgress("a", reason=slow[:60]).bounded().reason == slow[:60]


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
