from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from crawlctl.pipeline.errors import StoreUnavailable
from crawlctl.pipeline.runners.shipping import package_target
from crawlctl.pipeline.runners.shipping.package_target import place, place_by_program
from crawlctl.pipeline.store.local.store import LocalStore, LocalWriter


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    path = tmp_path / "crawlctl-1.zip"
    path.write_bytes(b"packed" * 1000)
    return path


def test_a_file_is_put_once_and_the_user_is_told(
    packed: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = f"{tmp_path}/far/packages"
    for _ in range(2):
        assert place(packed, f"{folder}/") == f"{folder}/crawlctl-1.zip"
    assert Path(folder, "crawlctl-1.zip").read_bytes() == packed.read_bytes()
    assert [record.getMessage() for record in caplog.records] == [
        f"shipping 0 MB to {folder}/crawlctl-1.zip, where later jobs find it"
    ]


def test_another_run_may_come_first(packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Late(LocalStore):
        def _sink(self, name: str) -> LocalWriter:
            Path(self.uri, name).write_bytes(packed.read_bytes())
            return super()._sink(name)

    (tmp_path / "far").mkdir()
    monkeypatch.setattr(package_target, "open_store", lambda uri: Late(Path(uri)))
    assert place(packed, str(tmp_path / "far")) == f"{tmp_path}/far/crawlctl-1.zip"


def test_a_folder_that_takes_nothing_is_an_error_of_the_store(packed: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreUnavailable, match="file"):
        place(packed, str(tmp_path / "file" / "packages"))


class Program:
    """What mrjob makes of the program `hadoop`, with a folder for a cluster."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.put_files: list[str] = []

    def exists(self, uri: str) -> bool:
        return (self.folder / uri.rpartition("/")[2]).exists()

    def mkdir(self, uri: str) -> None:
        self.folder.mkdir()

    def put(self, source: str, uri: str) -> None:
        shutil.copy(source, self.folder / uri.rpartition("/")[2])
        self.put_files.append(uri)


def test_the_program_is_asked_once_too(packed: Path, tmp_path: Path) -> None:
    program = Program(tmp_path / "cluster")
    for _ in range(2):
        uri = place_by_program(packed, "hdfs:///apps", program)
    assert program.put_files == [uri] == ["hdfs:///apps/crawlctl-1.zip"]
