"""The tables of the history: a line per round, in the columns that there are."""

from __future__ import annotations

import pytest

from crawlctl.pipeline.crawl.history.history_row import HistoryRow, StepCost
from crawlctl.pipeline.crawl.history.history_table import by_round, history_json, history_lines, total_of
from crawlctl.pipeline.crawl.history.row_figures import figures_of_files, figures_of_round
from crawlctl.pipeline.crawl.reports.page_counts import PageCounts
from crawlctl.pipeline.fetch.save.latency import bucket_of
from crawlctl.pipeline.terminal.width import columns


def a_round(number: int, snapshot: int, command: str = "run") -> HistoryRow:
    return HistoryRow(
        snapshot=snapshot,
        committed=1_700_000_000.0 + snapshot,
        round=number,
        command=command,
        made_by=f"{command}, round {number}",
        is_round=True,
        steps={"fetch": StepCost(90.0, 30.0), "index": StepCost(20.5, 10.0), "other": StepCost(0.2, 0.1)},
        pages=PageCounts(new=1_000 * number, changed=7, gone=3, failed=2, not_asked=1),
        failures={"timeout": 2},
        requests=1_234,
        received=123_456_789,
        latency={bucket_of(0.1): 90, bucket_of(2.0): 10},
        urls=123_456,
        hosts=1_234,
        documents=1_000 * number,
        terms=98_765,
        stored={"webdb": 1_000_000, "pages": 9_000_000},
        index={"postings": 700_000, "terms": 300_000},
    )


def after(row: HistoryRow, part: str, step: str, command: str = "run") -> HistoryRow:
    return HistoryRow(
        snapshot=row.snapshot + 1,
        committed=row.committed + 1,
        round=row.round,
        command=command,
        made_by=f"{command}, {part}",
        steps={step: StepCost(5.0, 4.0), "other": StepCost(0.1, 0.1)},
        documents=row.documents + 5,
        stored={"ranks": 1},
        dollars=0.5,
    )


def test_what_a_round_is_followed_by_belongs_to_its_line() -> None:
    seeds = after(a_round(0, 1), "2 new seeds", "replay")
    first, second = a_round(1, 3), a_round(2, 4)
    ranks = after(second, "ranks", "rank")
    groups = after(ranks, "duplicate groups", "groups")
    undone = HistoryRow(snapshot=7, committed=0.0, round=3, command="rollback", made_by="rollback to 3")
    rows = by_round([seeds, first, second, ranks, groups, undone])
    assert [row.made_by for row in rows] == ["run, round 1", "run, round 2", "rollback to 3"]
    assert rows[0].steps["other"].seconds == pytest.approx(0.2 + 0.1)
    assert (rows[1].steps["rank"], rows[1].steps["groups"]) == (StepCost(5.0, 4.0), StepCost(5.0, 4.0))
    assert rows[1].documents == groups.documents
    assert rows[1].dollars == 1.0
    assert all(getattr(rows[1], name) == getattr(groups, name) for name in figures_of_files([]))
    assert rows[1].pages == second.pages


def test_the_totals_are_sums_with_the_last_sizes() -> None:
    rows = [a_round(number, number) for number in (1, 2, 3)]
    total = total_of(rows)
    assert total.pages.new == 6_000
    assert total.cost == StepCost(pytest.approx(3 * 110.7), pytest.approx(3 * 40.1))  # type: ignore[arg-type]
    assert total.latency == {bucket_of(0.1): 270, bucket_of(2.0): 30}
    assert total.documents == 3_000
    once = {"is_round", "left", "ended_by"}
    for name in figures_of_round([]).keys() - once:
        assert getattr(total, name) == getattr(total_of([total_of(rows[:2]), rows[2]]), name)
        assert not getattr(rows[2], name) or getattr(total, name) != getattr(rows[2], name), name


@pytest.mark.parametrize("room", [40, 80, 200])
def test_ten_rounds_fit_the_terminal(room: int) -> None:
    rows = [a_round(number, number) for number in range(1, 11)]
    rows.append(HistoryRow(snapshot=11, committed=0.0, round=11, command="rollback", made_by="rollback to 3"))
    lines = list(history_lines(rows, room, 20))
    assert max(map(columns, lines)) <= room
    firsts = [line.split()[0] for line in lines if line]
    for name in (*map(str, range(1, 11)), "rollback", "all"):
        assert firsts.count(name) == 2  # in both tables
    assert "20 timeout" in " ".join(" ".join(lines).split())
    if room == 80:
        header = lines[0].split()
        assert header[:4] == ["round", "committed", "pages", "new"]


def test_only_the_last_lines_are_shown_unless_all_are_wanted() -> None:
    rows = [a_round(number, number) for number in range(1, 31)]
    lines = list(history_lines(rows, 80, 20))
    assert lines[2].split()[0] == "11"
    assert [line.split()[0] for line in lines if line].count("shown") == 2
    assert lines[-1] == "10 earlier lines not shown; --last 0 shows all"
    assert next(iter(list(history_lines(rows, 80, 0))[2].split())) == "1"


def test_dollars_are_shown_where_they_are_known() -> None:
    rows = [a_round(1, 1), after(a_round(1, 1), "ranks", "rank")]
    assert any("$ (est.)" in line for line in history_lines(rows, 80, 20))
    assert not any("$" in line for line in history_lines(rows[:1], 80, 20))


def test_json_has_percentiles_and_totals_beside_all_fields() -> None:
    row = history_json(a_round(1, 1))
    assert row["latency"]["p50"] == pytest.approx(0.1, rel=0.1)
    assert row["latency"]["p99"] == pytest.approx(2.0, rel=0.1)
    assert (row["seconds"], row["cpu"]) == (110.7, 40.1)
    assert row["pages"].new == 1_000
    assert set(a_round(1, 1).__struct_fields__) <= row.keys()
