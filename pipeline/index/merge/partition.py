"""The merge of a partition: its runs and some of its segments become new segments.

What the partition has in the end is told in full: new segments, those that stay, the tombstones of these, the
frontier and the priors. Runs are used up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.index.fields import PAGE_FIELDS
from crawlctl.pipeline.index.merge.frontier import Frontier, write_frontier
from crawlctl.pipeline.index.merge.liveness import Group, Kept, Verdicts
from crawlctl.pipeline.index.merge.merge_policy import Item, Limits, plan_full_merge, plan_merges
from crawlctl.pipeline.index.merge.new_segment import write_segment
from crawlctl.pipeline.index.merge.sources import RunSource, SegmentSource
from crawlctl.pipeline.index.runs.run_files import WORDS, runs_of
from crawlctl.pipeline.index.segment.priors import read_priors, write_priors
from crawlctl.pipeline.index.segment.segment_files import MAX_DOCUMENTS, segments_of
from crawlctl.pipeline.index.segment.tombstones import read_tombstones, write_tombstones

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crawlctl.pipeline.config.settings import IndexSettings
    from crawlctl.pipeline.index.merge.live_pages import PageState
    from crawlctl.pipeline.index.merge.sources import Source
    from crawlctl.pipeline.index.segment.segment_files import Segment
    from crawlctl.pipeline.index.segment.tombstones import Tombstones
    from crawlctl.pipeline.index.statistics import Totals
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store


@dataclass(frozen=True)
class MergedPartition:
    """All files of the index that a partition has now, and what the merge did."""

    files: tuple[FileEntry, ...]
    written: int  # documents in new segments
    left_out: int  # documents of runs and merged segments that are dead


class MergeTask(NamedTuple):
    """What a merge is asked to do."""

    partition: int
    round_number: int
    settings: IndexSettings
    totals: Totals
    frontier: int  # pages that were not fetched yet, at most
    full: bool = False  # leave no segment out
    max_documents: int = MAX_DOCUMENTS  # of a segment


def merge_partition(
    store: Store, task: MergeTask, entries: Iterable[FileEntry], pages: Iterable[PageState]
) -> MergedPartition:
    """Merge the runs and segments of a partition; `pages` are those of its WebDB part, in key order."""
    return _Merge(store, task, tuple(entries)).run(pages)


class _Merge:
    """A merge at work."""

    def __init__(self, store: Store, task: MergeTask, entries: Sequence[FileEntry]) -> None:
        self._store = store
        self._task = task
        self._entries = entries
        self._segments = {segment.name: segment for segment in segments_of(entries) if not segment.frontier}
        self._runs = {run.links: run for run in runs_of(entries)}
        self._stones = read_tombstones(store, entries)
        self._priors = self._read_priors()

    def run(self, pages: Iterable[PageState]) -> MergedPartition:
        plans = self._plan()
        memory = self._task.settings.memory // (4 * max(len(plans), 1))  # of the anchors of each
        groups = [Group(self._sources(plan), memory) for plan in plans]
        merged = {source.name for group in groups for source in group.sources}
        kept = [
            Kept(SegmentSource(self._store, segment, stays=True))
            for name, segment in self._segments.items()
            if name not in merged
        ]
        frontier = Frontier(self._task.frontier)
        Verdicts(groups, kept, self._priors).pass_by(frontier.sift(pages))
        files = [entry for segment in kept for entry in segment.source.segment.entries.values()]
        priors = {segment.source.name: self._priors.get(segment.source.name, b"") for segment in kept}
        left_out = 0
        for group in groups:
            left_out += sum(source.documents for source in group.sources) - group.documents
            files += self._written(group, priors)
        files += self._around(kept, frontier.pages(), priors)
        return MergedPartition(tuple(files), sum(group.documents for group in groups), left_out)

    def _plan(self) -> list[tuple[Item, ...]]:
        settings = self._task.settings
        limits = Limits.of_memory(settings.memory, self._task.max_documents)
        runs = [self._run_item(name, run.docs_data) for name, run in self._runs.items()]
        segments = [self._segment_item(segment) for segment in self._segments.values()]
        if self._task.full:
            return plan_full_merge(runs, segments, limits)
        return plan_merges(runs, segments, settings.tier_ratio, limits)

    def _run_item(self, name: str, docs: str) -> Item:
        counters = next(entry.counters for entry in self._entries if entry.name == docs)
        return Item(name, counters.get("documents", 0), sum(counters.get(WORDS + f, 0) for f in PAGE_FIELDS))

    def _segment_item(self, segment: Segment) -> Item:
        settings, stones = self._task.settings, self._stones.get(segment.name)
        stale = is_stale(stones, settings.max_stale) or has_drifted(
            segment.averages, self._task.totals.averages, settings.max_drift
        )
        return Item(segment.name, segment.documents, sum(segment.words), stale)

    def _sources(self, plan: Iterable[Item]) -> list[Source]:
        return [
            RunSource(self._store, self._runs[item.name])
            if item.name in self._runs
            else SegmentSource(self._store, self._segments[item.name])
            for item in plan
        ]

    def _written(self, group: Group, priors: dict[str, bytes]) -> tuple[FileEntry, ...]:
        if not group.documents:
            return ()
        files = write_segment(
            self._store,
            group.content(),
            self._task.totals.averages,
            self._task.settings,
            partition=self._task.partition,
            round_number=self._task.round_number,
        )
        (segment,) = segments_of(files)
        priors[segment.name] = group.priors[: group.documents].tobytes()
        return files

    def _around(
        self, kept: Sequence[Kept], unfetched: Sequence[PageState], priors: dict[str, bytes]
    ) -> tuple[FileEntry, ...]:
        """Write what belongs to no single segment of documents."""
        place = {"partition": self._task.partition, "round_number": self._task.round_number}
        languages = self._task.totals.languages
        frontier = write_frontier(
            self._store,
            unfetched,
            max(languages, key=lambda code: languages[code], default=""),
            self._task.totals.averages,
            self._task.settings,
            **place,
        )
        stones = write_tombstones(self._store, [segment.tombstones() for segment in kept], **place)
        known = {name: data for name, data in priors.items() if data} if self._priors else {}
        return (*frontier, *stones, *write_priors(self._store, known, **place))

    def _read_priors(self) -> dict[str, bytes]:
        readers = read_priors(self._store, self._entries).values()
        found = ((name, reader.of(name)) for reader in readers for name in self._segments)
        return {name: data for name, data in found if data is not None}


def is_stale(stones: Tombstones | None, limit: float) -> bool:
    """Tell whether too many documents of a segment are dead, or have other anchors than were indexed."""
    return stones is not None and stones.dead + stones.reanchored > limit * stones.documents


def has_drifted(then: Sequence[float], now: Sequence[float], limit: float) -> bool:
    """Tell whether the average lengths of the fields of a page are no longer those of the impacts."""
    count = len(PAGE_FIELDS)
    return any(abs(a - b) > limit * max(a, b) for a, b in zip(then[:count], now[:count], strict=True))
