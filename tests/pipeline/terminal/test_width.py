from __future__ import annotations

import io
import sys

import pytest

from crawlctl.pipeline.terminal.width import columns, fitting, output_columns, output_width


@pytest.mark.parametrize(
    ("text", "expected"), [("", 0), ("abc", 3), ("検索", 4), ("e\u0301", 1), ("ｗｉｄｅ", 8), ("é…", 2)]
)
def test_a_text_takes_columns(text: str, expected: int) -> None:
    assert columns(text) == expected


@pytest.mark.parametrize(
    ("text", "start", "room", "end"),
    [("abcdef", 1, 3, 4), ("abc", 0, 9, 3), ("検索検索", 0, 5, 2), ("検索", 0, 1, 1), ("a検索", 1, 4, 3)],
)
def test_a_part_fits(text: str, start: int, room: int, end: int) -> None:
    assert fitting(text, start, room) == end


def test_the_width_is_that_of_the_variable_or_of_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    for named, width in (("57", 57), ("3", 20), ("many", None), ("0", None), ("", None)):
        monkeypatch.setenv("COLUMNS", named)
        assert output_width() == width
        assert output_columns() == (width or 80)
