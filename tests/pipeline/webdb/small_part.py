"""A part of a few entries in memory, and what a round makes of it."""

from __future__ import annotations

from msgspec.structs import replace

from crawlctl.pipeline.config.settings import RecrawlSettings
from crawlctl.pipeline.config.units import DAY, HOUR
from crawlctl.pipeline.formats.sequencefile.block_body import Block
from crawlctl.pipeline.urls.hosts import webdb_key
from crawlctl.pipeline.webdb.merge.join import MergeCounts, merge_part
from crawlctl.pipeline.webdb.merge.review import review, settle
from crawlctl.pipeline.webdb.records import Kind, Outcome, Status, WebEntry, decode_entry, encode

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
    rows = merge_part(
        blocks,
        (),
        settle(outcomes, reviewed),
        now=now,
        settings=POLICY,
        counts=counts or MergeCounts(),
        verdicts=reviewed.verdicts,
    )
    return {
        key: decode_entry(value) for keys, values in rows for key, value in zip(keys, values, strict=True)
    }
