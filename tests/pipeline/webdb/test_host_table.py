from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.politeness.host_state import HostState, HostSummary, KnownSitemaps
from crawlctl.pipeline.state.kinds import HOSTS, OUTCOMES
from crawlctl.pipeline.state.snapshots import commit, create_crawl
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.webdb.host_table import find_host, merge_hosts, read_summaries
from crawlctl.pipeline.webdb.records import encode
from crawlctl.pipeline.webdb.row_files import open_table, write_rows, write_table
from crawlctl.tests.effort import examples

if TYPE_CHECKING:
    from pathlib import Path

    from crawlctl.pipeline.state.manifest import FileEntry

tables = st.lists(st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 9)), max_size=4)


@settings(deadline=None, max_examples=examples(40))
@given(rounds=st.lists(tables, max_size=3))
def test_the_table_is_what_updating_a_dictionary_gives(
    tmp_path_factory: pytest.TempPathFactory, rounds: list[list[dict[str, int]]]
) -> None:
    store = LocalStore(tmp_path_factory.mktemp("store"))
    snapshot = create_crawl(store, 1)
    known: dict[str, int] = {}
    for number, runs in enumerate(rounds, 1):
        written = [
            write_table(
                store,
                "hosts",
                [
                    (
                        [host.encode() for host in run],
                        [encode(HostState(pages=pages)) for pages in run.values()],
                    )
                ],
                partition=0,
                round_number=number,
            )
            for run in runs
        ]
        for run in runs:
            known.update(run)
        files = merge_hosts(store, snapshot, 0, written, number) or snapshot.files
        snapshot = commit(store, snapshot, files=files, round_number=number)
    hosts = [host for file in snapshot.files for host, _ in open_table(store, file)]
    assert hosts == sorted(host.encode() for host in known)
    for host in "abcdefgh":
        state = find_host(store, snapshot, host)
        assert (state.pages if state else None) == known.get(host)


def hosts_run(store: LocalStore, run: dict[str, int], number: int) -> FileEntry:
    states = [encode(HostState(pages=pages)) for pages in run.values()]
    blocks = [([host.encode() for host in run], states)]
    return write_table(store, "hosts", blocks, partition=0, round_number=number)


def test_a_value_that_is_no_state_names_the_file(tmp_path_factory: pytest.TempPathFactory) -> None:
    store = LocalStore(tmp_path_factory.mktemp("store"))
    file = write_table(store, "hosts", [([b"a"], [b"\xc1"])], partition=0, round_number=1)
    snapshot = commit(store, create_crawl(store, 1), files=[file], round_number=1)
    with pytest.raises(CorruptFile, match=file.name):
        find_host(store, snapshot, "a")


def test_a_row_has_the_fields_of_a_host_state_in_their_order() -> None:
    assert HostSummary.__struct_fields__ == HostState.__struct_fields__


def test_only_host_tables_are_read_and_states_come_back(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    state = HostState(
        not_before=9.0, left=2, left_reason="why", sitemaps=KnownSitemaps(read_at=3.0), saved_pages=4
    )
    hosts = write_rows(
        store, HOSTS, {b"a": encode(state), b"b": encode(HostState())}, partition=0, round_number=1
    )
    other = replace(hosts, kind=OUTCOMES)
    rows = dict(read_summaries(store, [other, hosts]))
    assert list(rows) == ["a", "b"]
    assert (rows["a"].not_before, rows["a"].left, rows["a"].left_reason, rows["a"].saved_pages) == (
        9.0,
        2,
        "why",
        4,
    )


def test_a_row_that_is_no_state_names_its_file(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    hosts = write_rows(store, HOSTS, {b"a": b"\xc1"}, partition=0, round_number=1)
    with pytest.raises(CorruptFile, match=hosts.name):
        list(read_summaries(store, [hosts]))
