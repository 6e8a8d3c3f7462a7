from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.politeness.host_state import HostState
from crawlctl.pipeline.state.kinds import HOSTS, OUTCOMES
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.webdb.records import Kind, Outcome, encode
from crawlctl.pipeline.webdb.row_files import (
    find_host_in,
    open_table,
    read_hosts,
    read_outcomes,
    write_rows,
)

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.pipeline.state.manifest import FileEntry

COUNT = 5000  # more than one batch


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / "crawl")


def write(store: LocalStore, kind: str, rows: dict[bytes, bytes]) -> FileEntry:
    return write_rows(store, kind, rows, partition=2, round_number=7)


def test_outcomes_are_read_in_key_order(store: LocalStore) -> None:
    rows = {b"a http://a/%05d" % number: Outcome(Kind.GONE, number) for number in reversed(range(COUNT))}
    entry = write(store, OUTCOMES, {key: encode(outcome) for key, outcome in rows.items()})
    assert (entry.kind, entry.partition, entry.records) == (OUTCOMES, 2, COUNT)
    assert list(read_outcomes(store, entry)) == sorted(rows.items(), key=lambda row: row[0])


def test_hosts_are_read_all_or_one_by_one(store: LocalStore) -> None:
    states = {f"{number:05d}.example": HostState(pages=number) for number in range(COUNT)}
    entry = write(store, HOSTS, {host.encode(): encode(state) for host, state in states.items()})
    assert {host: state.pages for host, state in read_hosts(store, entry)} == dict(
        zip(states, range(COUNT), strict=True)
    )
    found = find_host_in(store, entry, "04999.example")
    assert found is not None and found.pages == 4999
    assert find_host_in(store, entry, "other.example") is None


def test_damage_names_the_file(store: LocalStore) -> None:
    entry = write(store, OUTCOMES, {b"a http://a/": b"\xc1"})
    with pytest.raises(CorruptFile, match=rf"{entry.name}.*not a row of outcomes"):
        list(read_outcomes(store, entry))
    with pytest.raises(CorruptFile, match=r"it has \d+ bytes instead of"):
        open_table(store, replace(entry, bytes=entry.bytes + 1))
