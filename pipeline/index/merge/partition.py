"""Merges one partition: its runs and some of its segments become new segments.

The result lists all files of the index that the partition has afterwards: new segments, segments that stay,
the tombstones of these, the frontier segment, and the priors. It lists no runs: all of them were merged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.index.fields import PAGE_FIELDS, WORDS
from crawlctl.pipeline.index.merge.frontier import (
    Frontier,
    FrontierPages,
    KeptFrontier,
    changed_frontier,
    kept_frontier,
    least_score,
    write_frontier,
)
from crawlctl.pipeline.index.merge.liveness import KeptSegment, Liveness, NewSegment
from crawlctl.pipeline.index.merge.merge_policy import Item, Limits, plan_full_merge, plan_merges
from crawlctl.pipeline.index.merge.page_changes import pages_to_decide, still_in
from crawlctl.pipeline.index.merge.sources import RunSource, SegmentSource
from crawlctl.pipeline.index.runs.run_files import runs_of
from crawlctl.pipeline.index.segment.priors import read_priors, write_priors
from crawlctl.pipeline.index.segment.segment_files import MAX_DOCUMENTS, segments_of
from crawlctl.pipeline.index.segment.tombstones import read_tombstones, write_tombstones

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crawlctl.pipeline.config.settings import IndexSettings
    from crawlctl.pipeline.index.merge.liveness import PageState
    from crawlctl.pipeline.index.merge.page_changes import PageChanges
    from crawlctl.pipeline.index.merge.sources import Source
    from crawlctl.pipeline.index.segment.segment_files import Segment
    from crawlctl.pipeline.index.segment.tombstones import Tombstones
    from crawlctl.pipeline.index.statistics import Totals
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store


@dataclass(frozen=True)
class MergedPartition:
    """All files of the index that a partition has after a merge, and what the merge did."""

    files: tuple[FileEntry, ...]
    written: int  # documents in new segments
    left_out: int  # dead documents, dropped from runs and merged segments


class MergeTask(NamedTuple):
    """The task of merging a partition: all its parameters, but not its files."""

    partition: int
    round_number: int
    settings: IndexSettings
    totals: Totals
    frontier: int  # the greatest number of pages of the frontier segment
    full: bool = False  # merge all segments
    max_documents: int = MAX_DOCUMENTS  # the most documents of a segment


def merge_partition(
    store: Store,
    task: MergeTask,
    entries: Iterable[FileEntry],
    pages: Iterable[PageState],
    changes: PageChanges | None = None,
) -> MergedPartition:
    """Merge the runs and segments of a partition; `pages` are the pages of its WebDB part, in key order.

    `changes` are the pages that have changed since the last merge, if that is known. Then `pages` are read
    only if they are needed. The result is the same with and without `changes`.
    """
    return _Merge(store, task, tuple(entries)).run(pages, changes)


class _Merge:
    """The merge of one partition: its open files and side files, from the plan to the last file written."""

    def __init__(self, store: Store, task: MergeTask, entries: Sequence[FileEntry]) -> None:
        self._store = store
        self._task = task
        self._numbers = {"partition": task.partition, "round_number": task.round_number}
        self._entries = entries
        self._segments = {segment.name: segment for segment in segments_of(entries) if not segment.frontier}
        self._frontier = next((segment for segment in segments_of(entries) if segment.frontier), None)
        self._runs = {run.links: run for run in runs_of(entries)}
        self._tombstones = read_tombstones(store, entries)
        self._priors = self._read_priors()

    def run(self, pages: Iterable[PageState], changes: PageChanges | None) -> MergedPartition:
        plans = self._plan()
        memory = self._task.settings.memory // (4 * max(len(plans), 1))  # for the anchors of each new segment
        new = [NewSegment(self._sources(plan), memory) for plan in plans]
        merged = {source.name for segment in new for source in segment.sources}
        kept = [
            KeptSegment(SegmentSource(self._store, segment, stays=True))
            for name, segment in self._segments.items()
            if name not in merged
        ]
        frontier = self._decide_changed(changes, new, kept) if changes and not self._task.full else None
        if frontier is None:
            frontier = self._decide_all(pages, new, kept)
        files = [entry for one in kept for entry in one.source.segment.entries.values()]
        priors = {one.source.name: self._priors.get(one.source.name, b"") for one in kept}
        left_out = 0
        for segment in new:
            left_out += sum(source.documents for source in segment.sources) - segment.documents
            files += self._write(segment, priors)
        files += self._write_side_files(kept, frontier, priors)
        return MergedPartition(tuple(files), sum(segment.documents for segment in new), left_out)

    def _decide_all(
        self, pages: Iterable[PageState], new: Sequence[NewSegment], kept: Sequence[KeptSegment]
    ) -> KeptFrontier | FrontierPages:
        """Decide from all pages which documents live, and return the frontier."""
        frontier = Frontier(self._task.frontier)
        Liveness(new, kept, self._priors).decide(frontier.sift(pages))
        found = frontier.found
        segment = self._frontier
        if self._task.full or segment is None or found.is_full != (least_score(segment) >= 0):
            return found
        stays = kept_frontier(self._frontier_source(segment), found.pages)
        return stays if self._may_stay(stays) else found

    def _decide_changed(
        self, changes: PageChanges, new: Sequence[NewSegment], kept: Sequence[KeptSegment]
    ) -> KeptFrontier | FrontierPages | None:
        """Do the same from the changed pages; if all pages must be read, return None and decide nothing."""
        if not all(one.tells_anchors for one in self._tombstones.values()):
            return None
        frontier = self._changed_frontier(changes)
        sources = [source for segment in new for source in segment.sources]
        pages = pages_to_decide(changes, sources, self._tombstones) if frontier is not None else None
        if pages is None:
            return None
        for one in kept:
            one.as_before(self._tombstones.get(one.source.name))
            one.forget(changes.hashes)
        Liveness(new, kept, self._priors).decide(pages)
        return frontier

    def _changed_frontier(self, changes: PageChanges) -> KeptFrontier | FrontierPages | None:
        """Return the frontier after the changes of pages; None if all pages must be read to know it."""
        found, segment = Frontier(self._task.frontier), self._frontier
        if segment is None:
            found.add(changes.states)
            return found.found
        before, source = self._tombstones.get(segment.name), self._frontier_source(segment)
        stays = changed_frontier(source, before, changes)
        if self._may_stay(stays):
            return stays
        if not stays.is_small:
            return None
        found.add(still_in(source, before, changes))
        found.add(changes.states)
        return found.found

    def _may_stay(self, frontier: KeptFrontier) -> bool:
        return frontier.may_stay(self._task.settings.max_stale, self._task.totals.main_language)

    def _frontier_source(self, segment: Segment) -> SegmentSource:
        return SegmentSource(self._store, segment, stays=True)

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
        settings, tombstones = self._task.settings, self._tombstones.get(segment.name)
        stale = is_stale(tombstones, settings.max_stale) or has_drifted(
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

    def _write(self, new: NewSegment, priors: dict[str, bytes]) -> tuple[FileEntry, ...]:
        """Write a new segment, unless all its documents are dead, and add its priors to `priors`."""
        if not new.documents:
            return ()
        files = new.write(self._store, self._task.totals.averages, self._task.settings, **self._numbers)
        (segment,) = segments_of(files)
        priors[segment.name] = new.priors[: new.documents].tobytes()
        return files

    def _write_side_files(
        self,
        kept: Sequence[KeptSegment],
        frontier: KeptFrontier | FrontierPages,
        priors: dict[str, bytes],
    ) -> tuple[FileEntry, ...]:
        """Write the frontier segment, the tombstones of kept segments, and the priors."""
        tombstones = [one.tombstones() for one in kept]
        stays = frontier if isinstance(frontier, KeptFrontier) else None
        files = frontier.files if isinstance(frontier, KeptFrontier) else self._write_frontier(frontier)
        written = write_tombstones(
            self._store,
            [*tombstones, *([stays.tombstones] if stays else ())],
            frontiers=[stays.source.name] if stays else (),
            **self._numbers,
        )
        known = {name: data for name, data in priors.items() if data} if self._priors else {}
        return (*files, *written, *write_priors(self._store, known, **self._numbers))

    def _write_frontier(self, frontier: FrontierPages) -> tuple[FileEntry, ...]:
        return write_frontier(
            self._store,
            frontier,
            self._task.totals.main_language,
            self._task.totals.averages,
            self._task.settings,
            **self._numbers,
        )

    def _read_priors(self) -> dict[str, bytes]:
        readers = read_priors(self._store, self._entries).values()
        found = ((name, reader.of(name)) for reader in readers for name in self._segments)
        return {name: data for name, data in found if data is not None}


def is_stale(tombstones: Tombstones | None, limit: float) -> bool:
    """Return whether too many documents of a segment are dead, or have other anchors than the index has."""
    if tombstones is None:
        return False
    return tombstones.dead + tombstones.reanchored > limit * tombstones.documents


def has_drifted(then: Sequence[float], now: Sequence[float], limit: float) -> bool:
    """Return whether average field lengths have changed too much since the impacts were computed."""
    count = len(PAGE_FIELDS)
    return any(abs(a - b) > limit * max(a, b) for a, b in zip(then[:count], now[:count], strict=True))
