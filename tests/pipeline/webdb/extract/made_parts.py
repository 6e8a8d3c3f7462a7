"""Parts of several layers with random rows, for tests of extracts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from crawlctl.pipeline.state.snapshots import create_crawl
from crawlctl.pipeline.webdb.layers.changes import Changed
from crawlctl.pipeline.webdb.layers.delta import write_changes
from crawlctl.pipeline.webdb.part import WebDbPart, part_in
from crawlctl.pipeline.webdb.records import Status, WebEntry, encode

if TYPE_CHECKING:
    from crawlctl.pipeline.store.base import Store

Table = dict[bytes, bytes]

NOW = 1_800_000_000
keys = st.integers(0, 60).map(lambda n: b"h%d.example http://h%d.example/%d" % (n // 9, n // 9, n))
pages = st.one_of(st.just(""), st.integers(0, 60).map(lambda n: f"http://h{n // 9}.example/{n}"))
entries = st.builds(
    WebEntry,
    status=st.sampled_from(Status),
    next_due=st.one_of(
        st.integers(0, 9), st.integers(NOW - 5, NOW + 5), st.integers(NOW + 1000, NOW + (1 << 26))
    ),
    score=st.sampled_from([0.0, 0.25, 1.0, 3.5]),
    depth=st.sampled_from([0, 1, 2, 200]),
    first_seen=st.just(1),
    signature=st.binary(max_size=1),
    canonical=pages,
    named=pages,
)
changes = st.dictionaries(keys, entries.map(encode), max_size=20)
histories = st.lists(st.tuples(changes, st.booleans()), min_size=1, max_size=7)


def made_part(store: Store, history: list[tuple[Table, bool]]) -> tuple[WebDbPart | None, Table]:
    """Write each change as a layer of a part; return the part and its rows.

    A change says whether the index was merged before it: then layers may be merged, too.
    """
    files = create_crawl(store, 1).files
    table: Table = {}
    indexed = 0
    for number, (change, is_indexed) in enumerate(history, 1):
        indexed = number - 1 if is_indexed else indexed
        changed = Changed([], [], [], [value for key, value in table.items() if key not in change])
        for key in sorted(change):
            changed.keys.append(key)
            changed.values.append(change[key])
            changed.before.append(table.get(key))
        written = write_changes(store, files, [changed], partition=0, round_number=number, indexed=indexed)
        files = written or files
        table |= change
    return part_in(store, files), table
