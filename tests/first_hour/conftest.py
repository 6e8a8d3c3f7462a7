"""The demo web, and what a newcomer's machine has: crawlctl on PATH, a home folder, a crontab program."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING

import pytest

from crawlctl.cli import run
from crawlctl.pipeline.demo.pages import LETTERS
from crawlctl.pipeline.demo.web import demo_web
from crawlctl.tests.first_hour.new_user import CONTACT, NewUser
from crawlctl.tests.first_hour.terminal import terminal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from crawlctl.pipeline.demo.web import DemoWeb

CRONTAB = """#!/bin/sh
case "$1" in
  -l) cat "$HOME/.table" 2>/dev/null || { echo "no crontab for you" >&2; exit 1; } ;;
  -) cat > "$HOME/.table" ;;
esac
"""


# All modules of the site that is crawled, and one of each other site: to render all takes four times as long.
PACKAGES = {name for name in sys.stdlib_module_names if name[0] in LETTERS[0]} | {
    *("heapq", "json", "pprint", "types")
}


@pytest.fixture(scope="session")
def web() -> Iterator[DemoWeb]:
    with demo_web(packages=PACKAGES) as served:
        yield served


@pytest.fixture
def machine(tmp_path: Path) -> dict[str, str]:
    """The environment of a new user, whose home is `tmp_path`; nothing of ours is in it."""
    programs = tmp_path / ".bin"
    programs.mkdir()
    for name, text in (
        ("crontab", CRONTAB),
        ("crawlctl", f'#!/bin/sh\nexec {sys.executable} -m crawlctl.cli "$@"\n'),
    ):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    kept = {name: os.environ[name] for name in ("PYTHONPATH", "LANG", "TMPDIR") if name in os.environ}
    return {
        **kept,
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "TERM": "dumb",
    }


@pytest.fixture
def hurried() -> dict[str, str]:
    """Settings for servers that are ours: the web of this machine, without pauses."""
    return {
        "CRAWLCTL_FETCH_ALLOWED_NETWORKS": "[127.0.0.1]",
        "CRAWLCTL_POLITENESS_DELAY": "0",
        "CRAWLCTL_POLITENESS_RESPONSE_FACTOR": "0",
        "CRAWLCTL_POLITENESS_BACKOFF": "100ms",
    }


@pytest.fixture
def shell(tmp_path: Path, machine: dict[str, str], hurried: dict[str, str]) -> Iterator[NewUser]:
    with terminal("bash", tmp_path, machine | hurried) as opened:
        yield NewUser(opened)


@pytest.fixture(scope="session")
def finished(web: DemoWeb, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl of one host of the demo web, made once."""
    folder = tmp_path_factory.mktemp("finished") / "crawl"
    flags = (
        *("fetch.allowed_networks=[127.0.0.1]", "politeness.delay=0", "politeness.response_factor=0"),
        "partitions=2",
    )
    settings = [word for flag in flags for word in ("--set", flag)]
    contact = ["--contact", "mailto:you@example.org"]
    assert run(["run", web.sites[1].url, "--store", str(folder), *contact, *settings]) == 0
    return folder


@pytest.fixture
def crawl(finished: Path, tmp_path: Path, shell: NewUser) -> Path:
    """The finished crawl, where crawlctl looks for a crawl by default, and the contact of its owner."""
    shutil.copytree(finished, tmp_path / "crawl")
    shell(CONTACT)
    return tmp_path / "crawl"
