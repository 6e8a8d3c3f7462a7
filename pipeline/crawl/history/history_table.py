"""The history as people read it: one table of the results of each round, one of its costs.

A round is one line. Ranks, duplicate groups and new seeds belong to the round that they follow. Changes by
hand, such as a rollback, have a line of their own, because they explain why figures have changed.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from crawlctl.pipeline.crawl.history.history_row import RESULTS, SIZES, HistoryRow, StepCost
from crawlctl.pipeline.fetch.save.latency import percentile
from crawlctl.pipeline.progress.figures import duration
from crawlctl.pipeline.terminal.counted import counted, sized
from crawlctl.pipeline.terminal.tables import Column, table
from crawlctl.pipeline.terminal.utc import utc_short
from crawlctl.pipeline.terminal.wrapping import wrapped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_BY_HAND = ("check --repair", "config", "forget", "gc", "refresh", "rollback")  # commands with their own line
_IMPORT = "import-warc"
_SUMS = ("all", "shown")  # the name of the line of sums: all, or shown if earlier lines are left out
_STEPS = ("import", "fetch", "webdb", "index", "rank", "groups", "other")
_LAST = ("left", "ended_by")  # results of which the sums show those of the last round
_PERCENTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99}
_COST = "seconds in all and by step, CPU-seconds of all processes, bytes after the round"
_SECONDS_SHOWN = 100.0  # longer times are shown as h:mm:ss
_NARROWEST_NAME = 8  # the fewest columns of the terminal for a name


def history_lines(rows: Sequence[HistoryRow], room: int, last: int) -> Iterator[str]:
    """Yield the lines of `crawlctl status --history`; only the `last` lines of the tables, 0 for all."""
    joined = by_round(rows)
    shown = joined[-last:] if last else joined
    names = [_name(row) for row in shown]
    rounds = [row for row in shown if row.is_round]
    if len(rounds) > 1:
        names, shown = [*names, _SUMS[len(shown) < len(joined)]], [*shown, total_of(shown)]
    yield from table(list(_brought(names, shown)), room)
    yield ""
    yield from wrapped(_COST, room)
    yield from table(list(_cost(names, shown)), room)
    failed = Counter(total_of(rounds).failures) if rounds else Counter[str]()
    if failed:
        causes = ", ".join(f"{count:,} {cause}" for cause, count in failed.most_common())
        yield from ("", *wrapped(f"failed pages by cause: {causes}", room, "  "))
    remarks = [(_name(row), row.remark) for row in shown if row.remark]
    for name, remark in remarks[-1:]:
        yield from ("", *wrapped(f"round {name}: {remark}", room, "  "))
    if left_out := len(joined) - len(joined[-last:] if last else joined):
        earlier = f"{counted(left_out, 'earlier line')} not shown; --last 0 shows all"
        yield from ("", *wrapped(earlier, room, "  "))


def history_json(row: HistoryRow) -> dict[str, Any]:
    """Return a row for `--json`: all of its fields, totals, and the percentiles of its latency in seconds."""
    fields = {name: getattr(row, name) for name in row.__struct_fields__}
    known = {name: percentile(row.latency, share) for name, share in _PERCENTILES.items()}
    spans = {name: None if seconds is None else round(seconds, 4) for name, seconds in known.items()}
    cost = row.cost.rounded()
    return {**fields, "seconds": cost.seconds, "cpu": cost.cpu, "latency": spans}


def by_round(rows: Sequence[HistoryRow]) -> list[HistoryRow]:
    """Return a row per round and per change by hand; the costs of commits after a round are added to it.

    Commits before the first round are added to the first round.
    """
    found: list[HistoryRow] = []
    before: list[HistoryRow] = []
    for row in rows:
        if row.is_round or row.command in _BY_HAND:
            found.append(_with_costs(row, before))
            before = []
        elif found:
            found[-1] = _followed(found[-1], row)
        else:
            before.append(row)
    return [*found, *before]


def total_of(rows: Sequence[HistoryRow]) -> HistoryRow:
    """Return the sums of some rows, with the size of the crawl after the last row."""
    bills = [row.dollars for row in rows if row.dollars is not None]
    return replace(
        _with_costs(rows[-1], rows[:-1]),
        dollars=sum(bills) if bills else None,
        **{name: _sum([getattr(row, name) for row in rows]) for name in RESULTS if name not in _LAST},
    )


def _sum(values: Sequence[Any]) -> Any:
    """Return the sum of numbers or page counts; of dicts with counts, the sum for each key."""
    if not isinstance(values[0], dict):
        return sum(values[1:], start=values[0])
    counts: Counter[Any] = Counter()
    for value in values:
        counts.update(value)
    return dict(counts)


def _followed(row: HistoryRow, by: HistoryRow) -> HistoryRow:
    """Return a row plus the costs of the following row, with the size of the crawl after that row."""
    after = {name: getattr(by, name) for name in (*SIZES, "snapshot")}
    bills = [one.dollars for one in (row, by) if one.dollars is not None]
    return replace(
        _with_costs(row, [by]), **after, dollars=sum(bills) if bills else None, remark=by.remark or row.remark
    )


def _with_costs(row: HistoryRow, others: Sequence[HistoryRow]) -> HistoryRow:
    steps = dict(row.steps)
    for other in others:
        for name, cost in other.steps.items():
            steps[name] = steps.get(name, StepCost()) + cost
    return replace(row, steps=steps)


def _name(row: HistoryRow) -> str:
    if not row.is_round:
        return row.made_by or row.command
    return f"{row.round} import" if row.command == _IMPORT else str(row.round)


def _brought(names: list[str], rows: Sequence[HistoryRow]) -> Iterator[Column]:
    """Yield the columns with the results of pages; a change by hand has only sizes."""

    def of_rounds(show: Callable[[HistoryRow], str]) -> list[str]:
        pairs = zip(names, rows, strict=True)
        return [show(row) if row.is_round or name in _SUMS else "" for name, row in pairs]

    def pages(field: str) -> list[str]:
        return of_rounds(lambda row: f"{getattr(row.pages, field):,}")

    yield _names(names)
    when = [
        utc_short(row.committed) if name not in _SUMS else "" for name, row in zip(names, rows, strict=True)
    ]
    yield Column("committed", when, is_text=True, rank=6)
    yield Column("pages", pages("fetched"))
    yield Column("new", pages("new"), rank=4)
    yield Column("changed", pages("changed"), rank=3)
    yield Column("gone", pages("gone"), rank=5)
    yield Column("failed", of_rounds(lambda row: f"{row.pages.failed + row.pages.not_asked:,}"), rank=1)
    yield Column("received", of_rounds(lambda row: sized(row.received)), rank=7)
    yield Column("p50", of_rounds(lambda row: _latency(row, 0.5)), rank=9)
    yield Column("p99", of_rounds(lambda row: _latency(row, 0.99)), rank=8)
    yield Column("hosts", [f"{row.hosts:,}" for row in rows], rank=10)
    yield Column("known URLs", [f"{row.urls:,}" for row in rows], rank=11)
    yield Column("searchable", [f"{row.documents:,}" for row in rows], rank=2)


def _cost(names: list[str], rows: Sequence[HistoryRow]) -> Iterator[Column]:
    """Yield the columns of seconds by step, CPU time, sizes, and dollars if there are any."""
    yield _names(names)
    yield Column("time", [_span(row.cost.seconds) for row in rows])
    yield Column("CPU", [_span(row.cost.cpu) for row in rows])
    for number, step in enumerate(_STEPS):
        costs = [row.steps.get(step, StepCost()) for row in rows]
        if any(cost.seconds for cost in costs):
            rank = {"fetch": 1, "other": 9}.get(step, 3 + number)
            spans = [_span(cost.seconds) if cost.seconds else "" for cost in costs]
            yield Column(step, spans, rank=rank)
    yield Column("index size", [sized(sum(row.index.values())) for row in rows], rank=10)
    yield Column("terms", [f"{row.terms:,}" for row in rows], rank=11)
    yield Column("stored", [sized(sum(row.stored.values())) for row in rows], rank=2)
    if any(row.dollars is not None for row in rows):
        bills = ["" if row.dollars is None else f"{row.dollars:.2f}" for row in rows]
        yield Column("$ (est.)", bills)


def _names(names: list[str]) -> Column:
    return Column("round", names, is_text=True, narrowest=_NARROWEST_NAME)


def _span(seconds: float) -> str:
    return f"{seconds:.1f}" if seconds < _SECONDS_SHOWN else duration(seconds)


def _latency(row: HistoryRow, share: float) -> str:
    seconds = percentile(row.latency, share)
    if seconds is None:
        return ""
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"
