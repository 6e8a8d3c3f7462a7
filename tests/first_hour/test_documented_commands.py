"""The commands of README.md and of the quickstart do what the text says, in bash and in zsh.

They are typed as they are printed. Two things are changed, because they are not ours or not free: sites of
the internet become a host of the demo web, and the port 8100 becomes a free one.
"""

from __future__ import annotations

import re
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.config.settings import ScopeSettings
from crawlctl.pipeline.demo.pages import SITES
from crawlctl.tests.first_hour.documented import Command, commands_of
from crawlctl.tests.first_hour.terminal import END_OF_INPUT, Terminal, terminal

if TYPE_CHECKING:
    from crawlctl.pipeline.demo.web import DemoWeb

ROOT = Path(__file__).parent.parent.parent
README, QUICKSTART = ROOT / "README.md", ROOT / "docs" / "quickstart.md"
PAGES = [README, *sorted((ROOT / "docs").glob("*.md"))]
SHELLS = ["bash", "zsh"]
FIRST_PORT = 8100
KILLED = 128 + 9
# What installs crawlctl, or runs other tests. `make demo` and `make test` are run by .ci/run, the demo by
# tests/pipeline/commands/crawl/test_demo.py.
NOT_TYPED = re.compile(r"git clone |cd crawlctl$|python3 -m venv |pip install |make |crawlctl demo$")
# Lets a run ask a host of this machine in the place of a host of the internet, without pauses.
OURS = "CRAWLCTL_FETCH_ALLOWED_NETWORKS='[127.0.0.1]' CRAWLCTL_POLITENESS_DELAY=0 "
SITE = re.compile(r"https://docs\.python\.org[\w./-]*")


def free_ports(count: int) -> int:
    """The first of so many free ports in a row."""
    for first in range(20_000, 60_000, 97):
        sockets = []
        try:
            for port in range(first, first + count):
                sockets.append(socket.create_server(("127.0.0.1", port)))
        except OSError:
            continue
        finally:
            for one in sockets:
                one.close()
        return first
    raise AssertionError("no free ports")


def changed(command: str, site: str, port: int) -> str:
    for number in range(SITES):
        command = command.replace(str(FIRST_PORT + number), str(port + number))
    is_run = command.startswith("crawlctl run") and SITE.search(command)
    return (OURS if is_run else "") + SITE.sub(site, command)


def typed(page: Path) -> list[Command]:
    return [command for command in commands_of(page) if not NOT_TYPED.match(command.text)]


def type_all(shell: Terminal, page: Path, site: str, port: int = FIRST_PORT) -> dict[str, str]:
    """Type the commands of a page; return what each has printed, by the command as it is printed there."""
    outputs = {}
    for command in typed(page):
        asks = command.text == "crawlctl query"
        done = shell.type(changed(command.text, site, port), f"event loop\n{END_OF_INPUT}" if asks else "")
        good = {KILLED} if command.text.startswith("timeout -s KILL") else {0}
        assert done.code in good, f"{command.text}\n{done.output}"
        outputs[command.text] = done.output
        if command.text.startswith("crawlctl demo --serve"):
            wait_until_served(port)
    return outputs


def wait_until_served(port: int) -> None:
    """Wait until all sites of the demo web answer, as a person would have by the time of the next command.

    A site that accepts a connection may still be rendering its pages. Its first answer would then be so slow
    that the run waits long before the next request, as it should.
    """
    for number in range(SITES):
        for _ in range(600):
            connection = HTTPConnection("127.0.0.1", port + number, timeout=60)
            with closing(connection), suppress(OSError):
                connection.request("GET", "/robots.txt")
                connection.getresponse().read()
                break
            time.sleep(0.1)


def test_the_commands_of_a_page_are_found_in_all_kinds_of_blocks(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# One\n\n    make it   \n\n```sh\ncat > a <<'END'\n$ b\nEND\n\nls\n```\n"
        "## Two\n```console\n$ crawlctl run\nrounds\n^C\n$ ls *\n```\n```yaml\nno: command\n```\n"
    )
    assert [(one.heading, one.text) for one in commands_of(page)] == [
        ("One", "make it   "),
        ("One", "cat > a <<'END'\n$ b\nEND"),
        ("One", "ls"),
        ("Two", "crawlctl run"),
        ("Two", "ls *"),
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_command_has_a_comment_behind_it(page: Path) -> None:
    """An interactive zsh takes # for a word."""
    assert [one.text for one in commands_of(page) if re.search(r"\s#", one.text.splitlines()[0])] == []


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", SHELLS)
def test_the_quickstart_can_be_typed(
    name: str, web: DemoWeb, tmp_path: Path, machine: dict[str, str], hurried: dict[str, str]
) -> None:
    with terminal(name, tmp_path, machine | hurried) as shell:
        outputs = type_all(shell, QUICKSTART, web.sites[1].url)
    assert (tmp_path / "mycrawl" / "crawl").is_dir()
    # The first page has more links than may be taken of a trap, and two rounds have fetched them all.
    fetched = re.search(r"^searchable +(\d+) pages", outputs["crawlctl status"], re.M)
    assert fetched and int(fetched[1]) == web.sites[1].pages > ScopeSettings().max_new_urls_per_page
    assert "asyncio.events" in outputs["crawlctl query event loop"]
    assert " run --until-empty --store " in (tmp_path / ".table").read_text()


@pytest.mark.integration
@pytest.mark.timeout(600)
def test_the_readme_can_be_typed_and_its_crawl_survives_the_kill(
    web: DemoWeb, tmp_path: Path, machine: dict[str, str]
) -> None:
    """In all shells at once, because the crawl of the README waits politely most of its minutes."""
    port = free_ports(SITES * len(SHELLS))
    with ThreadPoolExecutor() as pool:
        typing = [
            pool.submit(type_readme, name, web.sites[1].url, port + SITES * number, tmp_path / name, machine)
            for number, name in enumerate(SHELLS)
        ]
    for typed_in_shell in typing:
        typed_in_shell.result()


def type_readme(name: str, site: str, port: int, home: Path, machine: dict[str, str]) -> None:
    home.mkdir()
    with terminal(name, home, machine | {"HOME": str(home)}) as shell:
        outputs = type_all(shell, README, site, port)
        status = shell.type("crawlctl status --due").output
    first, second = (output for command, output in outputs.items() if command.startswith("crawlctl query"))
    assert "asyncio" in first and "asyncio.events" in second
    # On a busy machine the kill may come before anything of round 2 was saved.
    assert "round 2" in outputs["crawlctl run --until-empty"]
    assert re.search(r"^due +nothing is due now", status, re.M), status
