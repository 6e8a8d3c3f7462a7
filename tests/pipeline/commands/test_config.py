from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.commands.config import table_lines
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
    lines = list(table_lines(ROWS, width, cut=True))
    assert max(map(columns, lines)) == width
    assert lines[1].endswith("…  default")
    assert len({line.index(source) for line, (_, _, source) in zip(lines, ROWS, strict=True)}) == 1


def test_wide_characters_are_cut_to_the_columns_they_take() -> None:
    lines = list(table_lines([("key", "漢" * 100, "default"), ("other", "x", "default")], 50, cut=True))
    assert all(columns(line) in (49, 50) for line in lines)
    assert columns(lines[0].partition("default")[0]) == columns(lines[1].partition("default")[0])


def test_a_narrow_terminal_still_shows_the_beginning_of_values() -> None:
    assert "[aaaaaaaaaaaaaaaaaa…" in list(table_lines(ROWS, 10, cut=True))[1]


def test_elsewhere_values_are_whole_and_do_not_widen_the_other_lines() -> None:
    first, second, third = table_lines(ROWS, 60, cut=False)
    assert LONG in second
    assert first.index("default") == third.index("--set") < 60


def test_sizes_and_durations_are_shown_with_units_that_cannot_be_misread(shell: Shell) -> None:
    rows = dict(line.split()[:2] for line in shell("config").splitlines())
    assert (rows["fetch.max_body"], rows["fetch.timeout"]) == ("8MiB", "1min")


def test_json_keeps_the_short_units_and_whole_values(shell: Shell) -> None:
    printed = shell.json("config")
    assert printed["fetch.max_body"] == {"value": "8m", "source": "default"}
    assert len(printed["scope.skip_extensions"]["value"]) > 70
