from __future__ import annotations

import re
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crawlctl.cli import run
from crawlctl.pipeline.commands.look.config import settings_table
from crawlctl.pipeline.state.leases.lease import hold_lease
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.terminal.width import columns

if TYPE_CHECKING:
    from crawlctl.tests.pipeline.commands.conftest import Shell

LONG = "[" + "a" * 500 + "]"
ROWS = [
    ("store", "crawl", "default"),
    ("scope.skip_extensions", LONG, "default"),
    ("gc.min_age", "2h", "--set"),
]


@pytest.mark.parametrize("width", [60, 80, 200])
def test_in_a_terminal_long_values_are_cut_to_its_width(width: int) -> None:
    lines = list(settings_table(ROWS, width))
    assert max(map(columns, lines)) == width
    assert "aaa…aaa" in lines[1]
    assert lines[1].endswith("]  default")
    assert len({line.index(source) for line, (_, _, source) in zip(lines, ROWS, strict=True)}) == 1


def test_wide_characters_are_cut_to_the_columns_they_take() -> None:
    lines = list(settings_table([("key", "漢" * 100, "default"), ("other", "x", "default")], 50))
    assert all(columns(line) in (49, 50) for line in lines)
    assert columns(lines[0].partition("default")[0]) == columns(lines[1].partition("default")[0])


@pytest.mark.parametrize("width", [35, 40])
def test_a_narrow_terminal_gets_two_lines_per_setting(width: int) -> None:
    lines = list(settings_table(ROWS, width))
    assert max(map(columns, lines)) <= width
    assert (lines[0], lines[1].split()) == ("store", ["crawl", "default"])
    assert lines[3].startswith("  [aaaaaa")


@pytest.mark.parametrize("width", [40, 80])
def test_no_line_of_config_is_wider_than_the_terminal(
    width: int, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    lines = shell("config").splitlines()
    assert len(lines) > 100
    assert max(map(columns, lines)) <= width


def test_elsewhere_values_are_whole_and_do_not_widen_the_other_lines() -> None:
    first, second, third = settings_table(ROWS, None)
    assert LONG in second
    assert first.index("default") == third.index("--set") < 80


def test_sizes_and_durations_are_shown_with_units_that_cannot_be_misread(shell: Shell) -> None:
    rows = dict(line.split()[:2] for line in shell("config").splitlines())
    assert (rows["fetch.max_body"], rows["fetch.timeout"]) == ("10MiB", "1min")


def test_json_keeps_the_short_units_and_whole_values(shell: Shell) -> None:
    printed = shell.json("config")
    assert printed["fetch.max_body"] == {"value": "10m", "source": "default"}
    assert len(printed["scope.skip_extensions"]["value"]) > 60


DIFFERENCE = (
    "crawl.yaml: scope.include is [a.org], but the crawl's own setting is [b.org], which counts; "
    "to change it: crawlctl config set 'scope.include=[a.org]'\n"
)


def own(shell: Shell, *options: str) -> dict[str, object]:
    """The values that come from the crawl itself."""
    printed = shell.json("config", *options)
    return {key: one["value"] for key, one in printed.items() if one["source"] == "the crawl"}


@pytest.fixture
def crawl(shell: Shell) -> Shell:
    """A crawl whose scope is b.org, made by a settings file that is gone."""
    Path("crawl.yaml").write_text("scope.include: [b.org]\ngc.min_age: 2h\n")
    shell("init")
    Path("crawl.yaml").unlink()
    return shell


def test_without_a_crawl_all_settings_are_shown_and_nothing_is_made(shell: Shell) -> None:
    assert shell.json("config")["scope.include"] == {"value": [], "source": "default"}
    assert not Path("crawl").exists()


def test_a_new_crawl_keeps_the_settings_of_its_sections_and_no_others(crawl: Shell) -> None:
    assert own(crawl) == {"scope.include": ["b.org"]}
    assert crawl.json("config")["gc.min_age"] == {"value": "1h", "source": "default"}
    (row,) = [line.split() for line in crawl("config").splitlines() if line.startswith("scope.include")]
    assert row == ["scope.include", '["b.org"]', "the", "crawl"]


def test_a_file_or_variable_that_differs_is_named_in_one_line_and_does_not_count(
    crawl: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("crawl.yaml").write_text("scope.include: [a.org]\n")
    assert own(crawl) == {"scope.include": ["b.org"]}
    assert crawl.said == DIFFERENCE
    monkeypatch.setenv("CRAWLCTL_SCOPE_MAX_DEPTH", "3")
    crawl("explain", "--store", "crawl", "https://b.org/")
    (line,) = crawl.said.splitlines()
    assert "CRAWLCTL_SCOPE_MAX_DEPTH: scope.max_depth is 3 (the crawl's own: 20)" in line
    assert line.endswith(
        "to change them: crawlctl config set --store crawl 'scope.include=[a.org]' scope.max_depth=3"
    )


def test_the_command_of_that_line_makes_the_value_count(crawl: Shell) -> None:
    Path("crawl.yaml").write_text("scope.include: [a.org]\n")
    crawl("explain", "https://b.org/")
    command = shlex.split(crawl.said.rpartition("to change it: crawlctl ")[2])
    assert crawl(*command) == "scope.include of this crawl is now [a.org] (was [b.org])\n"
    crawl("explain", "https://b.org/")
    assert crawl.said == ""


def test_a_file_that_says_the_same_is_not_mentioned(crawl: Shell) -> None:
    Path("crawl.yaml").write_text("scope.include: [b.org]\nfetch.contact: me@a.org\n")
    assert own(crawl) == {"scope.include": ["b.org"]}
    assert crawl.said == ""
    assert crawl.json("config")["fetch.contact"] == {"value": "me@a.org", "source": "crawl.yaml"}


def test_a_flag_counts_for_its_command_only(crawl: Shell) -> None:
    printed = crawl.json("--set", "scope.max_depth=4", "config")
    assert printed["scope.max_depth"] == {"value": 4, "source": "--set"}
    crawl("--set", "index.k1=1.5", "merge")
    assert own(crawl) == {"scope.include": ["b.org"]}


def test_several_values_are_set_and_unset_in_one_snapshot_each(crawl: Shell) -> None:
    printed = crawl.json("config", "set", "scope.max_depth=2", "recrawl.rest=5d", "scope.include=")
    assert printed == {
        "snapshot": 2,
        "changed": {
            "scope.include": {"value": [], "was": ["b.org"]},
            "scope.max_depth": {"value": 2, "was": 20},
            "recrawl.rest": {"value": "5d", "was": "14d"},
        },
        "pages": {"left": 0, "due": 0},
    }
    assert own(crawl) == {"scope.max_depth": 2, "recrawl.rest": "5d"}
    assert crawl("config", "set", "scope.max_depth=2") == "the crawl has these values already\n"
    told = crawl("config", "unset", "scope.max_depth", "recrawl.rest")
    assert told == "scope.max_depth of this crawl is now 20 (was 2); recrawl.rest is now 14d (was 5d)\n"
    assert own(crawl) == {}
    assert crawl.json("status")["snapshot"] == 3


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            "fetch.contact=me",
            "put it into crawl.yaml, or give it to a command: crawlctl --set fetch.contact=…",
        ),
        ("index.memory=1GiB", "index.memory is no setting of the crawl"),
        ("scope.max_deph=2", "did you mean scope.max_depth?"),
        ("scope.max_depth=-1", "scope.max_depth"),
        ("scope.exclude=['regex:(']", "scope.exclude"),
        ("recrawl.pace.minimum=900d", "minimum"),
        ("scope.max_depth", "write KEY=VALUE"),
    ],
)
def test_one_wrong_value_changes_nothing(crawl: Shell, wrong: str, message: str) -> None:
    assert message in crawl("config", "set", "scope.max_url_length=9", wrong, code=2)
    assert own(crawl) == {"scope.include": ["b.org"]}
    assert crawl.json("status")["snapshot"] == 1


def test_setting_without_a_crawl_or_while_it_is_in_use_fails(shell: Shell) -> None:
    assert "holds no crawl" in shell("config", "set", "scope.max_depth=2", code=1)
    shell("init")
    with hold_lease(LocalStore(Path("crawl")), 60, "run"):
        assert "in use by `crawlctl run`" in shell("config", "set", "scope.max_depth=2", code=75)


def editor(monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Let the editor be a program that changes the text of a file by a Python expression."""
    program = Path("editor.py").absolute()
    change = "import pathlib, sys\nfile = pathlib.Path(sys.argv[1])\ntext = file.read_text()\n"
    program.write_text(f"{change}file.write_text({script})\n")
    monkeypatch.setenv("VISUAL", f"{sys.executable} {program}")


def test_the_editor_changes_settings(crawl: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    editor(
        monkeypatch,
        "text.replace('#scope.max_depth: 20', 'scope.max_depth: 4').replace('scope.inc', '#scope.inc')",
    )
    told = crawl("config", "edit")
    assert told == "scope.include of this crawl is now [] (was [b.org]); scope.max_depth is now 4 (was 20)\n"
    assert own(crawl) == {"scope.max_depth": 4}


def test_an_unchanged_text_changes_nothing(crawl: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    editor(monkeypatch, "text")
    assert crawl("config", "edit") == "the text has no changes, so the crawl stays as it is\n"
    assert crawl.json("status")["snapshot"] == 1


def test_a_mistake_in_the_editor_is_named_by_its_line_and_the_text_is_kept(
    crawl: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    editor(monkeypatch, "'scope.max_url_length: 9\\n\\nscope.max_depth: -3\\n'")
    told = crawl("config", "edit", code=2)
    assert "line 3: scope.max_depth" in told
    kept = Path(re.findall(r"crawlctl config edit (\S+)", told)[0])
    assert kept.read_text() == "scope.max_url_length: 9\n\nscope.max_depth: -3\n"
    assert own(crawl) == {"scope.include": ["b.org"]}
    editor(monkeypatch, "text.replace('-3', '3')")
    crawl("config", "edit", str(kept))
    assert own(crawl) == {"scope.max_url_length": 9, "scope.max_depth": 3}


def test_what_another_command_changed_meanwhile_is_not_overwritten_by_the_editor(
    crawl: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = f"{sys.executable} -m crawlctl.cli config set scope.max_depth=9"
    editor(monkeypatch, f"(__import__('os').system({other!r}), text + 'scope.max_url_length: 9')[1]")
    told = crawl("config", "edit", code=75)
    assert "your text is kept" in told and "changed the crawl's own settings meanwhile" in told
    assert own(crawl) == {"scope.include": ["b.org"], "scope.max_depth": 9}


def damage(folder: str = "crawl") -> None:
    (file,) = Path(folder, "settings").rglob("*.json")
    file.write_bytes(file.read_bytes().replace(b"b.org", b"c.org"))


def test_damaged_settings_stop_what_needs_them_and_nothing_else(crawl: Shell) -> None:
    damage()
    for command in (
        ("explain", "https://b.org/"),
        ("run",),
        ("merge",),
        ("config", "set", "scope.max_depth=2"),
    ):
        told = crawl(*command, code=1)
        assert "settings/00000/" in told and "crawlctl config set --anew" in told
    assert "settings/00000/" in crawl("config", code=1)
    assert crawl.json("gc")["files"] == []
    crawl("status")
    assert run(["check"]) == 1


def test_damaged_settings_are_found_by_check_and_written_anew(
    crawl: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    damage()
    assert run(["check"]) == 1
    assert "crawlctl config set --anew --store" in capsys.readouterr().out
    Path("crawl.yaml").write_text("scope.include: [a.org]\n")
    crawl("config", "set", "--anew")
    assert own(crawl) == {"scope.include": ["a.org"]}
    crawl("check")


def test_damaged_settings_that_no_file_has_cannot_be_repaired(
    crawl: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    damage()
    assert run(["check", "--repair"]) == 1
    told = capsys.readouterr().err
    assert "neither an older snapshot nor the settings in use here are a copy of it" in told
    assert "crawlctl config set --anew --store" in told


def test_damaged_settings_are_repaired_from_the_settings_file_if_it_still_says_the_same(
    crawl: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    damage()
    Path("crawl.yaml").write_text("scope.include: [b.org]\n")
    assert run(["check"]) == 1
    assert "repair the crawl with `crawlctl check --repair" in capsys.readouterr().out
    assert crawl("check", "--repair").endswith("nothing was lost\n")
    crawl("check")
    assert own(crawl) == {"scope.include": ["b.org"]}


def test_damaged_settings_are_repaired_from_an_older_snapshot_which_is_said(crawl: Shell) -> None:
    crawl("config", "set", "scope.max_depth=3")
    crawl("config", "set", "scope.max_depth=4")
    (newest,) = [path for path in Path("crawl/settings").rglob("*.json") if b": 4" in path.read_bytes()]
    newest.write_bytes(b"")
    told = crawl("check", "--repair")
    assert "the crawl's own settings are those of snapshot 2 again" in told
    assert "look at them with `crawlctl config`" in told and "nothing was lost" not in told
    crawl("check")
    assert own(crawl) == {"scope.include": ["b.org"], "scope.max_depth": 3}


def test_a_copy_has_the_same_settings_in_any_number_of_partitions(crawl: Shell) -> None:
    crawl("copy", "crawl", "same")
    crawl("copy", "crawl", "other", "--partitions", "7")
    assert own(crawl, "--store", "same") == own(crawl, "--store", "other") == {"scope.include": ["b.org"]}


def test_gc_keeps_the_settings_that_snapshots_name(crawl: Shell) -> None:
    for depth in "2345":
        crawl("config", "set", f"scope.max_depth={depth}")
    crawl("gc", "--min-age", "0s", "--keep", "2")
    assert len(list(Path("crawl/settings").rglob("*.json"))) == 2
    assert own(crawl) == {"scope.include": ["b.org"], "scope.max_depth": 5}


def test_a_query_does_not_read_the_settings(crawl: Shell) -> None:
    shutil.rmtree("crawl/settings")
    assert "has no index to search yet" in crawl("query", "word", code=1)


def test_an_editor_that_fails_changes_nothing_and_says_what_to_type(
    crawl: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", "false")
    told = crawl("config", "edit", code=1)
    assert "so the crawl stays as it is; choose another one, such as EDITOR=nano crawlctl config edit" in told
