"""Rows of the history: what is written is read again, and newer rows can be read too."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.crawl.history.history_row import (
    HistoryRow,
    StepCost,
    decode_rows,
    encode_rows,
    sound_rows,
)
from crawlctl.pipeline.crawl.reports.page_counts import PageCounts
from crawlctl.pipeline.errors import CorruptFile

COUNTS = st.integers(0, 1 << 60)
NAMES = st.text(max_size=20)
SECONDS = st.floats(0, 1e6)
ROWS = st.builds(
    HistoryRow,
    snapshot=COUNTS,
    committed=st.floats(0, 4e9),
    round=COUNTS,
    command=NAMES,
    made_by=NAMES,
    is_round=st.booleans(),
    runner=NAMES,
    steps=st.dictionaries(NAMES, st.builds(StepCost, SECONDS, SECONDS), max_size=4),
    dollars=st.none() | SECONDS,
    pages=st.builds(PageCounts, *[COUNTS] * 9),
    failures=st.dictionaries(NAMES, COUNTS, max_size=4),
    requests=COUNTS,
    received=COUNTS,
    left=COUNTS,
    latency=st.dictionaries(st.integers(0, 80), COUNTS, max_size=4),
    ended_by=st.lists(NAMES, max_size=2).map(tuple),
    urls=COUNTS,
    hosts=COUNTS,
    failing_hosts=COUNTS,
    documents=COUNTS,
    terms=COUNTS,
    stored=st.dictionaries(NAMES, COUNTS, max_size=4),
    index=st.dictionaries(NAMES, COUNTS, max_size=4),
)


@given(st.lists(ROWS, max_size=4))
def test_rows_are_read_as_they_were_written(rows: list[HistoryRow]) -> None:
    data = encode_rows(rows)
    assert data.count(b"\n") == len(rows)
    assert decode_rows(data, "history") == rows


def test_a_row_of_a_newer_release_is_read_without_its_new_fields() -> None:
    line = b'{"snapshot":3,"committed":5.0,"round":2,"colour":"red"}\n'
    assert decode_rows(line, "history") == [HistoryRow(snapshot=3, committed=5.0, round=2)]


@pytest.mark.parametrize("damaged", [b"{", b'{"snapshot":-1,"committed":0,"round":0}', b"\xff", b"[]"])
def test_damage_is_found_at_its_line(damaged: bytes) -> None:
    sound = encode_rows([HistoryRow(snapshot=1, committed=0.0, round=0)])
    with pytest.raises(CorruptFile, match=f"at byte {len(sound)}: not a row of the history"):
        decode_rows(sound + damaged, "history")


def test_the_cost_of_a_row_is_the_cost_of_its_steps() -> None:
    steps = {"fetch": StepCost(2.0, 1.0), "index": StepCost(0.5, 0.25)}
    assert HistoryRow(snapshot=1, committed=0.0, round=1, steps=steps).cost == StepCost(2.5, 1.25)


@given(st.lists(ROWS, min_size=1, max_size=4), st.data())
def test_damage_costs_the_row_that_it_hits_and_changes_none(
    rows: list[HistoryRow], data: st.DataObject
) -> None:
    content = encode_rows(rows)
    assert list(sound_rows(content)) == rows
    at = data.draw(st.integers(0, len(content) - 1))
    broken = content[:at] + bytes([content[at] ^ 1 << data.draw(st.integers(0, 7))]) + content[at + 1 :]
    number = content[:at].count(b"\n")  # of the row that is hit; a lost line end hits the next one too
    found = list(sound_rows(broken))
    assert found in (rows[:number] + rows[number + 1 :], rows[:number] + rows[number + 2 :])


def test_rows_of_older_releases_have_no_checksum_and_are_read() -> None:
    line = b'{"snapshot":3,"committed":5.0,"round":1}\n'
    assert decode_rows(line, "x") == [HistoryRow(snapshot=3, committed=5.0, round=1)]
    assert list(sound_rows(line)) == []
