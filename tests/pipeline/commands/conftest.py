"""A terminal in an empty folder, and a fetch job that needs no network."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from crawlctl.cli import run
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.tests.pipeline.commands.damaged_crawl import small_crawl
from crawlctl.tests.pipeline.commands.small_crawl import write_crawl

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.tests.pipeline.commands.damaged_crawl import SmallCrawl

STAND_IN = Path(__file__).parent.parent / "runners" / "jobs" / "stand_in_fetch.py"
WEB_PAGES = 10


class Shell:
    """Runs commands and gives back what they print: standard output, or the error where one is expected."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        self.said = ""  # what the last command has printed on standard error

    def __call__(self, *arguments: str, code: int = 0) -> str:
        assert run(list(arguments)) == code
        printed = self._capsys.readouterr()
        self.said = printed.err
        return printed.err if code else printed.out

    def json(self, *arguments: str) -> Any:
        return json.loads(self(*arguments, "--json"))


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)  # a table is as wide as it needs to be
    return Shell(capsys)


@pytest.fixture
def made_up_web(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The stand-in for the fetch job, put in its place."""
    name = "crawlctl_test_jobs_stand_in_fetch"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, STAND_IN)
        assert spec is not None and spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    monkeypatch.setattr("crawlctl.jobs.fetch_index.FetchIndex", sys.modules[name].StandInFetch)
    monkeypatch.setenv("WEB_PAGES", str(WEB_PAGES))
    monkeypatch.setenv("CRAWLCTL_FETCH_CONTACT", "mailto:me@example.org")
    return sys.modules[name]


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallCrawl]:
    """A crawl of a small web, which tests copy before they change it."""
    with small_crawl(tmp_path_factory.mktemp("small")) as crawl:
        yield crawl


@pytest.fixture(scope="session")
def written_crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a crawl with a page of every kind, which tests copy."""
    folder = tmp_path_factory.mktemp("written") / "crawl"
    write_crawl(LocalStore(folder))
    return folder
