from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.copies.repartition.share import Share, last_round
from crawlctl.pipeline.state.manifest import FileEntry
from crawlctl.pipeline.state.snapshots import Snapshot
from crawlctl.pipeline.urls.hosts import partition_of

COUNTS = st.integers(1, 40)


def snapshot(partitions: int, files: tuple[FileEntry, ...] = ()) -> Snapshot:
    facts = {"version": 1, "number": 1, "writer": "a", "parent": "", "created": 0.0, "round": 1}
    return Snapshot(partitions=partitions, files=files, **facts)  # type: ignore[arg-type]


def entry(number: int, round_number: int = 1, kind: str = "webdb") -> FileEntry:
    return FileEntry(kind, number, f"{kind}/{number:05d}/{round_number:08d}-a/data", 0, 0, "0" * 64)


@given(COUNTS, COUNTS, st.text("abc.", min_size=1, max_size=9))
def test_a_host_is_taken_by_one_share_which_knows_where_it_comes_from(old: int, new: int, host: str) -> None:
    shares = [Share(snapshot(old), number, new) for number in range(new)]
    (taking,) = (share for share in shares if share.takes(host))
    assert taking.number == partition_of(host, new)
    assert taking.takes(host.encode())
    assert partition_of(host, old) in taking.origins


def test_to_double_the_partitions_each_new_one_reads_one_old_one() -> None:
    assert [list(Share(snapshot(4), number, 8).origins) for number in range(8)] == [[0], [1], [2], [3]] * 2
    assert list(Share(snapshot(4), 1, 2).origins) == [1, 3]
    assert list(Share(snapshot(4), 6, 7).origins) == [0, 1, 2, 3]


def test_a_share_has_the_files_of_its_origins() -> None:
    files = tuple(entry(number, kind=kind) for number in range(4) for kind in ("webdb", "hosts"))
    share = Share(snapshot(4, files), 5, 8)
    assert share.files_of("webdb") == (entry(1),)
    assert len(share.files_of("webdb", "hosts")) == 2


def test_the_last_round_is_that_of_the_newest_file() -> None:
    assert last_round([entry(0, 3), entry(1, 7), entry(2, 5)]) == 7
    assert last_round([]) == 0
