"""Tables of captures over many rounds: nothing is lost, tables stay few, and a round writes what it adds."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from math import log
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.captures.capture_record import CaptureRecord, joined
from crawlctl.pipeline.captures.capture_table import IMPORTED, LISTED, RunCaptures, tables_of
from crawlctl.pipeline.captures.capture_tiers import RATIO, merge_captures, merged_rows
from crawlctl.pipeline.store.local.store import LocalStore

if TYPE_CHECKING:
    from crawlctl.pipeline.state.manifest import FileEntry

KEYS = [b"a.org https://a.org/%d" % number for number in range(6)]
ROUNDS = st.lists(
    st.lists(st.tuples(st.sampled_from(KEYS), st.booleans()), max_size=12), min_size=1, max_size=8
)


@given(ROUNDS)
def test_all_captures_of_all_rounds_are_there_in_few_tables(rounds: list[list[tuple[bytes, bool]]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = LocalStore(Path(folder))
        wanted: defaultdict[bytes, list[CaptureRecord]] = defaultdict(list)
        files: list[FileEntry] = []
        written = 0
        for number, added in enumerate(rounds):
            run = RunCaptures()
            for place, (key, is_imported) in enumerate(added):
                name = "/x.warc" if is_imported else f"pages/{number}"
                capture = CaptureRecord(number, 200, "text/html", "sha1:A", name, place, 1)
                run.add(key, capture)
                wanted[key].append(capture)
            new = run.write(store, partition=0, round_number=number)
            after = merge_captures(store, files, new, partition=0, round_number=number)
            written += sum(table.captures for table in tables_of(after) if table.data not in files)
            files = list(after or files)
        tables = tables_of(files)
        found = dict(merged_rows(store, tables))
        assert found == {key: joined(captures) for key, captures in wanted.items()}
        imported = sum(one.is_imported for captures in found.values() for one in captures)
        total = sum(map(len, found.values()))
        assert sum(table.data.counters[IMPORTED] for table in tables) == imported
        assert sum(table.data.counters[LISTED] for table in tables) == total - imported
        steps = log(total + 1, 1 + 1 / RATIO) + 1
        assert len(tables) <= log(total + 1, RATIO) + 1
        assert written <= total * steps
        for table in tables:
            assert all(table.get(store, key) == captures for key, captures in table.rows(store))


def test_without_new_captures_nothing_is_written(tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "crawl")
    assert merge_captures(store, [], [], partition=0, round_number=1) == ()
    assert RunCaptures().write(store, partition=0, round_number=1) == ()
    assert not list(store.list())
