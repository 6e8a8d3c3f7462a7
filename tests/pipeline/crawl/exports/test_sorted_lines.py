from __future__ import annotations

import resource
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.crawl.exports import sorted_lines
from crawlctl.pipeline.crawl.exports.sorted_lines import SortedLines


@given(st.lists(st.binary(max_size=20).filter(lambda line: b"\n" not in line)), st.integers(1, 500))
def test_lines_come_in_order_however_few_fit_into_memory(lines: list[bytes], held: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        found = SortedLines(Path(folder), held)
        for line in lines:
            found.add(line)
        assert list(found) == sorted(line + b"\n" for line in lines)


def test_the_number_of_open_files_does_not_grow_with_the_lines(tmp_path: Path) -> None:
    found, lines = SortedLines(tmp_path, 1), [b"%03d" % (number * 7 % 300) for number in range(300)]
    for line in lines:
        found.add(line)
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = max(int(path.name) for path in Path("/dev/fd").iterdir())
    resource.setrlimit(resource.RLIMIT_NOFILE, (highest + sorted_lines.MOST_FILES + 8, limits[1]))
    try:
        assert [line.strip() for line in found] == sorted(lines)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert [line.strip() for line in found] == sorted(lines)  # and can be read again


@pytest.mark.parametrize("files", [2, 3])
def test_files_are_merged_in_several_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: int
) -> None:
    monkeypatch.setattr(sorted_lines, "MOST_FILES", files)
    found = SortedLines(tmp_path, 1)
    for number in reversed(range(20)):
        found.add(b"%02d" % number)
    assert [line.strip() for line in found] == [b"%02d" % number for number in range(20)]
    assert len(list(tmp_path.iterdir())) <= files
