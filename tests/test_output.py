"""Every command in bad surroundings: a closed or full output, no locale, no home, a narrow terminal.

One process per surrounding loads the program once and forks for each command line, because to start Python
for each of them would take minutes.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from crawlctl.cli import COMMANDS
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.tests.pipeline.search.brute_force import Page
from crawlctl.tests.pipeline.search.small_index import write_index

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.slow

# Each command at work as far as it needs no network and no cluster, and each once with an error.
LINES: dict[str, list[str]] = {
    "run": ["--until-empty", "--contact", "mailto:me@example.org"],
    "inject": ["https://bücher.example/ü"],
    "import-warc": ["missing.warc"],
    "schedule": ["show"],
    "demo": ["--help"],
    "query": ["größe"],
    "serve": ["--host", "nowhere.invalid"],
    "mcp": ["--help"],
    "rank": ["--help"],
    "merge": [],
    "status": ["--due"],
    "pages": ["--limit", "2"],
    "hosts": [],
    "errors": [],
    "show": ["https://a.org/ü"],
    "explain": ["https://a.org/ü"],
    "dump": ["webdb"],
    "config": [],
    "init": ["--store", "new"],
    "forget": ["https://bücher.example/", "--dry-run"],
    "refresh": ["https://bücher.example/ü"],
    "rollback": [],
    "check": [],
    "copy": ["crawl", "copied"],
    "export": ["--to", "cdxj", "-o", "exported.cdxj"],
    "gc": [],
    "package": ["--help"],
    "emr": ["plan"],
    "help": ["run"],
    "completion": ["bash"],
    "version": [],
}
LOOSE = [
    [],
    ["--help"],
    ["--version"],
    ["qurey"],
    ["query"],
    ["config", "--json"],
    ["status", "--history"],
    ["status", "--watch"],
    ["inject", "-"],
    ["status", "\udcff"],
]
NO_HOME = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"))
RUNNER = """
import json, os, sys
from importlib import import_module
from pathlib import Path
import boto3, mrjob, numpy, yaml
from crawlctl import cli
from crawlctl.pipeline.commands.shared.group import module_of
for section, names in cli.SECTIONS.items():
    for name in names:
        import_module(module_of(section, name))
for name in ("rounds", "importing", "copying", "upkeep.collecting", "reports.url_explanation"):
    import_module(f"crawlctl.pipeline.crawl.{name}")
import crawlctl.jobs.fetch_index, crawlctl.pipeline.search.open.open_index
results = []
for line in json.loads(Path(sys.argv[1]).read_text()):
    errors = os.open("errors", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    child = os.fork()
    if child == 0:
        os.chdir("work")
        if sys.stderr is not None:
            os.dup2(errors, 2)
        sys.argv[1:] = line
        cli.main()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    results.append([line, code, Path("errors").read_text(errors="replace")])
Path("results").write_text(json.dumps(results))
"""


def lines() -> list[list[str]]:
    return [[name, *LINES[name]] for name in COMMANDS] + LOOSE


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    write_index(LocalStore(tmp_path / "work" / "crawl"), [[Page("https://a.org/ü", "Größe", "größe 漢字")]])
    (tmp_path / "lines").write_text(json.dumps(lines()))
    return tmp_path


def results_in(folder: Path, environment: dict[str, str | None] | None = None, **streams: Any) -> Any:
    nowhere = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    merged = {
        **os.environ,
        "PYTHONWARNINGS": "ignore",
        "CRAWLCTL_RUNNER_NAME": "inline",
        **(environment or {}),
    }
    subprocess.run(
        [sys.executable, "-c", RUNNER, "lines"],
        cwd=folder,
        env={name: value for name, value in merged.items() if value is not None},
        check=True,
        timeout=100,
        **{**nowhere, **streams},
    )
    return json.loads((folder / "results").read_text())


def without(*numbers: int) -> Callable[[], None]:
    """What a child does to start with these streams closed."""

    def close() -> None:
        for number in numbers:
            with contextlib.suppress(OSError):
                os.close(number)

    return close


def check(results: Any) -> None:
    """No traceback, an exit code that means something, and at most a few lines of error."""
    assert len(results) == len(lines())
    for line, code, errors in results:
        assert "Traceback" not in errors, (line, errors)
        assert "Exception ignored" not in errors, (line, errors)
        assert code in (0, 1, 2), (line, code, errors)


def test_every_command_has_a_line() -> None:
    assert set(LINES) == set(COMMANDS)


@pytest.mark.parametrize(
    "environment",
    [
        {**NO_HOME, "LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "COLUMNS": "1"},
        pytest.param({"LC_ALL": "C", "COLUMNS": "none", "TERM": None}, marks=pytest.mark.integration),
    ],
    ids=["ascii", "C"],
)
def test_no_traceback_in_odd_surroundings(environment: dict[str, str | None], folder: Path) -> None:
    check(results_in(folder, environment))


@pytest.mark.parametrize("closed", [(1,), (0, 1, 2)], ids=["stdout", "all"])
def test_no_traceback_with_closed_streams(closed: tuple[int, ...], folder: Path) -> None:
    results = results_in(folder, preexec_fn=without(*closed))
    check(results)
    codes = {tuple(line): code for line, code, _ in results}
    assert (codes["config",] == 0) is (1 not in closed), "lost output is an error"


def test_a_full_disk_behind_the_output_is_one_line(folder: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        results = results_in(folder, stdout=full)
    check(results)
    errors = {tuple(line): (code, said) for line, code, said in results}
    for line in (("config",), ("status", "--due"), ("query", "größe"), ("--help",), ("version",)):
        code, said = errors[line]
        assert (code, said.count("\n")) == (1, 1)
        assert "the output cannot be written: No space left on device" in said


def test_a_reader_that_has_gone_is_no_message(folder: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    results = results_in(folder, stdout=writer)
    os.close(writer)
    check(results)
    said = {tuple(line): errors for line, _, errors in results}
    assert said["config",] == said["status", "--due"] == said["--help",] == ""
