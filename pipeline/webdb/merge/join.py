"""Joins an old part, discovered URLs and outcomes into the rows that a round changes.

All three are sorted by WebDB key, so one sequential pass is enough. Most entries do not change in a round:
the changed entries are found by bisection within a block, and all other entries are not decoded. An entry may
also change because of other pages: verdicts (review.py) are applied last.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from functools import reduce
from heapq import merge
from itertools import groupby, islice, tee
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, TypeAlias

from crawlctl.pipeline.webdb.entries import discover, first_entry, merge_fresh
from crawlctl.pipeline.webdb.layers.changes import Changed
from crawlctl.pipeline.webdb.life import judged, next_state
from crawlctl.pipeline.webdb.records import Fresh, Outcome, WebEntry, decode_entry, encode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from crawlctl.pipeline.config.settings import RecrawlSettings
    from crawlctl.pipeline.formats.sequencefile.block_body import Block
    from crawlctl.pipeline.webdb.extract.part_extract import PartExtract
    from crawlctl.pipeline.webdb.life import Verdict

Change: TypeAlias = "tuple[bytes, list[Fresh | Outcome]]"

MAX_ROWS = 4096  # about the most rows per Changed


@dataclass
class MergeCounts:
    """The number of new, updated and untouched entries, counted while the rows are read."""

    new: int = 0
    updated: int = 0
    untouched: int = 0


def part_changes(
    old: Iterable[Block],
    fresh: Iterable[tuple[bytes, Fresh]],
    outcomes: Iterable[tuple[bytes, Outcome]],
    *,
    now: int,
    settings: RecrawlSettings,
    counts: MergeCounts,
    verdicts: Mapping[int, Verdict] | None = None,
    name: str = "webdb",
) -> Iterator[Changed]:
    """Yield how the next part differs from the old one, in key order.

    `verdicts` maps the hash of a key to a verdict. `name` is the name of the old part in errors.
    """
    changes = changes_by_key(fresh, outcomes)
    one_pass = _Pass(changes, now, settings, counts=counts, verdicts=verdicts or {}, name=name)
    for block in old:
        if block.keys:
            yield from one_pass.changed(block.keys, block.values, block.keys[-1], block.offset)
    yield from one_pass.changed([], [], None, 0)


def found_changes(
    extract: PartExtract,
    fresh: Iterable[tuple[bytes, Fresh]],
    outcomes: Iterable[tuple[bytes, Outcome]],
    *,
    now: int,
    settings: RecrawlSettings,
    counts: MergeCounts,
    verdicts: Mapping[int, Verdict] | None = None,
    judged_keys: Iterable[bytes] = (),
) -> Iterator[Changed]:
    """Yield the same changes without reading the part: each row that may change is looked up.

    `judged_keys` are the sorted keys of the pages with verdicts. The kept entries are left out.
    """
    changes, ahead = tee(changes_by_key(fresh, outcomes))
    name = extract.part.name
    one_pass = _Pass(changes, now, settings, counts=counts, verdicts=verdicts or {}, name=name)
    seen = 0
    keys = (key for key, _ in groupby(merge((key for key, _ in ahead), judged_keys)))
    while some := list(islice(keys, MAX_ROWS)):
        rows = extract.rows(some)
        present = sorted(rows)
        seen += len(present)
        for changed in one_pass.changed(present, [rows[key] for key in present], some[-1], 0):
            yield changed._replace(kept=[])
    for changed in one_pass.changed([], [], None, 0):
        yield changed._replace(kept=[])
    counts.untouched += extract.part.urls - seen


def changes_by_key(
    fresh: Iterable[tuple[bytes, Fresh]], outcomes: Iterable[tuple[bytes, Outcome]]
) -> Iterator[Change]:
    """Yield each key with its changes: all discoveries as one, then the outcomes by time."""
    sorted_changes: Iterator[tuple[bytes, Fresh | Outcome]] = merge(fresh, outcomes, key=itemgetter(0))
    last = b""
    for key, group in groupby(sorted_changes, key=itemgetter(0)):
        if key <= last:
            raise ValueError(f"{key!r} comes after {last!r}: sort discoveries and outcomes by WebDB key")
        last = key
        changes = [change for _, change in group]
        yield key, changes if len(changes) == 1 else _joined(changes)


def _joined(changes: list[Fresh | Outcome]) -> list[Fresh | Outcome]:
    fresh = [change for change in changes if isinstance(change, Fresh)]
    outcomes = [change for change in changes if isinstance(change, Outcome)]
    outcomes.sort(key=attrgetter("fetched_at"))
    return [*([reduce(merge_fresh, fresh)] if fresh else []), *outcomes]


class _Pass:
    """One pass over a part: the next change, and everything needed to apply changes."""

    def __init__(
        self,
        changes: Iterator[Change],
        now: int,
        settings: RecrawlSettings,
        *,
        counts: MergeCounts,
        verdicts: Mapping[int, Verdict],
        name: str,
    ) -> None:
        self._changes = changes
        self._change: Change | None = next(changes, None)
        self._now = now
        self._settings = settings
        self._counts = counts
        self._verdicts = verdicts
        self._name = name

    def changed(
        self, keys: list[bytes], values: list[bytes], last: bytes | None, offset: int
    ) -> Iterator[Changed]:
        """Yield the changes of the block at `offset`, and new rows up to the key `last`, None for the end."""
        found = _Found(keys, values, self._judged(keys, values, offset))
        row = touched = 0
        while self._change is not None and (last is None or self._change[0] <= last):
            key, changes = self._change
            row = bisect_left(keys, key, row)
            found.judge(row)
            if row < len(keys) and keys[row] == key:
                found.replace(row, self._known(key, values[row], changes, offset))
                touched += 1
            else:
                found.add(key, self._new(key, changes))
            self._change = next(self._changes, None)
            if found.rows >= MAX_ROWS:
                yield found.taken()
        found.judge(len(keys))
        self._counts.updated += found.judged_alone
        self._counts.untouched += len(keys) - touched - found.judged_alone
        yield found.taken()._replace(kept=found.kept())

    def _judged(self, keys: list[bytes], values: list[bytes], offset: int) -> list[tuple[int, bytes]]:
        """Return the row numbers of entries with verdicts, and these entries after their verdicts."""
        verdicts = self._verdicts
        rows = [row for row, key in enumerate(keys) if hash(key) in verdicts] if verdicts else []
        entries = ((row, decode_entry(values[row], self._name, offset)) for row in rows)
        return [(row, encode(self._apply(keys[row], entry, []))) for row, entry in entries]

    def _new(self, key: bytes, changes: list[Fresh | Outcome]) -> bytes:
        self._counts.new += 1
        entry = first_entry(changes[0], self._now)
        outcomes = changes if isinstance(changes[0], Outcome) else changes[1:]
        return encode(self._apply(key, entry, outcomes))

    def _known(self, key: bytes, value: bytes, changes: list[Fresh | Outcome], offset: int) -> bytes:
        entry = decode_entry(value, self._name, offset)
        changed = self._apply(key, entry, changes)
        if changed is entry:
            self._counts.untouched += 1
            return value
        self._counts.updated += 1
        return encode(changed)

    def _apply(self, key: bytes, entry: WebEntry, changes: list[Fresh | Outcome]) -> WebEntry:
        for change in changes:
            if isinstance(change, Fresh):
                entry = discover(entry, change, self._now)
            else:
                entry = next_state(entry, change, self._now, self._settings, key)
        if self._verdicts and (verdict := self._verdicts.get(hash(key))):
            return judged(entry, verdict, self._now)
        return entry


class _Found:
    """The changed rows of a block, and the new rows before them, until they are taken."""

    def __init__(self, keys: list[bytes], values: list[bytes], judged: list[tuple[int, bytes]]) -> None:
        self.judged_alone = 0  # how many entries only a verdict has changed
        self._old_keys, self._old_values = keys, values
        self._judged = judged
        self._next = 0  # the index of the next item of `_judged`
        self._replaced: set[int] = set()
        self._changed = Changed([], [], [], [])

    @property
    def rows(self) -> int:
        """The number of rows that are not taken yet."""
        return len(self._changed.keys)

    def add(self, key: bytes, value: bytes) -> None:
        """Add the row of a new URL."""
        self._put(key, value, None)

    def replace(self, row: int, value: bytes) -> None:
        """Change the entry of a row and apply its verdict, if any; the same object means no change."""
        if self._next < len(self._judged) and self._judged[self._next][0] == row:
            self._next += 1
        if value is not self._old_values[row]:
            self._replaced.add(row)
            self._put(self._old_keys[row], value, self._old_values[row])

    def judge(self, stop: int) -> None:
        """Apply the verdicts on rows below `stop` in which nothing else changes."""
        while self._next < len(self._judged) and self._judged[self._next][0] < stop:
            self.judged_alone += 1
            self.replace(*self._judged[self._next])

    def _put(self, key: bytes, value: bytes, before: bytes | None) -> None:
        self._changed.keys.append(key)
        self._changed.values.append(value)
        self._changed.before.append(before)

    def taken(self) -> Changed:
        """Return the rows that were found since the last call."""
        changed, self._changed = self._changed, Changed([], [], [], [])
        return changed

    def kept(self) -> list[bytes]:
        """Return the packed entries of the block that stay as they are."""
        if not self._replaced:
            return self._old_values
        return [value for row, value in enumerate(self._old_values) if row not in self._replaced]
