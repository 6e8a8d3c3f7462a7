"""The command line as a user meets it."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any, get_args

import click
import pytest

from crawlctl import __version__
from crawlctl.cli import COMMANDS, SECTIONS, commands, run
from crawlctl.pipeline.commands.shared.exit_codes import STOPPED
from crawlctl.pipeline.config.settings import RunnerName

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


def test_commands_that_run_jobs_take_the_same_options_for_them() -> None:
    taken = {
        name: [param for param in command_named(name).params if param.name in ("runner", "workers")]
        for name in COMMANDS
    }
    with_jobs = {name: params for name, params in taken.items() if params}
    assert {"run", "rank", "check", "forget"} <= set(with_jobs)
    for runner, workers in with_jobs.values():
        assert isinstance(runner, click.Option) and runner.help is not None
        assert [name for name in get_args(RunnerName) if name not in runner.help] == []
        assert workers.name == "workers"


@pytest.mark.parametrize("arguments", [["--help"], ["help"]])
def test_help_lists_all_commands_by_what_they_are_for(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 0
    lines = capsys.readouterr().out.partition("\nCrawl:\n")[2].splitlines()
    listed = [line.split()[0] for line in ["Crawl:", *lines] if line]
    assert listed == [word for title, names in SECTIONS.items() for word in (f"{title}:", *names)]
    assert not [line for line in lines if "..." in line]


def test_without_arguments_the_commands_fit_one_screen(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) < 24
    assert max(map(len, lines)) <= 80
    assert not {*COMMANDS} - {word.strip(",") for line in lines for word in line.split()}


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys, crawlctl.cli\n"
        "assert crawlctl.cli.run(['--help']) == 0\n"
        f"sys.exit(', '.join(set({HEAVY!r}) & set(sys.modules)) or 0)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("qurey", "no command `qurey`; did you mean query?"),
        ("frobnicate", "no command `frobnicate`; `crawlctl help` lists all commands"),
        ("https://docs.python.org/", "to crawl it type `crawlctl run https://docs.python.org/`"),
        ("schedule ad", "no command `ad`; did you mean add?"),
        ("schedule zzz", "no command `zzz`; `crawlctl help schedule` lists all commands"),
        ("help qurey", "no command `qurey`; did you mean query?"),
        ("help run fast", "`crawlctl run` has no commands"),
        ("config get fetch.agent", "no command `get`; `crawlctl config` prints all settings and where"),
        ("config fetch.agent", "`crawlctl config set fetch.agent=VALUE` changes one"),
        ("config sett", "no command `sett`; did you mean set?"),
        ("status --sore x", "no option `--sore`; did you mean --store?"),
        ("--confg x status", "no option `--confg`; did you mean --config?"),
        ("query --limt 3 x", "no option `--limt`; did you mean --limit?"),
        ("gc --zzzzz", "no option `--zzzzz`; `crawlctl gc --help` lists all options"),
        ("status extra", "unexpected extra argument (extra); see `crawlctl status --help`"),
    ],
)
def test_what_is_misspelt_gets_a_suggestion_in_one_line(
    line: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(line.split()) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.startswith("crawlctl: ")
    assert said.count("\n") == 1


def every_command() -> list[list[str]]:
    """The words of each command and subcommand."""
    found: list[list[str]] = []
    for name in COMMANDS:
        command = command_named(name)
        names = list(command.commands) if isinstance(command, click.Group) else []
        found += [[name], *([name, inner] for inner in names)]
    return found


@pytest.mark.parametrize("words", every_command(), ids=" ".join)
def test_options_of_all_commands_stand_after_every_command(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*words, "--help"]) == 0
    common = capsys.readouterr().out.partition("Options of all commands:")[2]
    assert [
        name for name in ("--store", "--set", "--config", "--verbose", "--help") if name not in common
    ] == []
    # The value of --set is read before anything else is done.
    assert run([*words, "--set", "partitions"]) == 2
    assert "write --set KEY=VALUE" in capsys.readouterr().err


@pytest.mark.parametrize("place", range(3))
def test_options_mean_the_same_before_and_after_a_command(
    place: int, empty_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (empty_folder / "other.yaml").write_text("fetch.agent: me")
    options = ["--set", "gc.min_age=2h", "--store", "elsewhere", "--config", "other.yaml", "-v"]
    line = [[*options, "config"], ["config", *options], [*options[:2], "config", *options[2:]]][place]
    printed = output_of(capsys, *line)
    assert printed["gc.min_age"] == {"value": "2h", "source": "--set"}
    assert printed["store"] == {"value": "elsewhere", "source": "--store"}
    assert printed["fetch.agent"] == {"value": "me", "source": "other.yaml"}


def test_what_stands_later_wins(capsys: pytest.CaptureFixture[str]) -> None:
    line = ("--set", "partitions=1", "--store", "a", "config", "--set", "partitions=2", "--store", "b")
    printed = output_of(capsys, *line)
    assert (printed["partitions"]["value"], printed["store"]["value"]) == (2, "b")


def test_a_subcommand_of_a_group_takes_them_before_and_after(capsys: pytest.CaptureFixture[str]) -> None:
    for line in (["schedule", "--set", "x", "show"], ["schedule", "show", "--set", "x"]):
        assert run(line) == 2
        assert "write --set KEY=VALUE" in capsys.readouterr().err


def test_a_query_takes_settings_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["query", "loop", "--set", "partitons=1"]) == 2
    assert "did you mean partitions?" in capsys.readouterr().err


@pytest.mark.parametrize("line", [["--version"], ["-m"]])
def test_the_version_is_printed_also_by_python_m(line: list[str]) -> None:
    module = ["-m", "crawlctl"] if line == ["-m"] else ["-c", "import crawlctl.cli; crawlctl.cli.main()"]
    result = subprocess.run(
        [sys.executable, *module, "--version"], capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stdout) == (0, f"crawlctl {__version__}\n")


@pytest.mark.parametrize("words", [["run"], ["schedule", "add"], ["help"]])
def test_help_of_a_command_is_what_its_option_prints(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["help", *words]) == 0
    by_command = capsys.readouterr().out
    assert run([*words, "--help"]) == 0
    assert capsys.readouterr().out == by_command


def test_ctrl_c_is_one_line_and_130(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for failure in (KeyboardInterrupt, click.Abort):
        monkeypatch.setattr("crawlctl.pipeline.commands.shared.group.LazyGroup.invoke", raising(failure))
        assert run(["status"]) == 130
        assert capsys.readouterr().err.strip() == f"crawlctl: {STOPPED}"


def raising(failure: type[BaseException]) -> Any:
    def fail(*_arguments: object) -> None:
        raise failure

    return fail


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
    assert capsys.readouterr().out.split() == ["plain,inject", "plain,init"]


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
