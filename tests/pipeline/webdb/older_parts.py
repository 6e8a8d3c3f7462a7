"""Snapshots as older releases have written them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from crawlctl.pipeline.state.kinds import WEBDB
from crawlctl.pipeline.state.layout import EXTRACT
from crawlctl.pipeline.webdb.census import HOSTS, status_counts

if TYPE_CHECKING:
    from crawlctl.pipeline.state.snapshots import Snapshot


def without_extracts(snapshot: Snapshot) -> Snapshot:
    """Return a snapshot whose layers have no extracts."""
    files = tuple(entry for entry in snapshot.files if not entry.name.endswith(f"/{EXTRACT}"))
    return replace(snapshot, files=files)


def without_new_counters(snapshot: Snapshot) -> Snapshot:
    """Return a snapshot whose parts count only statuses and hosts, and have no extracts."""
    return replace(
        snapshot,
        files=tuple(
            replace(entry, counters=status_counts(entry.counters) | {HOSTS: entry.counters[HOSTS]})
            if entry.kind == WEBDB and entry.records
            else entry
            for entry in without_extracts(snapshot).files
        ),
    )
