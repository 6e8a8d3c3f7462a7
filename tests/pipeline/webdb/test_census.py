"""The counters of a part say what decoding all its entries would say."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.webdb import census as counted
from crawlctl.pipeline.webdb.census import Census, DueRange, due_ranges, seed_hosts, status_counts
from crawlctl.pipeline.webdb.records import Status, WebEntry, encode

NOW = 1_800_000_000
DAY = 86_400

hosts = st.sampled_from(["a.example", "a.example:80", "a.examples", "b-a.example", "b.example", "[::1]:8080"])
tables = st.dictionaries(st.tuples(hosts, st.integers(0, 9)), st.from_type(WebEntry), max_size=30)
due_times = st.one_of(
    st.integers(NOW - 100 * DAY, NOW + 800 * DAY),
    st.integers(NOW - 5, NOW + 5),
    st.sampled_from([0, 1, 2**16, 2**32, 2**40]),
)


def census_of(rows: list[tuple[bytes, bytes]], size: int = 7, now: int = NOW) -> dict[str, int]:
    census = Census(now=now)
    for start in range(0, len(rows), size):
        chunk = rows[start : start + size]
        census.add([key for key, _ in chunk], [value for _, value in chunk])
    return census.counters()


def rows_of(table: dict[tuple[str, int], WebEntry]) -> list[tuple[bytes, bytes]]:
    return sorted(
        (f"{host} http://{host}/{page}".encode(), encode(entry)) for (host, page), entry in table.items()
    )


@given(tables, st.integers(1, 7))
def test_statuses_hosts_and_seeds_are_counted(table: dict[tuple[str, int], WebEntry], size: int) -> None:
    counters = census_of(rows_of(table), size)
    assert status_counts(counters) == Counter(entry.status.name.lower() for entry in table.values())
    assert counters["hosts"] == len({host for host, _ in table})
    seeds = Counter(host for (host, _), entry in table.items() if entry.depth == 0)
    assert seed_hosts(counters) == frozenset(seeds)
    assert {host: counters[f"seed {host}"] for host in seeds} == seeds


@given(st.lists(due_times, max_size=40), due_times, st.integers(1, 50))
def test_due_entries_are_counted(dues: list[int], now: int, size: int) -> None:
    rows = [(b"a http://a/%02d" % number, due_entry(due)) for number, due in enumerate(dues)]
    ranges = due_ranges(census_of(rows, size))
    assert sum(span.entries for span in ranges) == len(dues) and len(ranges) <= 19
    for span in ranges:
        inside = [due for due in dues if span.first <= due <= span.last]
        assert (min(inside), max(inside), len(inside)) == span
    due = sum(time <= now for time in dues)
    estimate = sum(span.due(now) for span in ranges)
    assert (estimate > 0) == (due > 0)
    if not any(span.is_open(now) for span in ranges):
        assert estimate == due


def due_entry(due: int) -> bytes:
    return encode(WebEntry(Status.GONE, due, 0.5, 1, 0))


def test_an_open_range_is_estimated_by_the_time_that_has_passed() -> None:
    span = DueRange(100, 200, 50)
    assert [span.due(now) for now in (99, 100, 120, 199, 200)] == [0, 1, 10, 49, 50]


def test_the_counters_carry_the_names_that_users_see() -> None:
    rows = [(b"a http://a/", encode(WebEntry(Status.UNFETCHED, 5, 0.0, 0, 0)))]
    assert census_of(rows) == {"unfetched": 1, "hosts": 1, "due 5-5": 1, "seed hosts": 1, "seed a": 1}


def test_very_many_seed_hosts_are_counted_and_not_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counted, "MAX_SEED_HOSTS", 3)
    seed = encode(WebEntry(Status.UNFETCHED, NOW, 0.0, 0, 0))
    few = census_of([(b"%c http://%c/" % (name, name), seed) for name in b"abc"])
    assert seed_hosts(few) == frozenset("abc")
    many = census_of([(b"%c http://%c/" % (name, name), seed) for name in b"abcd"])
    assert many["seed hosts"] == 4 and seed_hosts(many) is None


def test_counters_of_an_older_release_say_nothing_about_due_times_and_seeds() -> None:
    older = {"fetched": 3, "hosts": 1}
    assert due_ranges(older) == () and seed_hosts(older) is None and status_counts(older) == {"fetched": 3}


@pytest.mark.parametrize("value", [b"\xdc\x00", b"\xdc\x00\x13\x63", encode([99, *range(20)])])
def test_a_value_that_is_no_entry_is_not_counted(value: bytes) -> None:
    census = Census("webdb/00001")
    with pytest.raises(CorruptFile, match="webdb/00001: damaged"):
        census.add([b"a http://a/"], [value])
        census.counters()
