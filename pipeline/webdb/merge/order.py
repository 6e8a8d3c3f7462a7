"""The orders of the WebDB merge: one for all tasks, and one per mapper with the files it reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlctl.pipeline.config.settings import RecrawlSettings
from crawlctl.pipeline.orders import StoreOrder, TaskOrder, encode_order
from crawlctl.pipeline.state.kinds import BLOCKS, CAPTURES, FRESH, HOSTS, OUTCOMES
from crawlctl.pipeline.state.snapshots import Snapshot
from crawlctl.pipeline.webdb.merge.shuffle import Numbered

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlctl.pipeline.state.manifest import FileEntry

MERGED_KINDS = (FRESH, OUTCOMES, HOSTS, CAPTURES, BLOCKS)  # the kinds of files that the merge consumes
LINE_BYTES = 8 << 20  # about how many stored bytes of discovered URLs a mapper gets


class MergeOrder(StoreOrder, frozen=True, kw_only=True):
    """The part of the order that is the same for all tasks of a WebDB merge; they read it from a file."""

    snapshot: int
    round: int
    partitions: int
    now: int  # seconds since 1970
    recrawl: RecrawlSettings
    nobody_reached: bool = False  # the first round of a new crawl could reach no host: then no host is blamed
    draft: Snapshot | None = None  # not committed yet; the merge works on it instead of `snapshot`


class MapperFiles(TaskOrder, frozen=True, array_like=True):
    """The files that one mapper reads, numbered over all mappers: one input line."""

    files: tuple[Numbered, ...]


def mapper_lines(entries: Iterable[FileEntry]) -> list[bytes]:
    """Return one input line per mapper; the files of a fetch step are shared about equally by bytes."""
    files = [Numbered(number, entry) for number, entry in enumerate(entries) if entry.kind in MERGED_KINDS]
    if not files:
        return []
    found = sorted((file for file in files if file.entry.kind == FRESH), key=_bytes, reverse=True)
    lines: list[list[Numbered]] = [[] for _ in range(max(1, -(-sum(map(_bytes, found)) // LINE_BYTES)))]
    for file in found:
        min(lines, key=lambda line: sum(map(_bytes, line))).append(file)
    lines[0] += (file for file in files if file.entry.kind != FRESH)
    return [encode_order(MapperFiles(tuple(line))) for line in lines if line]


def _bytes(file: Numbered) -> int:
    return file.entry.bytes
