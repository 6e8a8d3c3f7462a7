"""The orders of checks and repairs: one for all tasks of a job, and a partition per input line."""

from __future__ import annotations

from typing import ClassVar

from crawlctl.pipeline.orders import StoreOrder, TaskOrder
from crawlctl.pipeline.state.snapshots import Snapshot


class CheckOrder(StoreOrder, frozen=True, kw_only=True):
    """The snapshot whose files are checked."""

    command: ClassVar[str] = "crawlctl check"

    snapshot: int


class PurgeOrder(StoreOrder, frozen=True, kw_only=True):
    """The rules for the pages that are removed from a snapshot."""

    command: ClassVar[str] = "crawlctl gc"

    snapshot: int
    rules: tuple[str, ...]


class RepairOrder(StoreOrder, frozen=True, kw_only=True):
    """The snapshot that is repaired, or the draft with the repairs made so far, and when the repair began."""

    command: ClassVar[str] = "crawlctl check --repair"

    draft: Snapshot
    now: int  # seconds since 1970


class RelistOrder(StoreOrder, frozen=True, kw_only=True):
    """The snapshot whose tables of captures are made to fit its archives, or the draft made so far."""

    command: ClassVar[str] = "crawlctl check --repair"

    draft: Snapshot
    rules: tuple[str, ...] = ()  # for forgotten pages, whose captures are dropped


class PartitionRepair(TaskOrder, frozen=True, kw_only=True):
    """The work of a repair in one partition."""

    command: ClassVar[str] = "crawlctl check --repair"

    partition: int
    salvage: tuple[str, ...] = ()  # the names of damaged files of the WebDB and the archive
    find_lost: bool = False  # write outcomes for live pages without a document or an archived record
    lost_rounds: tuple[int, ...] = ()  # rounds of which archives were damaged
