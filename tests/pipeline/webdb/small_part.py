"""A part of a few entries in memory, and what a round makes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from crawlctl.pipeline.config.settings import RecrawlSettings
from crawlctl.pipeline.config.units import DAY, HOUR
from crawlctl.pipeline.formats.sequencefile.block_body import Block
from crawlctl.pipeline.urls.hosts import webdb_key
from crawlctl.pipeline.webdb.merge.join import MergeCounts, part_changes
from crawlctl.pipeline.webdb.merge.review import review, settle
from crawlctl.pipeline.webdb.records import Kind, Outcome, Status, WebEntry, decode_entry, encode

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlctl.pipeline.webdb.layers.changes import Changed

NOW = 1_800_000_000
BEFORE = NOW - 30 * DAY
LATER = NOW + 30 * DAY
POLICY = RecrawlSettings()
SAME, OTHER = b"s" * 16, b"o" * 16

Table = dict[bytes, WebEntry]
Round = dict[bytes, Outcome]


def key_of(path: str, host: str = "a.example") -> bytes:
    return webdb_key(f"http://{host}/{path}")


def known(signature: bytes = SAME, status: Status = Status.FETCHED, **fields: object) -> WebEntry:
    entry = WebEntry(status, NOW - 1, 0.5, 1, BEFORE, BEFORE, BEFORE, BEFORE, 7 * DAY, code=200)
    return replace(entry, signature=signature, **fields)


def fetched(signature: bytes = SAME, kind: Kind = Kind.FETCHED, **fields: object) -> Outcome:
    return replace(Outcome(kind, NOW - HOUR, 200, signature), **fields)


def blocks_of(table: Table, size: int = 3) -> list[Block]:
    keys = sorted(table)
    parts = [keys[start : start + size] for start in range(0, len(keys), size)]
    return [Block(at, part, [encode(table[key]) for key in part]) for at, part in enumerate(parts)]


def after(table: Table, changes: Round, counts: MergeCounts | None = None, now: int = NOW) -> Table:
    """Return the part after a round."""
    blocks, outcomes = blocks_of(table), sorted(changes.items())
    reviewed = review(blocks, outcomes, now=now, settings=POLICY)
    found = part_changes(
        blocks,
        (),
        settle(outcomes, reviewed),
        now=now,
        settings=POLICY,
        counts=counts or MergeCounts(),
        verdicts=reviewed.verdicts,
    )
    return {key: decode_entry(value) for key, value in next_rows(blocks, found)}


def next_rows(blocks: Iterable[Block], changes: Iterable[Changed]) -> list[tuple[bytes, bytes]]:
    """Return the rows of a part after changes of its blocks."""
    rows = {key: value for block in blocks for key, value in zip(block.keys, block.values, strict=True)}
    last = b""
    for changed in changes:
        for key, value, before in zip(changed.keys, changed.values, changed.before, strict=True):
            assert key > last and rows.get(key) == before
            rows[key] = value
            last = key
    return sorted(rows.items())
