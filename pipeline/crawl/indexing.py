"""Brings the index up to date: merges the runs of rounds into it, and groups near duplicates."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec.structs import replace

from crawlctl.pipeline.crawl.leased_crawl import leased_crawl
from crawlctl.pipeline.crawl.work import Shown, run_ordered
from crawlctl.pipeline.duplicates.grouping_due import can_continue, uncompared
from crawlctl.pipeline.duplicates.order import STATE_KINDS, GroupOrder, partition_lines
from crawlctl.pipeline.index.merge.order import IndexOrder, choose_partitions, last_merge, with_index
from crawlctl.pipeline.index.segment.dictionary_layers import layers_of
from crawlctl.pipeline.index.statistics import expected_shards, totals_of
from crawlctl.pipeline.orders import encode_order
from crawlctl.pipeline.state.kinds import DICTIONARY

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlctl.pipeline.crawl.work import Work
    from crawlctl.pipeline.index.merge.order import ChosenPartitions
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store

# Up to this number of documents, sketches (300 bytes each) are compared in this process: that takes less time
# than forking tasks and sending each sketch to several tasks.
GROUPED_AT_ONCE = 100_000
# The rows of all other documents (44 bytes each) are looked through, up to this number in this process too.
MOST_AT_ONCE = 20 * GROUPED_AT_ONCE


def merge_now(work: Work, *, full: bool = False) -> Snapshot | None:
    """Merge the index outside of a round and commit it; None if nothing changed since the last merge.

    An open round continues on top of the new snapshot.
    """
    with leased_crawl(work, "merge") as crawl:
        work, snapshot = crawl.work, crawl.snapshot
        step = IndexStep(snapshot.files, snapshot.partitions, snapshot.round, full)
        if not step.plan.partitions:
            return None
        with crawl.times.step("index"):
            files = step.merged_files(step.run(work))
        with crawl.times.step("groups"):
            files = with_groups(work, files, snapshot.round)
        return crawl.commit(files)


def is_merge_due(work: Work, files: Iterable[FileEntry], round_number: int) -> bool:
    """Return whether a round that ends with these files merges the index."""
    return round_number - last_merge(files) >= work.config.index.merge_every


@dataclass(frozen=True)
class IndexStep:
    """One merge of the index, for a crawl that has these files and partitions."""

    files: tuple[FileEntry, ...]
    partitions: int
    round_number: int
    full: bool = False  # all partitions, each into as few segments as possible
    rewrites: bool = False  # each partition that takes part gets as few segments as possible
    also: frozenset[int] = frozenset()  # partitions that take part although nothing in them has changed
    anew: bool = False  # the dictionary is written anew, as one layer

    @cached_property
    def plan(self) -> ChosenPartitions:
        """The partitions that take part."""
        return choose_partitions(self.files, everything=self.full, also=self.also)

    def merged_files(self, merged: tuple[FileEntry, ...]) -> tuple[FileEntry, ...]:
        """Return the files of the crawl, with the merged files instead of the files they replace."""
        return with_index(self.files, [order.partition for order in self.plan.partitions], merged)

    def run(self, work: Work) -> tuple[FileEntry, ...]:
        """Merge, and return the index files of the partitions that took part, and the dictionary."""
        from crawlctl.jobs.merge_index import IndexMerger

        partitions = self.plan.partitions
        if not partitions:
            return ()
        frontier = -(-work.config.index.frontier // self.partitions)
        seen = self._seen(frontier)
        order = self._order(work, frontier, {**seen, **{part.partition: part.newest for part in partitions}})
        shown = Shown(f"round {self.round_number}, index", len(partitions), "partitions")
        lines = (encode_order(replace(part, seen=seen.get(part.partition))) for part in partitions)
        return run_ordered(work, IndexMerger, order, lines, reducers=order.shards, shown=shown)

    def _seen(self, frontier: int) -> dict[int, int]:
        """Return, per partition, the newest layer of the WebDB that the index knows (LayerFiles.seen)."""
        newest = layers_of(self.files)[:1]
        return {} if self.anew or not newest else newest[0].seen(frontier)

    def _order(self, work: Work, frontier: int, seen: dict[int, int]) -> IndexOrder:
        totals, settings = totals_of(self.files), work.config.index
        full = self.full or self.rewrites
        return IndexOrder(
            store=work.store.uri,
            round=self.round_number,
            documents=totals.documents,
            words=totals.words,
            languages=totals.languages,
            frontier=frontier,
            shards=expected_shards(self.files),
            index=settings,
            staying=self.plan.staying,
            layers=() if full or self.anew else tuple(e for e in self.files if e.kind == DICTIONARY),
            seen=seen,
            full=full,
        )


def with_groups(
    work: Work, files: tuple[FileEntry, ...], round_number: int, *, anew: bool = False
) -> tuple[FileEntry, ...]:
    """Return the files with new duplicate groups of their segments; without groups if they are switched off.

    `anew` compares all documents, not only those that have changed since the last grouping. The journal does
    not keep this step: to repeat it after a kill costs less than to record it.
    """
    from crawlctl.jobs.group_duplicates import DuplicateGrouper

    others = tuple(entry for entry in files if entry.kind not in STATE_KINDS)
    settings = work.config
    anew = anew or not can_continue(files, settings.parse.near_duplicate)
    lines = partition_lines(others if anew else files)
    if not lines or not settings.index.group_duplicates:
        return others
    is_small = _is_small(work.store, others if anew else files)
    order = GroupOrder(
        store=work.store.uri,
        round=round_number,
        shards=1 if is_small else len(lines),
        threshold=settings.parse.near_duplicate,
        partitions=tuple(line.partition for line in lines),
        state=() if anew else tuple(entry for entry in files if entry.kind in STATE_KINDS),
    )
    runner = settings.runner
    if is_small and runner.name == "forked":
        runner = replace(runner, name="inline")
    inputs = map(encode_order, lines)
    grouped = run_ordered(work, DuplicateGrouper, order, inputs, reducers=order.shards, runner=runner)
    return (*others, *grouped)


def _is_small(store: Store, files: tuple[FileEntry, ...]) -> bool:
    """Return whether a grouping with this state is done sooner in this process than by tasks."""
    known = totals_of(files).documents
    return known <= MOST_AT_ONCE and uncompared(store, files) <= GROUPED_AT_ONCE
