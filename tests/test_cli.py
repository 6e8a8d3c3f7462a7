"""The command line as a user meets it."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import click
import pytest

from crawlctl.cli import COMMANDS, commands, run

if TYPE_CHECKING:
    from pathlib import Path

HEAVY = ("boto3", "botocore", "mrjob", "yaml", "msgspec", "numpy", "ada_url", "publicsuffixlist")


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def command_named(name: str) -> click.Command:
    group = commands()
    command = group.get_command(click.Context(group), name)
    assert command is not None
    return command


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_one_line_help_and_an_example(name: str) -> None:
    summary, _, rest = (command_named(name).help or "").partition("\n")
    assert summary.endswith(".")
    assert f"crawlctl {name}" in rest.partition("Example:")[2]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_explained(name: str) -> None:
    options = [param for param in command_named(name).params if isinstance(param, click.Option)]
    assert [option.name for option in options if not option.help] == []


def test_help_fits_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    commands = capsys.readouterr().out.partition("Commands:")[2]
    assert [line.split()[0] for line in commands.splitlines() if line] == list(COMMANDS)
    assert "..." not in commands


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys, crawlctl.cli\n"
        "assert crawlctl.cli.run(['--help']) == 0\n"
        f"sys.exit(', '.join(set({HEAVY!r}) & set(sys.modules)) or 0)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")


def test_an_unknown_command_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["frobnicate"]) == 2
    assert "No such command 'frobnicate'" in capsys.readouterr().err


def test_a_setting_without_a_value_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--set", "partitions", "config"]) == 2
    assert "write --set KEY=VALUE" in capsys.readouterr().err


def test_a_reader_that_goes_away_is_no_error_message(empty_folder: Path) -> None:
    many = "\n".join(f"https://example.com/{number}" for number in range(20_000))
    (empty_folder / "seed.txt").write_text(many)
    assert (run(["init"]), run(["inject"])) == (0, 0)
    command = [sys.executable, "-c", "import crawlctl.cli; crawlctl.cli.main()", "dump", "webdb"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""


def test_the_completion_script_names_the_program(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["completion", "bash"]) == 0
    assert "_CRAWLCTL_COMPLETE=bash_complete" in capsys.readouterr().out


def test_the_shell_completes_commands(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_CRAWLCTL_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "crawlctl in")
    monkeypatch.setenv("COMP_CWORD", "1")
    with pytest.raises(SystemExit):
        run([])
    assert capsys.readouterr().out.split() == ["plain,init", "plain,inject"]


def output_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    capsys.readouterr()
    assert run([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


PROXY = "http://anna:s3cret@proxy.example:3128"


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_config_never_shows_a_password(form: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    environment = '--set=runner.task_env={"AWS_SECRET_ACCESS_KEY": "s3cret"}'
    assert run([f"--set=fetch.proxy={PROXY}", environment, "config", *form]) == 0
    printed = capsys.readouterr().out
    assert "http://anna:***@proxy.example:3128" in printed
    assert "s3cret" not in printed


@pytest.mark.parametrize(
    "arguments",
    [
        ("--set", f"fetch.proxy {PROXY}", "config"),
        ("--set", f"partitions={PROXY}", "config"),
        ("--set", f"scope.include=[{PROXY}", "config"),
        ("--set", f"{PROXY}=1", "config"),
        ("status", "--store", "s3://key:s3cret@bucket/crawl"),
        ("status", "--store", "hdfs://anna:s3cret@namenode/crawl"),
        ("status", "--store", "ftp://anna:s3cret@host/crawl"),
        ("import-warc", "https://anna:s3cret@host/a.warc.gz"),
        ("explain", "ftp://anna:s3cret@host/"),
    ],
)
def test_errors_never_show_a_password(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(list(arguments)) in (1, 2)
    printed = capsys.readouterr()
    assert "s3cret" not in printed.out + printed.err


def test_config_says_where_a_value_comes_from(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRAWLCTL_PARTITIONS", "16")
    printed = output_of(capsys, "--set", "gc.min_age=2h", "config", "--store", "elsewhere")
    assert printed["partitions"] == {"value": 16, "source": "CRAWLCTL_PARTITIONS"}
    assert printed["gc.min_age"] == {"value": "2h", "source": "--set"}
    assert printed["store"] == {"value": "elsewhere", "source": "--store"}
    assert printed["lease.ttl"] == {"value": "2m", "source": "default"}
