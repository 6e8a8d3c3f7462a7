from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlctl.pipeline.errors import JobFailed
from crawlctl.pipeline.runners.here import shuffle_sort as sorting
from crawlctl.pipeline.runners.here.shuffle_sort import deal_groups, line_key, sort_lines
from crawlctl.tests.effort import examples

FIELD = st.binary(max_size=4).map(lambda data: data.replace(b"\n", b"").replace(b"\t", b""))
LINE = st.one_of(FIELD, st.tuples(FIELD, st.binary(max_size=6)).map(b"\t".join)).map(
    lambda line: line.replace(b"\n", b"") + b"\n"
)
FILES = st.lists(st.lists(LINE, max_size=30), min_size=1, max_size=4)


def sorted_by(files: list[list[bytes]], *, by_value: bool, in_memory: bool) -> list[bytes]:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorting, "IN_MEMORY_BYTES", 1 << 20 if in_memory else -1)
        names = [str(Path(folder, str(number))) for number in range(len(files))]
        for name, lines in zip(names, files, strict=True):
            Path(name).write_bytes(b"".join(lines))
        sort_lines(names, f"{folder}/sorted", by_value=by_value, scratch=folder)
        with Path(folder, "sorted").open("rb") as result:
            return list(result)


@settings(max_examples=examples(40), deadline=None)
@given(files=FILES, by_value=st.booleans())
def test_both_ways_of_sorting_give_the_order_of_bytes(files: list[list[bytes]], by_value: bool) -> None:
    lines = [line for file in files for line in file]
    expected = sorted(lines, key=(lambda line: line[:-1]) if by_value else line_key)
    assert sorted_by(files, by_value=by_value, in_memory=True) == expected
    assert sorted_by(files, by_value=by_value, in_memory=False) == expected


@settings(max_examples=examples(60), deadline=None)
@given(lines=st.lists(LINE, max_size=40), tasks=st.integers(1, 6))
def test_no_group_is_split_and_no_task_gets_two_more_than_another(lines: list[bytes], tasks: int) -> None:
    lines.sort(key=line_key)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "sorted").write_bytes(b"".join(lines))
        count = deal_groups(f"{folder}/sorted", lambda number: f"{folder}/{number}", tasks)
        dealt = [Path(folder, str(number)).read_bytes().split(b"\n")[:-1] for number in range(count)]
    keys = [sorted({line_key(line) for line in part}) for part in dealt]
    assert sorted(line + b"\n" for part in dealt for line in part) == sorted(lines)
    assert sum(map(len, keys)) == len({line_key(line) for line in lines})
    assert all(part == sorted(part, key=line_key) for part in dealt)
    assert max(map(len, keys)) - min(map(len, keys)) <= 1
    assert count == max(1, min(tasks, len({line_key(line) for line in lines}))) or tasks == 1


def test_a_sort_that_fails_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sorting, "IN_MEMORY_BYTES", -1)
    (tmp_path / "in").write_bytes(b"b\na\n")
    with pytest.raises(JobFailed, match=r"the sort .* failed: .*nowhere.*; check the free space of "):
        sort_lines([str(tmp_path / "in")], str(tmp_path / "nowhere" / "out"), by_value=False, scratch="/")


def test_a_machine_without_sort_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sorting, "IN_MEMORY_BYTES", -1)
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "in").write_bytes(b"a\n")
    with pytest.raises(JobFailed, match="sort is not on PATH; install it"):
        sort_lines([str(tmp_path / "in")], str(tmp_path / "out"), by_value=False, scratch=str(tmp_path))
