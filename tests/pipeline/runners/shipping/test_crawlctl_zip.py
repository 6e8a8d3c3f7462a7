from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING

import pytest

import crawlctl
from crawlctl.pipeline.runners.shipping.crawlctl_zip import package_zip

if TYPE_CHECKING:
    from pathlib import Path


def small_package(folder: Path, source: str) -> Path:
    (folder / "jobs").mkdir(parents=True, exist_ok=True)
    (folder / "__init__.py").write_text(source)
    (folder / "jobs" / "__init__.py").write_text("")
    return folder / "__init__.py"


@pytest.mark.slow
def test_an_interpreter_without_the_package_can_import_it_from_the_zip(tmp_path: Path) -> None:
    code = "import crawlctl.pipeline.errors as e; print(e.__file__); print(e.CrawlctlError.exit_code)"
    path = package_zip(tmp_path)
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],  # -S: no site-packages, where an editable install hides
        env={"PYTHONPATH": str(path), "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == [f"{path}/crawlctl/pipeline/errors.pyc", "1"]


@pytest.mark.slow
def test_the_zip_holds_the_package_and_nothing_that_stands_beside_it(tmp_path: Path) -> None:
    names = set(zipfile.ZipFile(package_zip(tmp_path)).namelist())
    assert {"crawlctl/__init__.py", "crawlctl/pipeline/runners/job.py", "crawlctl/conf/hadoop.conf"} <= names
    assert {"crawlctl/jobs/fetch_index.py", "crawlctl/jobs/upkeep/check_crawl.py"} <= names
    assert {name.split("/")[1] for name in names if name.count("/") > 1} == {"conf", "jobs", "pipeline"}
    assert not any("__pycache__" in name or "/test" in name for name in names)


def test_the_same_sources_are_zipped_once(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crawlctl, "__file__", str(small_package(tmp_path / "a", "")))
    first = package_zip(tmp_path)
    written = first.stat().st_ino
    assert first.parent == cache
    assert package_zip(tmp_path) == first and first.stat().st_ino == written
    assert [path.name for path in cache.iterdir()] == [first.name]


def test_other_sources_get_another_zip_and_the_same_sources_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crawlctl, "__file__", str(small_package(tmp_path / "a", "x = 1")))
    first = package_zip(tmp_path)
    content = first.read_bytes()
    first.unlink()
    os.utime(tmp_path / "a" / "__init__.py", (0, 0))
    assert package_zip(tmp_path).read_bytes() == content
    monkeypatch.setattr(crawlctl, "__file__", str(small_package(tmp_path / "a", "x = 2")))
    assert package_zip(tmp_path) != first


def test_a_source_with_an_error_is_left_to_those_who_import_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crawlctl, "__file__", str(small_package(tmp_path / "a", "x = (")))
    names = zipfile.ZipFile(package_zip(tmp_path)).namelist()
    assert names == ["crawlctl/__init__.py", "crawlctl/jobs/__init__.py", "crawlctl/jobs/__init__.pyc"]
