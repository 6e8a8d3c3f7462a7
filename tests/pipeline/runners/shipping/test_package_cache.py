from __future__ import annotations

import os
from pathlib import Path

import pytest

from crawlctl.pipeline.runners.shipping.package_cache import cache_folder, cached_file


def write(target: Path) -> None:
    target.write_text("packed")


def test_a_file_is_written_once(tmp_path: Path, cache: Path) -> None:
    calls: list[Path] = []

    def write_noted(target: Path) -> None:
        calls.append(target)
        write(target)

    for _ in range(2):
        found = cached_file("crawlctl-1.zip", tmp_path, write_noted)
        assert found == cache / "crawlctl-1.zip" and found.read_text() == "packed"
    assert len(calls) == 1
    assert [path.name for path in cache.iterdir()] == ["crawlctl-1.zip"]


def test_a_writer_that_fails_leaves_nothing(tmp_path: Path, cache: Path) -> None:
    def fail(target: Path) -> None:
        target.write_text("half")
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        cached_file("crawlctl-1.zip", tmp_path, fail)
    assert list(cache.iterdir()) == []


def test_what_no_job_has_used_for_long_is_forgotten(tmp_path: Path, cache: Path) -> None:
    cache.mkdir(parents=True)
    for name in ("crawlctl-old.zip", "environment-old.tar.gz", "bootstrap-old.sh", "of-another-program"):
        (cache / name).touch()
        os.utime(cache / name, (0, 0))
    (cache / "crawlctl-new.zip").touch()
    cached_file("crawlctl-1.zip", tmp_path, write)
    left = {path.name for path in cache.iterdir()}
    assert left == {"crawlctl-new.zip", "crawlctl-1.zip", "of-another-program"}


def test_without_a_cache_the_file_is_made_in_the_scratch_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert cached_file("crawlctl-1.zip", tmp_path, write) == tmp_path / "crawlctl-1.zip"


def test_the_cache_is_where_the_user_keeps_caches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/home/someone")
    assert cache_folder() == Path("/home/someone/.cache/crawlctl")
