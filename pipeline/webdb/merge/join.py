"""Joins an old part, discovered URLs and outcomes into the rows of the next part.

All three are sorted by WebDB key, so one sequential pass is enough. Most entries do not change in a round:
the changed ones are found by bisection within a block, and the others are copied without being decoded. An
entry may also change because of other pages: verdicts (review.py) are applied last.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from functools import reduce
from heapq import merge
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, TypeAlias

from crawlctl.pipeline.webdb.entries import discover, first_entry, merge_fresh
from crawlctl.pipeline.webdb.life import judged, next_state
from crawlctl.pipeline.webdb.records import Fresh, Outcome, WebEntry, decode_entry, encode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from crawlctl.pipeline.config.settings import RecrawlSettings
    from crawlctl.pipeline.formats.sequencefile.block_body import Block
    from crawlctl.pipeline.webdb.life import Verdict
    from crawlctl.pipeline.webdb.records import Rows

Change: TypeAlias = "tuple[bytes, list[Fresh | Outcome]]"

MAX_ROWS = 4096  # of an output block that consists of new entries


@dataclass
class MergeCounts:
    """The number of new, updated and untouched entries, counted while the rows are read."""

    new: int = 0
    updated: int = 0
    untouched: int = 0


def merge_part(
    old: Iterable[Block],
    fresh: Iterable[tuple[bytes, Fresh]],
    outcomes: Iterable[tuple[bytes, Outcome]],
    *,
    now: int,
    settings: RecrawlSettings,
    counts: MergeCounts,
    verdicts: Mapping[int, Verdict] | None = None,
    name: str = "webdb",
) -> Iterator[Rows]:
    """Yield the keys and values of the next part in key order.

    `verdicts` are by the hash of the key. `name` is the name of the old part in errors.
    """
    changes = changes_by_key(fresh, outcomes)
    one_pass = _Pass(changes, now, settings, counts=counts, verdicts=verdicts or {}, name=name)
    for block in old:
        if block.keys:
            yield from one_pass.rows(block.keys, block.values, block.keys[-1], block.offset)
    yield from one_pass.rows([], [], None, 0)


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

    def rows(
        self, old_keys: list[bytes], old_values: list[bytes], last: bytes | None, offset: int
    ) -> Iterator[Rows]:
        """Yield the rows of the block at `offset` with all changes up to the key `last`, None for the end."""
        keys: list[bytes] = []
        values: list[bytes] = []
        current = old_values.copy()
        judged_alone = self._judge(old_keys, current, offset)
        copied = row = touched = 0
        while self._change is not None and (last is None or self._change[0] <= last):
            key, changes = self._change
            row = bisect_left(old_keys, key, row)
            if row < len(old_keys) and old_keys[row] == key:
                current[row] = self._known(key, old_values[row], changes, offset)
                judged_alone.discard(row)
                touched += 1
            else:
                keys += old_keys[copied:row]
                values += current[copied:row]
                copied = row
                keys.append(key)
                values.append(self._new(key, changes))
            self._change = next(self._changes, None)
            if len(keys) >= MAX_ROWS:
                yield keys, values
                keys, values = [], []
        self._counts.updated += len(judged_alone)
        self._counts.untouched += len(old_keys) - touched - len(judged_alone)
        if keys or copied < len(old_keys):
            yield keys + old_keys[copied:], values + current[copied:]

    def _judge(self, keys: list[bytes], values: list[bytes], offset: int) -> set[int]:
        """Apply the verdicts on the entries of a block, and return the row numbers of these entries."""
        verdicts = self._verdicts
        rows = [row for row, key in enumerate(keys) if hash(key) in verdicts] if verdicts else []
        for row in rows:
            entry = decode_entry(values[row], self._name, offset)
            values[row] = encode(self._apply(keys[row], entry, []))
        return set(rows)

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
