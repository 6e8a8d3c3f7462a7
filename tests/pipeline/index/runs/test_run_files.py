from __future__ import annotations

import pytest

from crawlctl.pipeline.errors import StoreError
from crawlctl.pipeline.index.runs.run_files import RunFiles, new_run, runs_of
from crawlctl.pipeline.state.manifest import FileEntry


def entries_of(files: RunFiles) -> list[FileEntry]:
    return [FileEntry(name.partition("/")[0], 3, name, 1, 1, "0" * 64) for name in files]


def test_the_files_of_a_run_are_named_alike_and_no_two_runs_are() -> None:
    one, other = new_run(3, 42), new_run(3, 42)
    assert one.links.startswith("links/00003/00000042-")
    assert one.docs_data == "docs" + one.links.removeprefix("links") + "/data"
    assert not set(one) & set(other)


def test_runs_are_found_among_the_files_of_a_snapshot() -> None:
    runs = sorted((new_run(partition, 1) for partition in (2, 0, 1, 0)), key=lambda run: run.links)
    webdb = FileEntry("webdb", 0, "webdb/00000/00000001-0123456789abcdef/data", 1, 1, "0" * 64)
    entries = [webdb, *(entry for run in reversed(runs) for entry in entries_of(run))]
    assert runs_of(entries) == runs
    assert runs_of([webdb]) == []


@pytest.mark.parametrize("missing", range(6))
def test_a_run_without_one_of_its_files_is_an_error(missing: int) -> None:
    entries = entries_of(new_run(0, 1)) + entries_of(new_run(0, 2))
    del entries[missing]
    with pytest.raises(StoreError, match="check --repair"):
        runs_of(entries)
