from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.state.snapshots import commit, create_crawl
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.webdb.due import count_due, due_among
from crawlctl.pipeline.webdb.merge.update import inject
from crawlctl.pipeline.webdb.records import Status, WebEntry, encode

if TYPE_CHECKING:
    from pathlib import Path

times = st.one_of(
    st.integers(0, 300),
    st.sampled_from([2**power + off for power in (7, 8, 16, 32) for off in (-1, 0, 1)]),
    st.integers(0, 2**40),
)


@given(dues=st.lists(times), now=times)
def test_entries_are_counted_as_if_they_were_decoded(dues: list[int], now: int) -> None:
    values = [encode(WebEntry(Status.GONE, due, 0.5, 1, 0)) for due in dues]
    assert due_among(values, now) == sum(due <= now for due in dues)


@given(due=times)
def test_an_entry_is_due_from_its_second_on(due: int) -> None:
    value = encode(WebEntry(Status.UNFETCHED, due, 0.0, 0, 0))
    assert [due_among([value], now) for now in (due - 1, due, due + 1) if now >= 0][-2:] == [1, 1]
    assert due == 0 or due_among([value], due - 1) == 0


def test_a_partition_without_a_part_has_nothing_due(tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "crawl")
    empty = create_crawl(store, 1)
    assert count_due(store, empty, 0, 100) == 0
    seeds = ["https://a.example/", "https://b.example/"]
    seeded = commit(store, empty, files=inject(store, empty, seeds, 50).files, round_number=0)
    assert [count_due(store, seeded, 0, now) for now in (49, 50)] == [0, 2]
