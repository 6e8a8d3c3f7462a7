from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.terminal.tables import Column, described, fields, figures, listing, table
from crawlctl.pipeline.terminal.width import columns

if TYPE_CHECKING:
    from collections.abc import Sequence

HEADINGS = ("pages", "status", "reason")
ROWS = [("12", "gone", "status 404"), ("1,402", "failed", "a reason of many words")]


def test_a_table_that_fits_has_a_line_per_row_with_numbers_to_the_right() -> None:
    assert list(listing(HEADINGS, ROWS, 80)) == [
        "pages  status  reason",
        "-----  ------  ----------------------",
        "   12  gone    status 404",
        "1,402  failed  a reason of many words",
    ]
    assert list(listing(HEADINGS, ROWS, None)) == list(listing(HEADINGS, ROWS, 80))


def test_the_last_column_moves_below_its_row() -> None:
    assert list(listing(HEADINGS, ROWS, 20)) == [
        "pages  status",
        "  reason",
        "-----  ------",
        "   12  gone",
        "  status 404",
        "1,402  failed",
        "  a reason of many",
        "  words",
    ]


def test_in_the_end_each_cell_has_its_line() -> None:
    assert list(listing(HEADINGS, ROWS, 12)) == [
        *("pages: 12", "status: gone", "reason:", "  status 404", ""),
        *("pages: 1,402", "status:", "  failed", "reason:", "  a reason", "  of many", "  words"),
    ]


def test_a_value_is_wrapped_beside_its_name_and_one_with_a_long_word_stands_below() -> None:
    rows = [
        ("why", "it waits for a round"),
        ("linked from", "https://a.org/1\nhttps://a.org/2"),
        ("none", ""),
    ]
    assert list(described(rows, None)) == [
        "why          it waits for a round",
        "linked from  https://a.org/1",
        "             https://a.org/2",
        "none",
    ]
    assert list(described(rows, 28)) == [
        *("why          it waits for a", "             round"),
        *("linked from  https://a.org/1", "             https://a.org/2"),
        "none",
    ]
    assert list(described(rows, 20))[-4:] == ["linked from", "  https://a.org/1", "  https://a.org/2", "none"]


cells = st.text(st.sampled_from("a1 検\x1b"), max_size=12)


@given(st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=4), st.integers(16, 60))
def test_no_line_is_wider_than_the_terminal_but_for_a_long_word(
    rows: list[tuple[str, str, str]], width: int
) -> None:
    pairs = [("name", "\n".join(row)) for row in rows]
    for line in (*listing(("one", "two", "three"), rows, width), *described(pairs, width)):
        assert line.isprintable()
        assert columns(line) <= width or len(line.split()) == 1
    kept = "".join("".join(row) for row in rows).replace("\x1b", " ").split()
    assert "".join(kept) in "".join("".join(listing(("a", "b", "c"), rows, None)).replace("-", "").split())


def wide(rows: int) -> Sequence[Column]:
    return (
        Column("host", ["例え" * 12 + ".example"] * rows, is_text=True, narrowest=1),
        Column("pages", ["1,234,567,890"] * rows),
        Column("seconds", ["12,345.6"] * rows, rank=1),
        Column("bytes", ["1,234,567,890,123"] * rows, rank=2),
    )


@pytest.mark.parametrize("room", [40, 80, 200])
def test_a_table_fits_its_terminal(room: int) -> None:
    lines = list(table(wide(3), room))
    assert len(lines) == 5
    assert all(columns(line) <= room for line in lines)
    assert all("1,234,567,890" in line for line in lines[2:])


def test_columns_are_left_out_in_the_order_of_their_rank() -> None:
    assert next(table(wide(1), 200)).split() == ["host", "pages", "seconds", "bytes"]
    assert next(table(wide(1), 80)).split() == ["host", "pages"]


def test_a_long_remark_goes_on_in_its_column_and_a_long_word_is_cut() -> None:
    assert list(fields([("store", "/a/very/long/path/to/a/crawl"), ("size", "12.3 MB in 14 files")], 20)) == [
        "store  /a/very/…rawl",
        "size   12.3 MB in 14",
        "       files",
    ]


def test_remarks_without_room_beside_their_numbers_stand_below() -> None:
    rows = [("pages fetched", 1200, "1.2 MB received"), ("gone", 3, "")]
    assert list(figures(rows, 28)) == [
        *("pages fetched  1,200", "  1.2 MB received", "gone               3"),
    ]
