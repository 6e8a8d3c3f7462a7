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

pytestmark = pytest.mark.slow

DEMO = [sys.executable, "-c", "import crawlctl.cli; crawlctl.cli.main()", "demo"]
# With a part of the modules: to render all takes ten seconds.
PACKAGES = ("asyncio", "email", "json", "random", "xml")
SERVE = f"""
from functools import partial
import crawlctl.cli
from crawlctl.pipeline.demo import web
web.demo_web = partial(web.demo_web, packages={PACKAGES})
crawlctl.cli.main()
"""
SITES = 6


@pytest.fixture(scope="module")
def web() -> Iterator[DemoWeb]:
    """What `crawlctl demo --serve` serves until it gets the signal of Ctrl-C."""
    command = [sys.executable, "-c", SERVE, "demo", "--serve"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
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


def test_the_demo_crawls_every_page_and_leaves_its_crawl_alone_behind(tmp_path: Path) -> None:
    (tmp_path / "scratch").mkdir()
    # Settings for another web do not matter to this one.
    (tmp_path / "crawl.yaml").write_text("scope: {include: [example.org]}\npoliteness: {delay: 1h}\n")
    surroundings = {**os.environ, "TMPDIR": str(tmp_path / "scratch")}
    done = subprocess.run(
        [*DEMO, "--no-serve"], cwd=tmp_path, env=surroundings, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    pages = int(re.search(r"serving (\d+) pages on 6 hosts", done.stdout)[1])  # type: ignore[index]
    status = done.stdout.partition("$ crawlctl status")[2]
    statuses = dict(re.findall(r"^  (\w[\w ]*\w) +(\d+)  ", status, re.MULTILINE))
    few = {"duplicates": "1", "kept out": "1", "forbidden": "1", "gone": "1", "redirects": "1"}
    assert statuses == {**few, "new or changed": str(pages - 2)}
    assert re.search(r"^due +nothing is due now; ", done.stdout, re.MULTILINE)
    answer = done.stdout.partition("$ crawlctl query --limit 3 AND event loop\n")[2]
    assert "asyncio" in answer
    assert len(re.findall(r"http://127\.0\.0\.1:\d+/", answer)) == 3
    assert list((tmp_path / "scratch").iterdir()) == []
    assert {path.name for path in tmp_path.iterdir()} == {"scratch", "crawl.yaml", "crawlctl-demo"}
    for command in re.findall(
        r"^  crawlctl (.*)", done.stdout.partition("The crawl is kept")[2], re.MULTILINE
    ):
        if command.startswith("serve "):
            continue  # it would not end
        again = subprocess.run(
            [*DEMO[:-1], *command.split()], cwd=tmp_path, capture_output=True, text=True, check=True, input=""
        )
        assert "asyncio.events" in again.stdout or "event loop" not in command


@pytest.mark.usefixtures("served")
def test_a_crawl_in_a_store_of_ones_own_stays(shell: Shell, tmp_path: Path) -> None:
    printed = shell("demo", "--no-serve", "--iterations", "1", "--store", "kept")
    assert "The crawl is kept in kept." in printed
    for words in ("query --store kept event loop", "pages --store kept", "serve --store kept"):
        assert f"  crawlctl {words}\n" in printed
    status = shell.json("status", "--store", "kept")
    assert (status["round"], status["hosts"]) == (1, SITES)
    assert status["statuses"]["fetched"] == SITES
    assert status["statuses"]["unfetched"] > 70
    assert not (tmp_path / "crawlctl-demo").exists()


@pytest.mark.usefixtures("served")
def test_the_next_demo_replaces_the_crawl_of_the_last_and_nothing_else(shell: Shell, tmp_path: Path) -> None:
    for _ in range(2):
        shell("demo", "--no-serve", "--iterations", "1")
        assert shell.json("status", "--store", "crawlctl-demo/crawl")["round"] == 1
    seeds = tmp_path / "crawlctl-demo" / "seeds.txt"
    seeds.write_text("https://example.org/ is mine\n")
    assert "crawlctl-demo is not the folder of an earlier demo" in shell("demo", code=1)
    assert seeds.read_text() == "https://example.org/ is mine\n"


@pytest.mark.usefixtures("served")
def test_the_lines_at_the_end_can_be_pasted_where_crawlctl_is_not_on_path(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["my venv/bin/crawlctl", "demo"])
    monkeypatch.setenv("PATH", "/nowhere")
    assert "  'my venv/bin/crawlctl' status --store 'my crawl'\n" in shell(
        "demo", "--no-serve", "--iterations", "1", "--store", "my crawl"
    )


def test_the_demo_ends_with_a_search_page_whose_results_can_be_opened(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SERVE, "demo", "--iterations", "2"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            lines = iter(process.stdout.readline, "")
            served = (re.search(r"pages can be searched at (http://\S+)", line) for line in lines)
            address = next(found[1] for found in served if found)
            with urlopen(f"{address}search?q=event+loop") as answer:
                (first, *_) = re.findall(r'<h3><a href="([^"]+)"', answer.read().decode())
            with urlopen(first) as page:
                assert b"loop" in page.read()
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=60) == 0
        finally:
            process.kill()
    assert (tmp_path / "crawlctl-demo" / "crawl").is_dir()


def test_serving_and_not_serving_exclude_each_other(shell: Shell) -> None:
    assert "give one of them" in shell("demo", "--serve", "--no-serve", code=2)
