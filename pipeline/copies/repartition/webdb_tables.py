"""The WebDB part and the tables of hosts, blocks and captures of a partition of a copy: rows of its hosts."""

from __future__ import annotations

from heapq import merge
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING

from crawlctl.pipeline.captures.capture_table import tables_of, write_captures
from crawlctl.pipeline.captures.capture_tiers import merged_rows
from crawlctl.pipeline.copies.repartition.share import last_round
from crawlctl.pipeline.state.kinds import BLOCKS, CAPTURES, HOSTS, WEBDB
from crawlctl.pipeline.urls.hosts import host_in_key, host_ranges
from crawlctl.pipeline.webdb.part import open_part, write_part
from crawlctl.pipeline.webdb.row_files import open_table, write_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawlctl.pipeline.copies.repartition.share import Share
    from crawlctl.pipeline.formats.sequencefile.block_body import Block
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.webdb.records import Rows

    OfHost = tuple[bytes, list[bytes], list[bytes]]  # a host, keys and values

BATCH_ROWS = 4096

_by_host = itemgetter(0)


def move_webdb(source: Store, destination: Store, share: Share) -> tuple[FileEntry, ...]:
    """Write the WebDB part of the partition."""
    parts = [open_part(source, share.snapshot, partition) for partition in share.origins]
    rows = merge(*(_urls_kept(part.blocks(), share) for part in parts if part), key=_by_host)
    number = last_round(share.files_of(WEBDB))
    return write_part(destination, _batches(rows), partition=share.number, round_number=number)


def move_hosts(source: Store, destination: Store, share: Share) -> tuple[FileEntry, ...]:
    """Write the host table and the table of blocks; without hosts there is no file."""
    return (
        *_move_by_host(HOSTS, source, destination, share),
        *_move_by_host(BLOCKS, source, destination, share),
    )


def _move_by_host(kind: str, source: Store, destination: Store, share: Share) -> tuple[FileEntry, ...]:
    """Write a table with one row per host."""
    files = share.files_of(kind)
    rows = merge(*(_hosts_kept(open_table(source, file).blocks(), share) for file in files), key=_by_host)
    batches = _batches(rows)
    first = next(batches, None)
    if first is None:
        return ()
    numbers = {"partition": share.number, "round_number": last_round(files)}
    return (write_table(destination, kind, chain((first,), batches), **numbers),)


def move_captures(source: Store, destination: Store, share: Share) -> tuple[FileEntry, ...]:
    """Write the captures of the partition as one table; archives keep their names."""
    files = share.files_of(CAPTURES)
    rows = (row for row in merged_rows(source, tables_of(files)) if share.takes(host_in_key(row[0])))
    return write_captures(destination, rows, partition=share.number, round_number=last_round(files))


def _urls_kept(blocks: Iterable[Block], share: Share) -> Iterator[OfHost]:
    """Yield the rows of the hosts that land in the partition; a host comes once per block that has it."""
    for block in blocks:
        for host, start, end in host_ranges(block.keys):
            if share.takes(host):
                yield host, block.keys[start:end], block.values[start:end]


def _hosts_kept(blocks: Iterable[Block], share: Share) -> Iterator[OfHost]:
    for block in blocks:
        for host, state in zip(block.keys, block.values, strict=True):
            if share.takes(host):
                yield host, [host], [state]


def _batches(groups: Iterable[OfHost]) -> Iterator[Rows]:
    keys: list[bytes] = []
    values: list[bytes] = []
    for _, some_keys, some_values in groups:
        keys += some_keys
        values += some_values
        if len(keys) >= BATCH_ROWS:
            yield keys, values
            keys, values = [], []
    if keys:
        yield keys, values
