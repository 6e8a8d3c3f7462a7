from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from crawlctl.tests.jobs_by_path import load_job
from crawlctl.tests.processes import is_alive, look_at

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Watch:
    """Looks at processes that are not our own children."""

    def parent(self, pid: int) -> int:
        found = look_at(pid)
        return found[1] if found else 0

    def is_alive(self, pid: int) -> bool:
        """Whether a process runs; one that is dead and unburied does not count."""
        return is_alive(pid)

    def until(self, condition: Callable[[], object], seconds: float = 30) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, "it did not happen"
            time.sleep(0.02)


@pytest.fixture(scope="session")
def watch() -> Watch:
    return Watch()


@pytest.fixture(scope="session")
def job() -> Callable[[str], Any]:
    """A function from "module.Class" to the class of a job."""
    return load_job


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    """An empty folder for the runner, to see that it leaves nothing there."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    return folder


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own for the zipped package."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "crawlctl"
