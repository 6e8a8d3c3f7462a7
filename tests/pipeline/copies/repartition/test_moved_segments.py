"""Which shares of older segments make a new one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.copies.repartition.moved_segments import SegmentShare, plan_segments
from crawlctl.pipeline.index.merge.merge_policy import Limits
from crawlctl.pipeline.index.segment.segment_files import COLUMNS, Segment
from crawlctl.pipeline.state.manifest import FileEntry

LIMITS = Limits(documents=1000, words=10_000, sources=20)


def a_share(
    number: int, partition: int, documents: int, share: int, *, frontier: bool = False
) -> SegmentShare:
    name = f"segments/{partition:05d}/{number:08d}-a"
    counters = {"documents": documents, "words.body": 10 * documents, "frontier": int(frontier)}
    entry = FileEntry("segments", partition, f"{name}/columns", 0, 0, "0" * 64, counters)
    return SegmentShare(Segment(name, partition, {COLUMNS: entry}), ((b"host", 0, share),) if share else ())


def shares(plan: list[tuple[SegmentShare, ...]]) -> list[list[int]]:
    return [[one.documents for one in group] for group in plan]


def test_the_largest_of_each_partition_make_one_and_the_next_the_next() -> None:
    sizes = {0: (80, 20, 5), 1: (60, 10), 2: (90,)}
    slices = [a_share(n, p, size, size // 5) for p, some in sizes.items() for n, size in enumerate(some)]
    assert shares(plan_segments(slices, LIMITS)) == [[18, 16, 12], [4, 2], [1]]


def test_pages_not_fetched_stay_by_themselves() -> None:
    slices = [a_share(0, 0, 10, 5), a_share(1, 0, 50, 7, frontier=True), a_share(2, 1, 9, 3, frontier=True)]
    assert shares(plan_segments(slices, LIMITS)) == [[5], [7, 3]]


def test_a_segment_of_which_nothing_lands_here_takes_no_part_but_keeps_its_place() -> None:
    slices = [a_share(0, 0, 80, 0), a_share(1, 0, 20, 20), a_share(2, 1, 70, 70), a_share(3, 1, 10, 10)]
    assert shares(plan_segments(slices, LIMITS)) == [[70], [20, 10]]


sizes = st.lists(st.tuples(st.integers(0, 5), st.integers(1, 900), st.booleans()), max_size=30)


@given(sizes, st.sampled_from([Limits(1000, 10_000, 3), Limits(500, 10_000, 20), Limits(1000, 4000, 20)]))
def test_every_slice_is_in_one_group_and_no_group_has_a_page_twice_or_is_too_large(
    found: list[tuple[int, int, bool]], limits: Limits
) -> None:
    slices = [a_share(n, p, size, size, frontier=f) for n, (p, size, f) in enumerate(found)]
    plan = plan_segments(slices, limits)
    assert sorted(one.segment.name for group in plan for one in group) == sorted(
        s.segment.name for s in slices
    )
    for group in plan:
        partitions = [one.segment.partition for one in group]
        assert len(set(partitions)) == len(partitions)
        assert len({one.segment.frontier for one in group}) == 1
        assert len(group) <= limits.sources
        assert len(group) == 1 or sum(one.documents for one in group) <= limits.documents
        assert len(group) == 1 or sum(one.words for one in group) <= limits.words
