from __future__ import annotations

from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.fetch.select.selection import Selection
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.webdb.extract import due_rows as listed
from crawlctl.pipeline.webdb.extract.due_rows import best_due_rows
from crawlctl.pipeline.webdb.extract.part_extract import extract_of
from crawlctl.pipeline.webdb.records import decode_entry
from crawlctl.tests.pipeline.webdb.extract.made_parts import NOW, Table, histories, keys, made_part

shares = st.dictionaries(st.integers(0, 6).map(lambda n: b"h%d.example" % n), st.integers(0, 3), max_size=3)


@given(
    history=histories,
    now=st.sampled_from([5, NOW, NOW + (1 << 25)]),
    limit=st.integers(0, 30),
    per_host=st.none() | st.integers(1, 4),
    done=st.sets(keys, max_size=4),
    shares=shares,
)
def test_a_selection_by_the_extract_is_that_of_a_scan(
    history: list[tuple[Table, bool]],
    now: int,
    limit: int,
    per_host: int | None,
    done: set[bytes],
    shares: dict[bytes, int],
) -> None:
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(listed, "_FIRST_ROWS", 2)
        part, _ = made_part(LocalStore(folder), history)
        extract = extract_of(part)
        if part is None or extract is None:
            return
        by_scan = Selection(now, limit, per_host=per_host, done=done, shares=shares)
        for block in part.blocks():
            by_scan.add(block)
        by_extract = Selection(now, limit, per_host=per_host, done=done, shares=shares)
        by_extract.find(extract)
        assert by_extract.finish() == by_scan.finish()


@given(histories)
def test_all_rows_that_are_due_come_the_first_to_fetch_first(history: list[tuple[Table, bool]]) -> None:
    with TemporaryDirectory() as folder:
        part, table = made_part(LocalStore(folder), history)
        extract = extract_of(part)
        if extract is None:
            return
        entries = ((key, value, decode_entry(value)) for key, value in table.items())
        due = [
            (entry.score, -entry.depth, -entry.next_due, key, value)
            for key, value, entry in entries
            if entry.is_due(NOW)
        ]
        assert list(best_due_rows(extract, NOW)) == sorted(due, reverse=True)
