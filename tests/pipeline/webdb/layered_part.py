"""Writes a part as two layers, of which neither has all rows as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.webdb.layers.changes import Changed
from crawlctl.pipeline.webdb.layers.delta import write_changes
from crawlctl.pipeline.webdb.part import write_part
from crawlctl.pipeline.webdb.records import Status, WebEntry, encode

if TYPE_CHECKING:
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store

STALE = encode(WebEntry(Status.FAILED, 1, 0.0, 5, 1))


def write_layered(
    store: Store, keys: list[bytes], values: list[bytes], *, partition: int, round_number: int
) -> tuple[FileEntry, ...]:
    """Write rows, which come in key order: the older layer lacks some and has old entries of others."""
    rows = enumerate(zip(keys, values, strict=True))
    old = {key: value if row % 2 else STALE for row, (key, value) in rows if row % 3 != 1}
    changed = Changed([], [], [], [])
    for key, value in zip(keys, values, strict=True):
        if (before := old.get(key)) == value:
            changed.kept.append(value)
        else:
            changed.keys.append(key)
            changed.values.append(value)
            changed.before.append(before)
    older = [(list(old), list(old.values()))] if old else []
    base = write_part(store, older, partition=partition, round_number=round_number)
    return write_changes(
        store, base, [changed], partition=partition, round_number=round_number, indexed=round_number
    )
