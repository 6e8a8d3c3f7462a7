"""Writes the rows of a WebDB part that have changed as a new layer, and merges older layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from crawlctl.pipeline.state.kinds import WEBDB
from crawlctl.pipeline.webdb.census import SEED_HOSTS, NextCensus
from crawlctl.pipeline.webdb.layers.layer import LAYER, ROWS, SINCE, due_merges, layers_of
from crawlctl.pipeline.webdb.part import WebDbPart, part_in, write_layer, write_part

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.webdb.layers.changes import Changed
    from crawlctl.pipeline.webdb.layers.layer import Layer
    from crawlctl.pipeline.webdb.records import Rows


def current_layers(
    store: Store, files: Iterable[FileEntry], *, partition: int, round_number: int
) -> tuple[FileEntry, ...]:
    """Return the files of the part of a partition; write a part of an older release again as of today."""
    entries = tuple(entry for entry in files if entry.kind == WEBDB)
    part = part_in(store, entries)
    if part is None or SEED_HOSTS in part.layers[-1].data.counters:
        return entries
    rows = ((block.keys, block.values) for block in part.blocks())
    return write_part(store, rows, partition=partition, round_number=round_number)


def write_changes(
    store: Store,
    files: Iterable[FileEntry],
    changes: Iterable[Changed],
    *,
    partition: int,
    round_number: int,
    indexed: int,
) -> tuple[FileEntry, ...]:
    """Write the changed rows as the newest layer of a partition; return all layers of the next part.

    `files` is the part before, as `current_layers` returns it. `indexed` is the round in which the index was
    merged last. If no row has changed, nothing is written and nothing returned.
    """
    layers = layers_of(files, store.uri)
    numbers = {"partition": partition, "round_number": round_number}
    before = layers[-1].data.counters if layers else {SEED_HOSTS: 0}
    census = NextCensus(before, WebDbPart(store, layers))
    delta = write_layer(store, _counted(changes, census), **numbers)
    if delta is None:
        return ()
    number = layers[-1].number + 1 if layers else 1
    urls = sum(layer.data.records for layer in layers) + census.new
    own = {ROWS: delta.rows, LAYER: number, SINCE: number}
    newest = replace(delta.data, records=urls, counters=own | census.counters())
    older = merged_layers(store, layers, indexed, partition=partition)
    return (*(file for layer in older for file in layer.without_totals().files), newest, delta.index)


def _counted(changes: Iterable[Changed], census: NextCensus) -> Iterator[Rows]:
    for changed in changes:
        census.add(changed)
        if changed.keys:
            yield changed.keys, changed.values


def merged_layers(store: Store, layers: Sequence[Layer], indexed: int, *, partition: int) -> list[Layer]:
    """Merge each group of layers that is due to be merged into one layer; return all layers."""
    after = {layer.number: layer for layer in layers}
    for group in due_merges(layers, indexed):
        for layer in group:
            del after[layer.number]
        merged = _merged(store, group, partition)
        after[merged.number] = merged
    return [after[number] for number in sorted(after)]


def _merged(store: Store, group: Sequence[Layer], partition: int) -> Layer:
    rows = ((block.keys, block.values) for block in WebDbPart(store, group).blocks())
    newest = group[-1]
    layer = write_layer(store, rows, partition=partition, round_number=newest.round)
    if layer is None:
        raise ValueError("a layer has at least one row")
    own = {ROWS: layer.rows, LAYER: newest.number, SINCE: group[0].since}
    return replace(layer, data=replace(layer.data, counters=own))
