"""Damage: what the findings of a check mean for a repair, file by file and partition by partition."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING

from crawlctl.pipeline.index.runs.run_files import RUN_KINDS
from crawlctl.pipeline.repair.order import PartitionRepair
from crawlctl.pipeline.state import kinds
from crawlctl.pipeline.state.layout import LEASE, ROUNDS, SNAPSHOTS, attempt_of, round_of, written_together
from crawlctl.pipeline.webdb import census
from crawlctl.pipeline.webdb.layers.layer import layers_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crawlctl.pipeline.repair.finding import Finding
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot

_RANKING = (kinds.GRAPH, kinds.RANKS, kinds.PRIORS)
_SALVAGED = (kinds.WEBDB, kinds.PAGES, kinds.CAPTURES)
_OF_DOCUMENTS = (kinds.SEGMENTS, *RUN_KINDS)
_OF_THE_INDEX = (*_OF_DOCUMENTS, kinds.DELETED, kinds.DICTIONARY)
_OF_THE_CRAWL = (
    kinds.BLOCKS,
    kinds.COMPARED,
    kinds.COMPOUND,
    kinds.GROUPS,
    kinds.HISTORY,
    kinds.HOSTS,
    kinds.INTERLEAVED,
    kinds.PURGED,
    kinds.RULES,
    kinds.SETTINGS,
)
_REBUILT = {*_OF_THE_INDEX, *_SALVAGED, *_RANKING, *_OF_THE_CRAWL}
_RECORDS = {SNAPSHOTS, ROUNDS, LEASE}  # no data files


class Damage:
    """The findings of one check of a snapshot."""

    def __init__(self, snapshot: Snapshot, findings: Sequence[Finding]) -> None:
        self._snapshot = snapshot
        self._findings = [finding for finding in findings if finding.kind not in _RECORDS]
        self.journal = tuple(finding.file for finding in findings if finding.kind == ROUNDS)
        self._bad = {finding.file for finding in self._findings if finding.fault != "documents"}

    @property
    def is_none(self) -> bool:
        """Whether there is nothing to repair."""
        return not self._findings and not self.journal

    @property
    def beyond_repair(self) -> str | None:
        """The name of a damaged file that cannot be made again, None if there is none."""
        return next((finding.file for finding in self._findings if finding.kind not in _REBUILT), None)

    @property
    def has_files(self) -> bool:
        """Whether data files are damaged, not only records of the journal."""
        return bool(self._findings)

    def has(self, *wanted: str) -> bool:
        """Return whether files of some kinds are damaged."""
        return any(finding.kind in wanted for finding in self._findings)

    def is_only(self, *allowed: str) -> bool:
        """Return whether all damaged files are of some kinds."""
        return all(finding.kind in allowed for finding in self._findings)

    @cached_property
    def partitions(self) -> frozenset[int]:
        """The partitions whose index is merged again."""
        found = {one.partition for one in self._findings if one.kind in (*_OF_THE_INDEX, kinds.WEBDB)}
        if self.has(kinds.DICTIONARY):  # any merge writes the dictionary
            found |= {min(entry.partition for entry in self._snapshot.files_of(kinds.SEGMENTS))}
        return frozenset(found)

    @property
    def may_have_older_rows(self) -> bool:
        """Whether a salvaged WebDB part may have older rows in the place of damaged ones."""
        damaged = {one.partition for one in self._findings if one.kind == kinds.WEBDB}
        files_of = self._snapshot.files_of
        return any(len(layers_of(files_of(kinds.WEBDB, number))) > 1 for number in damaged)

    @property
    def partitions_with_older_rows(self) -> int:
        """The number of partitions in which older rows stand for damaged rows of newer WebDB layers."""
        numbers = {entry.partition for entry in self._snapshot.files_of(kinds.WEBDB)}
        parts = (layers_of(self._snapshot.files_of(kinds.WEBDB, number)) for number in numbers)
        return sum(any(layer.data.name in self._bad for layer in layers[1:]) for layers in parts)

    @property
    def without_documents(self) -> frozenset[int]:
        """The partitions of which documents may be lost."""
        return frozenset(
            finding.partition
            for finding in self._findings
            if finding.kind in _OF_DOCUMENTS or finding.fault == "documents"
        )

    def sound_files(self) -> tuple[FileEntry, ...]:
        """Return the files that stay; files that belong to a damaged file do not stay."""
        bad = {_unit(entry) for entry in self._snapshot.files if entry.name in self._bad}
        bad -= {_unit(entry) for entry in self._snapshot.files_of(kinds.DICTIONARY)}  # a merge replaces it
        return tuple(entry for entry in self._snapshot.files if _unit(entry) not in bad)

    def salvages(self) -> Iterator[PartitionRepair]:
        """Yield the damaged files of WebDB, archive and captures: some of their content may be sound."""
        names: defaultdict[int, list[str]] = defaultdict(list)
        for finding in self._findings:
            if finding.kind in _SALVAGED and finding.file in self._bad:
                names[finding.partition].append(finding.file)
        for partition, some in sorted(names.items()):
            yield PartitionRepair(partition=partition, salvage=tuple(some))

    @property
    def without_captures(self) -> frozenset[int]:
        """The partitions whose tables of captures have lost captures; all partitions if that is not known."""
        found = {one.partition for one in self._findings if one.kind == kinds.CAPTURES}
        if any(one.file == kinds.CAPTURES for one in self._findings):
            found = set(range(self._snapshot.partitions))
        return frozenset(found)

    def searches(self) -> Iterator[PartitionRepair]:
        """Yield the partitions in which pages may have lost their documents or their archived records."""
        rounds: defaultdict[int, set[int]] = defaultdict(set)
        for finding in self._findings:
            if finding.kind == kinds.PAGES:
                rounds[finding.partition].add(round_of(finding.file))
        for partition in sorted(self.without_documents | self.partitions | rounds.keys()):
            lost = tuple(sorted(rounds.get(partition, ())))
            yield PartitionRepair(partition=partition, find_lost=True, lost_rounds=lost)

    def lost_seeds(self, draft: Snapshot) -> dict[str, int]:
        """Return how many seeds each host had in damaged parts and has not in the parts of a draft."""
        lost = {}
        for partition in {one.partition for one in self._findings if one.kind == kinds.WEBDB}:
            after = _seeds(draft, partition)
            for host, count in _seeds(self._snapshot, partition).items():
                if count > after.get(host, 0):
                    lost[host] = count - after.get(host, 0)
        return lost


def _unit(entry: FileEntry) -> str:
    """Return the unit with which a file is lost: its segment, run or MapFile, or its part of the WebDB.

    Other files are lost alone. A repair writes the sound rows of all layers as one layer (salvaging.py).
    """
    if entry.kind == kinds.WEBDB:
        return f"part {entry.partition}"
    if entry.kind in (kinds.SEGMENTS, kinds.CAPTURES):
        return written_together(entry.name)
    if entry.kind in RUN_KINDS:
        return f"run {attempt_of(entry.name)}"
    return entry.name


def _seeds(snapshot: Snapshot, partition: int) -> dict[str, int]:
    entries = snapshot.files_of(kinds.WEBDB, partition)
    return {host: count for entry in entries for host, count in census.seeds(entry.counters).items()}
