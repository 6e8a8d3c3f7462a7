from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.webdb.census import Census
from crawlctl.pipeline.webdb.records import Status, WebEntry, encode

hosts = st.sampled_from(["a.example", "a.example:80", "a.examples", "b-a.example", "b.example", "[::1]:8080"])
tables = st.dictionaries(st.tuples(hosts, st.integers(0, 9)), st.from_type(WebEntry), max_size=30)


@given(tables, st.integers(1, 7))
def test_statuses_and_hosts_are_counted(table: dict[tuple[str, int], WebEntry], size: int) -> None:
    rows = sorted(
        (f"{host} http://{host}/{page}".encode(), encode(entry)) for (host, page), entry in table.items()
    )
    census = Census()
    for start in range(0, len(rows), size):
        chunk = rows[start : start + size]
        census.add([key for key, _ in chunk], [value for _, value in chunk])
    statuses = Counter(entry.status.name.lower() for entry in table.values())
    assert census.counters() == {**statuses, "hosts": len({host for host, _ in table})}


def test_the_counters_carry_the_names_users_see() -> None:
    census = Census()
    census.add([b"a http://a/"], [encode(WebEntry(Status.UNFETCHED, 0, 0.0, 0, 0))])
    assert census.counters() == {"unfetched": 1, "hosts": 1}


@pytest.mark.parametrize("value", [b"\xdc\x00", b"\xdc\x00\x13\x63"])
def test_what_is_no_entry_is_not_counted(value: bytes) -> None:
    census = Census("webdb/00001")
    with pytest.raises(CorruptFile, match="webdb/00001: damaged"):
        census.add([b"a http://a/"], [value])
        census.counters()
