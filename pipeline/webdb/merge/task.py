"""The work of the WebDB merge: what a round has heard becomes the next parts of a partition."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import merge
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import msgspec

from crawlctl.pipeline.config.settings import RecrawlSettings
from crawlctl.pipeline.config.units import decode_unit
from crawlctl.pipeline.errors import ConfigError, CorruptFile
from crawlctl.pipeline.webdb.host_table import carry_hosts
from crawlctl.pipeline.webdb.merge.shuffle import Numbered, gather
from crawlctl.pipeline.webdb.merge.update import advance_part
from crawlctl.pipeline.webdb.records import Outcome, decode_outcome
from crawlctl.pipeline.webdb.row_files import FRESH, HOSTS, OUTCOMES, open_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.webdb.merge.join import MergeCounts

ABSORBED = (FRESH, OUTCOMES, HOSTS)
LINE_BYTES = 8 << 20  # of discovered URLs for one mapper, as they lie in the store


class MergeOrder(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What is the same for all tasks of a merge; it reaches them as a file."""

    store: str
    snapshot: int
    round: int
    partitions: int
    now: int
    recrawl: dict[str, Any]
    progress: str = ""  # a folder, see progress/task_file.py

    def settings(self) -> RecrawlSettings:
        """Return the settings of the schedule."""
        try:
            return msgspec.convert(self.recrawl, RecrawlSettings, dec_hook=decode_unit)
        except (msgspec.ValidationError, ValueError) as err:
            raise ConfigError(f"the settings in a merge order: {err}; start the round again") from err


@dataclass(frozen=True)
class Absorbed:
    """The files that replace those of a partition, and what the pass over the WebDB did."""

    files: tuple[FileEntry, ...]
    counts: MergeCounts


def merge_order(data: bytes) -> MergeOrder:
    """Return the order in a file."""
    try:
        return msgspec.json.decode(data, type=MergeOrder)
    except (msgspec.DecodeError, UnicodeDecodeError) as err:
        raise ConfigError(f"not a merge order: {err}; start the round with `crawlctl run`") from err


def merge_lines(entries: Iterable[FileEntry]) -> list[bytes]:
    """Deal the files of a fetch step to mappers, a line each, so that all have about as much to read."""
    files = [Numbered(number, entry) for number, entry in enumerate(entries) if entry.kind in ABSORBED]
    if not files:
        return []
    found = sorted((file for file in files if file.entry.kind == FRESH), key=_bytes, reverse=True)
    lines: list[list[Numbered]] = [[] for _ in range(max(1, -(-sum(map(_bytes, found)) // LINE_BYTES)))]
    for file in found:
        min(lines, key=lambda line: sum(map(_bytes, line))).append(file)
    lines[0] += (file for file in files if file.entry.kind != FRESH)
    return [msgspec.json.encode(line) for line in lines if line]


def _bytes(file: Numbered) -> int:
    return file.entry.bytes


def files_of_line(line: bytes) -> list[Numbered]:
    """Return the files that a line deals to a mapper."""
    try:
        return msgspec.json.decode(line, type=list[Numbered])
    except (msgspec.DecodeError, UnicodeDecodeError) as err:
        raise ConfigError(f"a line of the merge names no files: {err}; start the round again") from err


def absorb(
    store: Store,
    snapshot: Snapshot,
    partition: int,
    messages: Iterable[bytes],
    *,
    now: int,
    settings: RecrawlSettings,
    round_number: int,
) -> Absorbed:
    """Write the next WebDB part and host table of a partition from what the mappers sent it."""
    fresh, files = gather(messages)
    advanced = advance_part(
        store,
        snapshot,
        partition,
        fresh,
        OutcomeTables(store, [file for file in files if file.kind == OUTCOMES]),
        now=now,
        settings=settings,
        round_number=round_number,
    )
    runs = [file for file in files if file.kind == HOSTS]
    hosts = carry_hosts(store, snapshot, partition, runs, round_number)
    return Absorbed((*advanced.files, *hosts), advanced.counts)


class OutcomeTables:
    """The outcomes of several sorted tables as one, read anew each time."""

    def __init__(self, store: Store, files: Sequence[FileEntry]) -> None:
        self._store = store
        self._files = files

    def __len__(self) -> int:
        return sum(file.records for file in self._files)

    def __iter__(self) -> Iterator[tuple[bytes, Outcome]]:
        return merge(*(_outcomes_of(self._store, file) for file in self._files), key=itemgetter(0))


def _outcomes_of(store: Store, file: FileEntry) -> Iterator[tuple[bytes, Outcome]]:
    for block in open_table(store, file).blocks():
        try:
            yield from zip(block.keys, map(decode_outcome, block.values), strict=True)
        except (msgspec.MsgspecError, UnicodeDecodeError) as err:
            raise CorruptFile(store.locate(file.name), block.offset, f"not an outcome ({err})") from err
