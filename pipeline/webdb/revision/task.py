"""The work of a task of a revision: revises the part of one partition, and its host table for a refresh.

The part is read once to find out what changes. If an entry changes, the part is read again, and the entries
that change are written as a new layer; other entries are not decoded. The first pass also finds the pages
that leave search. A duplicate of such a page loses its leader and becomes due, because nothing in the index
stands for it any more (webdb/life.py).
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from typing import TYPE_CHECKING

from crawlctl.pipeline.state.kinds import HOSTS
from crawlctl.pipeline.urls.hosts import host_of_key, url_of_key, webdb_key
from crawlctl.pipeline.webdb.extract.part_extract import unsettled_in
from crawlctl.pipeline.webdb.host_table import open_hosts
from crawlctl.pipeline.webdb.layers.changes import Changed
from crawlctl.pipeline.webdb.layers.delta import current_layers, write_changes
from crawlctl.pipeline.webdb.life import Verdict, judged
from crawlctl.pipeline.webdb.packed import STATUS
from crawlctl.pipeline.webdb.part import part_in
from crawlctl.pipeline.webdb.records import Status, decode_entry, encode
from crawlctl.pipeline.webdb.revision.entry_revision import EntryRevision
from crawlctl.pipeline.webdb.revision.order import RevisedPart

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawlctl.pipeline.formats.sequencefile.block_body import Block
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.webdb.part import WebDbPart
    from crawlctl.pipeline.webdb.revision.order import PartLine, ReviseOrder

MAX_EXAMPLES = 5
_DUPLICATE = int(Status.DUPLICATE)


def revise_partition(store: Store, order: ReviseOrder, line: PartLine) -> RevisedPart:
    """Revise the partition on a line of the input; the new files replace old ones of the same kind."""
    numbers = {"partition": line.partition, "round_number": order.round}
    layers = line.files if order.dry_run else current_layers(store, line.files, **numbers)
    part = part_in(store, layers)
    if part is None:
        return RevisedPart(line.partition)
    task = _PartRevision(part, order)
    task.survey(part.blocks())
    if order.dry_run:
        return task.result(line.partition, ())
    files: tuple[FileEntry, ...] = ()
    if task.changes:
        changes = task.changed(part.blocks())
        files = write_changes(
            store,
            layers,
            changes,
            partition=line.partition,
            round_number=order.round,
            indexed=order.indexed,
            unsettled=unsettled_in(part),
        )
    if task.hosts:
        tables = [entry for entry in line.files if entry.kind == HOSTS]
        files += open_hosts(store, tables, task.hosts, **numbers)
    return task.result(line.partition, files)


class _PartRevision:
    """The revision of one part: its two passes over the blocks, and their counts."""

    def __init__(self, part: WebDbPart, order: ReviseOrder) -> None:
        self.changes = 0  # how many entries change, counted by the first pass
        self.hosts: set[str] = set()  # hosts that may be asked at once, whatever back-off they have
        self._name = part.name
        self._order = order
        self._revision = EntryRevision(order)
        self._lost = array("q")  # hashes of the keys of pages that leave search; sorted after the first pass
        self._matched: Counter[str] = Counter()
        self._examples: list[str] = []
        self._left = self._excluded = self._due = self._outside = 0

    def survey(self, blocks: Iterable[Block]) -> None:
        """Find and count the changes, except duplicates of pages that leave search."""
        for block in blocks:
            for key, value in zip(block.keys, block.values, strict=True):
                self._look(key, value, block.offset)
        self._lost = array("q", sorted(self._lost))

    def _look(self, key: bytes, value: bytes, offset: int) -> None:
        rule = self._revision.matching(key)
        if rule is None:
            return
        if rule:
            self._matched[rule] += 1
        found = self._revision.revised(key, value, self._name, offset)
        if found is None:
            return
        if self._order.refresh:
            self._count_refresh(key, is_outside=found.is_outside)
        if found.after is found.before:
            return
        self.changes += 1
        self._left += found.has_left
        self._excluded += found.is_shut_out
        self._due += not self._order.refresh and found.after.next_due <= self._order.now
        if found.has_left:
            self._lost.append(hash(key))
        if len(self._examples) < MAX_EXAMPLES:
            self._examples.append(url_of_key(key))

    def _count_refresh(self, key: bytes, *, is_outside: bool) -> None:
        """Count an entry that the user wants to be visited, even if it was already due."""
        self._outside += is_outside
        self._due += not is_outside
        if not is_outside:
            self.hosts.add(host_of_key(key))

    def changed(self, blocks: Iterable[Block]) -> Iterator[Changed]:
        """Yield the rows that change."""
        for block in blocks:
            found = Changed([], [], [], [])
            for key, value in zip(block.keys, block.values, strict=True):
                after = self._revised(key, value, block.offset)
                if after is None:
                    found.kept.append(value)
                else:
                    found.keys.append(key)
                    found.values.append(after)
                    found.before.append(value)
            yield found

    def _revised(self, key: bytes, value: bytes, offset: int) -> bytes | None:
        """Return the packed entry after the revision, None if it stays as it is."""
        if self._revision.matching(key) is not None:
            found = self._revision.revised(key, value, self._name, offset)
            if found is not None and found.after is not found.before:
                return encode(found.after)
        return self._without_leader(value, offset) if self._lost and value[STATUS] == _DUPLICATE else None

    def _without_leader(self, value: bytes, offset: int) -> bytes | None:
        entry = decode_entry(value, self._name, offset)
        if not entry.canonical or not self._has_lost(hash(webdb_key(entry.canonical))):
            return None
        self._due += 1
        return encode(judged(entry, Verdict.LEADER_LOST, self._order.now))

    def _has_lost(self, page: int) -> bool:
        index = bisect_left(self._lost, page)
        return index < len(self._lost) and self._lost[index] == page

    def result(self, partition: int, files: tuple[FileEntry, ...]) -> RevisedPart:
        """Return the counts."""
        return RevisedPart(
            partition,
            files,
            left=self._left,
            excluded=self._excluded,
            due=self._due,
            outside=self._outside,
            matched=dict(self._matched),
            examples=tuple(self._examples),
        )
