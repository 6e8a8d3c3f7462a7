from __future__ import annotations

import pytest

from crawlctl.pipeline.terminal.width import columns, fitting


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
