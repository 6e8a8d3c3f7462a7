"""`crawlctl demo` from beginning to end; what options change is tried on a web that is served already."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING
from urllib.request import urlopen

import pytest

from crawlctl.pipeline.demo.web import DemoSite, DemoWeb

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from crawlctl.tests.pipeline.commands.conftest import Shell

DEMO = [sys.executable, "-c", "import crawlctl.cli; crawlctl.cli.main()", "demo"]
SITES = 6


@pytest.fixture(scope="module")
def web() -> Iterator[DemoWeb]:
    """What `crawlctl demo --serve` serves until it gets the signal of Ctrl-C."""
    with subprocess.Popen([*DEMO, "--serve"], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            lines = [process.stdout.readline() for _ in range(2 + SITES)]
            yield DemoWeb(tuple(DemoSite(url.strip(), 0) for url in lines[2:]))
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=60) == 0
        finally:
            process.kill()


@pytest.fixture
def served(web: DemoWeb, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawlctl.pipeline.demo.web.demo_web", lambda _port: nullcontext(web))


def test_serve_prints_the_hosts_and_answers(web: DemoWeb) -> None:
    assert len(set(web.seeds)) == SITES
    for url in web.seeds:
        with urlopen(url) as answer:
            assert b"<h1>" in answer.read()


def test_the_demo_crawls_every_page_and_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "scratch").mkdir()
    # Settings for another web do not matter to this one.
    (tmp_path / "crawl.yaml").write_text("scope: {include: [example.org]}\npoliteness: {delay: 1h}\n")
    surroundings = {**os.environ, "TMPDIR": str(tmp_path / "scratch")}
    done = subprocess.run(DEMO, cwd=tmp_path, env=surroundings, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    pages = int(re.search(r"serving (\d+) pages on 6 hosts", done.stdout)[1])  # type: ignore[index]
    statuses = dict(re.findall(r"^  (\w+) +(\d+)$", done.stdout, re.MULTILINE))
    few = {"duplicate": "1", "excluded": "1", "forbidden": "1", "gone": "1", "redirected": "1"}
    assert statuses == {**few, "fetched": str(pages - 2)}
    assert re.search(r"^due +0$", done.stdout, re.MULTILINE)
    answer = done.stdout.partition("$ crawlctl query --limit 3 AND event loop\n")[2]
    assert "asyncio" in answer
    assert len(re.findall(r"http://127\.0\.0\.1:\d+/", answer)) == 3
    assert list((tmp_path / "scratch").iterdir()) == []
    assert {path.name for path in tmp_path.iterdir()} == {"scratch", "crawl.yaml"}


@pytest.mark.usefixtures("served")
def test_a_crawl_in_a_store_of_ones_own_stays(shell: Shell, tmp_path: Path) -> None:
    printed = shell("demo", "--iterations", "1", "--store", "kept")
    assert "the crawl is in kept: crawlctl status --store kept" in printed
    status = shell.json("status", "--store", "kept")
    assert (status["round"], status["hosts"]) == (1, SITES)
    assert status["statuses"]["fetched"] == SITES
    assert status["statuses"]["unfetched"] > 200


@pytest.mark.usefixtures("served")
def test_a_crawl_that_is_kept_is_where_the_last_line_says(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    command = shell("demo", "--iterations", "1", "--keep").splitlines()[-1].partition(": crawlctl ")[2]
    (folder,) = tmp_path.glob("crawlctl-demo-*")
    assert str(folder) in command
    assert shell.json(*command.split())["round"] == 1
