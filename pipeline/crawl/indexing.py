"""The step of a round that merges what was fetched into the index."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from crawlctl.pipeline.crawl.grouping import with_groups
from crawlctl.pipeline.crawl.round_steps import desk, manifest_of
from crawlctl.pipeline.index.merge.order import IndexOrder, last_merge, plan_merge, with_index
from crawlctl.pipeline.index.statistics import expected_shards, totals_of
from crawlctl.pipeline.orders import encode_order
from crawlctl.pipeline.processes.signals import exit_on_signals
from crawlctl.pipeline.runners.job import run_job
from crawlctl.pipeline.state.lease import hold_lease
from crawlctl.pipeline.state.snapshots import commit, load_current

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from crawlctl.pipeline.crawl.round_steps import Crew
    from crawlctl.pipeline.index.merge.order import MergePlan
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot


def merge_now(crew: Crew, *, full: bool = False) -> Snapshot | None:
    """Merge the index outside of a round and commit it; None where nothing has changed since the last merge.

    A round that was begun goes on as if nothing had happened, on top of the new snapshot.
    """
    load_current(crew.store)  # where there is no crawl, leave not even a lease behind
    with exit_on_signals(), hold_lease(crew.store, crew.config.lease.ttl, "merge") as lease:
        snapshot = load_current(crew.store)
        step = IndexStep(snapshot.files, snapshot.partitions, snapshot.round, full)
        if not step.plan.partitions:
            return None
        merged = step.run(crew)
        files = with_groups(crew, with_index(snapshot.files, step.changed, merged), snapshot.round)
        lease.check()
        return commit(crew.store, snapshot, files=files, round_number=snapshot.round)


def is_due(crew: Crew, files: Iterable[FileEntry], round_number: int) -> bool:
    """Tell whether the index is to be merged in a round that ends with these files."""
    return round_number - last_merge(files) >= crew.config.index.merge_every


@dataclass(frozen=True)
class IndexStep:
    """A merge of the index of a crawl that has these files and partitions."""

    files: tuple[FileEntry, ...]
    partitions: int
    round_number: int
    full: bool = False  # all partitions, each into as few segments as can be

    @cached_property
    def plan(self) -> MergePlan:
        """The partitions that take part."""
        return plan_merge(self.files, everything=self.full)

    @property
    def changed(self) -> list[int]:
        """The numbers of the partitions that take part."""
        return [order.partition for order in self.plan.partitions]

    def run(self, crew: Crew) -> tuple[FileEntry, ...]:
        """Merge, and return the files of the index in the partitions that took part, and the dictionary."""
        from crawlctl.jobs.merge_index import IndexMerger

        plan = self.plan
        if not plan.partitions:
            return ()
        with desk(crew.config.runner) as place:
            order = self._order(crew, plan, place.progress)
            file = place.write("order.json", [encode_order(order)])
            lines = place.write("partitions", map(encode_order, plan.partitions))
            title = f"round {self.round_number}, index"
            with crew.display.step(title, len(plan.partitions), "partitions", place.progress):
                args = ["--order", str(file), "--reducers", str(order.shards)]
                return manifest_of(run_job(IndexMerger, [lines], settings=crew.config.runner, args=args))

    def _order(self, crew: Crew, plan: MergePlan, progress: Path) -> IndexOrder:
        totals, settings = totals_of(self.files), crew.config.index
        return IndexOrder(
            store=crew.store.uri,
            round=self.round_number,
            documents=totals.documents,
            words=totals.words,
            languages=totals.languages,
            frontier=-(-settings.frontier // self.partitions),
            shards=expected_shards(self.files),
            index=settings,
            staying=plan.staying,
            full=self.full,
            progress=str(progress),
        )
