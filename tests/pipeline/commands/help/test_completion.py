"""The TAB key in real shells: bash by its completion function, fish by `complete`, zsh in a terminal."""

from __future__ import annotations

import os
import select
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from crawlctl.cli import run

if TYPE_CHECKING:
    from pathlib import Path

# Calls the function that the script registers, as bash does: words are broken at = and :.
BASH = """
source ./script
COMP_LINE=$1
read -ra COMP_WORDS <<< "$(sed -E 's/([=:]+)/ \\1 /g' <<< "$1")"
[[ $1 == *[\\ =] ]] && COMP_WORDS+=("")
COMP_CWORD=$(( ${#COMP_WORDS[@]} - 1 ))
compopt() { echo "compopt ${!#}"; }
_crawlctl_completion crawlctl "${COMP_WORDS[$COMP_CWORD]}" ""
printf '%s\\n' "${COMPREPLY[@]}"
"""
ZSH_SETUP = "PS1=; autoload -Uz compinit; compinit -u -D; source ./script; print rea''dy\n"
PATIENCE = 30  # seconds until a terminal that shows nothing more has failed


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which `crawlctl` can be typed."""
    program = tmp_path / "bin" / "crawlctl"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m crawlctl "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def script_for(shell: str, capsys: pytest.CaptureFixture[str]) -> str:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    assert run(["completion", shell]) == 0
    return capsys.readouterr().out


def in_bash(line: str) -> list[str]:
    command = ["bash", "--norc", "-c", BASH, "bash", line]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\n")[:-1]


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("crawlctl status --set scope.inc", ["compopt nospace", "scope.include="]),
        ("crawlctl run --set runner.name=h", ["hadoop"]),
        ("crawlctl run --seed ", ["compopt default", ""]),
    ],
)
def test_bash_completes(
    line: str, offered: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "script").write_text(script_for("bash", capsys))
    assert in_bash(line) == offered


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("que", ["plain,query"]),
        ("schedule re", ["plain,remove"]),
        ("help sch", ["plain,schedule"]),
        ("dump do", ["plain,docs"]),
        ("dump somefi", ["file,somefi"]),
        ("run --until", ["plain,--until-empty"]),
        ("--set gc.keep", ["plain,gc.keep_snapshots="]),
        ("config set scope.max_d", ["plain,scope.max_depth="]),
        ("config set scope.max_depth=3 scope.incl", ["plain,scope.include="]),
        ("config set gc.keep", []),  # no setting of the crawl
        ("config unset scope.max_d", ["plain,scope.max_depth"]),
        ("config edit x", ["file,x"]),
        ("schedule add --set gc.keep", ["plain,gc.keep_snapshots="]),
        ("query --set scope.incl", ["plain,scope.include="]),
        ("run --set fetch.http2 = ", ["plain,true", "plain,false"]),
        ("run --set runner.name = h", ["plain,hadoop"]),
        ("run --set scope.include = x", []),
        ("run --runner f", ["plain,forked"]),
        ("merge --runner f", ["plain,forked"]),
        ("rank --teleport se", ["plain,seed"]),
        ("run --seed x", ["file,x"]),
        ("schedule add --seed x", ["file,x"]),
        ("status --config x", ["file,x"]),
        ("status --store x", ["dir,x"]),
        ("copy x", ["dir,x"]),
        ("import-warc x", ["file,x"]),
        ("inject x", ["file,x"]),
        ("completion f", ["plain,fish"]),
    ],
)
def test_what_is_offered(
    line: str, offered: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["crawlctl", *line.split(" ")]
    monkeypatch.setenv("_CRAWLCTL_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "\n".join(words))
    monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
    with pytest.raises(SystemExit):
        run([])
    assert capsys.readouterr().out.split() == offered


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("crawlctl que", "query"),
        ("crawlctl run --set runner.name=h", "runner.name=hadoop"),
        ("crawlctl run --seed spe", "special.txt"),
    ],
)
def test_fish_completes(line: str, offered: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "script").write_text(script_for("fish", capsys))
    (folder / "special.txt").touch()
    command = ["fish", "--no-config", "-c", f"source script; complete -C '{line}'"]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert found.split("\t")[0].strip() == offered


@pytest.mark.parametrize(
    ("line", "completed"),
    [
        ("crawlctl status --set scope.inc\tX", "scope.include=X"),
        ("crawlctl run --set runner.name=h\t", "runner.name=hadoop "),
        ("crawlctl run --seed spe\t", "--seed special.txt "),
    ],
)
def test_zsh_completes(line: str, completed: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "script").write_text(script_for("zsh", capsys))
    (folder / "special.txt").touch()
    process, screen = os.forkpty()
    if process == 0:
        os.environ["TERM"] = "dumb"
        os.execlp("zsh", "zsh", "-f", "-i")
    try:
        os.write(screen, ZSH_SETUP.encode())
        shown_until("ready", screen)
        os.write(screen, line.encode())
        shown_until(completed, screen)
    finally:
        os.close(screen)
        os.waitpid(process, 0)


def shown_until(wanted: str, screen: int) -> None:
    """Read what a terminal shows until it has shown a text."""
    seen = ""
    while wanted not in seen:
        ready, _, _ = select.select([screen], [], [], PATIENCE)
        assert ready, f"{wanted!r} is not in {seen!r}"
        seen += os.read(screen, 4096).decode(errors="replace")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_says_how_to_install_it(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["completion", shell]) == 0
    assert f"# To install: crawlctl completion {shell} > ~/" in capsys.readouterr().out
