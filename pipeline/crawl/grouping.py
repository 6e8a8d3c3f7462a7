"""The step of a round that groups near duplicates, after its index was merged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.crawl.round_steps import desk, manifest_of
from crawlctl.pipeline.duplicates.order import GroupOrder, partition_lines
from crawlctl.pipeline.index.segment.duplicate_groups import GROUPS
from crawlctl.pipeline.orders import encode_order
from crawlctl.pipeline.runners.job import run_job

if TYPE_CHECKING:
    from crawlctl.pipeline.crawl.round_steps import Crew
    from crawlctl.pipeline.state.manifest import FileEntry


def with_groups(crew: Crew, files: tuple[FileEntry, ...], round_number: int) -> tuple[FileEntry, ...]:
    """Return the files with the groups of the segments among them, found anew.

    It is not kept in the journal: what a kill costs here is less than a record of it would.
    """
    from crawlctl.jobs.group_duplicates import DuplicateGrouper

    others = tuple(entry for entry in files if entry.kind != GROUPS)
    segments, lines = partition_lines(others)
    if not lines:
        return others
    order = GroupOrder(
        store=crew.store.uri,
        round=round_number,
        shards=len(lines),
        threshold=crew.config.parse.near_duplicate,
        segments=segments,
    )
    with desk(crew.config.runner) as place:
        file = place.write("order.json", [encode_order(order)])
        args = ["--order", str(file), "--reducers", str(order.shards)]
        done = run_job(
            DuplicateGrouper, [place.write("partitions", lines)], settings=crew.config.runner, args=args
        )
        return (*others, *manifest_of(done))
