"""The jobs of this folder's tests, loaded by path because they must also run as scripts."""

from __future__ import annotations

import importlib.util
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from crawlctl.tests.processes import is_alive, look_at

if TYPE_CHECKING:
    from collections.abc import Callable

JOBS = Path(__file__).parent / "jobs"


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

    def load(name: str) -> Any:
        module_name, _, class_name = name.partition(".")
        full_name = f"crawlctl_test_jobs_{module_name}"
        if full_name not in sys.modules:
            spec = importlib.util.spec_from_file_location(full_name, JOBS / f"{module_name}.py")
            assert spec is not None and spec.loader is not None
            sys.modules[full_name] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(sys.modules[full_name])
        return getattr(sys.modules[full_name], class_name)

    return load


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
