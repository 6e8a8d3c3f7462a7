"""Writes the rows of a WebDB part that have changed as a new layer, and merges older layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from crawlctl.pipeline.state.kinds import WEBDB
from crawlctl.pipeline.webdb.census import SEED_HOSTS, NextCensus
from crawlctl.pipeline.webdb.extract.extract_file import ExtractBuilder
from crawlctl.pipeline.webdb.extract.part_extract import extracts_of
from crawlctl.pipeline.webdb.layers.layer import LAYER, ROWS, SINCE, due_merges, layers_of
from crawlctl.pipeline.webdb.packed import STATUS, plain_signature
from crawlctl.pipeline.webdb.part import WebDbPart, part_in, write_layer, write_part
from crawlctl.pipeline.webdb.records import LIVE, Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.webdb.extract.extract_file import LayerExtract
    from crawlctl.pipeline.webdb.extract.part_extract import PartExtract
    from crawlctl.pipeline.webdb.layers.changes import Changed
    from crawlctl.pipeline.webdb.layers.layer import Layer
    from crawlctl.pipeline.webdb.records import Rows

_REVIEWED = LIVE | {Status.DUPLICATE}


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
    unsettled: Iterable[bytes] | None = None,
    old: PartExtract | None = None,
) -> tuple[FileEntry, ...]:
    """Write the changed rows as the newest layer of a partition; return all layers of the next part.

    `files` is the part before, as `current_layers` returns it. `indexed` is the round in which the index was
    merged last. `unsettled` are the keys of the pages that the next review looks at again, besides those that
    change now; None means all pages. With the extract of the old part, `changes` need not have kept entries.
    If no row has changed, nothing is written and nothing returned.
    """
    layers = layers_of(files, store.uri)
    numbers = {"partition": partition, "round_number": round_number}
    before = layers[-1].data.counters if layers else {SEED_HOSTS: 0}
    census, extract = NextCensus(before, WebDbPart(store, layers), extract=old), ExtractBuilder()
    if unsettled is not None:
        extract.leave_unsettled(unsettled)
    rows = _counted(changes, census, extract, is_settled=unsettled is not None)
    delta = write_layer(store, rows, extract, **numbers)
    if delta is None:
        return ()
    number = layers[-1].number + 1 if layers else 1
    urls = sum(layer.data.records for layer in layers) + census.new
    own = {ROWS: delta.rows, LAYER: number, SINCE: number}
    newest = replace(delta.data, records=urls, counters=own | census.counters())
    older = merged_layers(store, layers, indexed, partition=partition)
    below = (file for layer in older for file in layer.without_totals().files)
    return (*below, *replace(delta, data=newest).files)


def _counted(
    changes: Iterable[Changed], census: NextCensus, extract: ExtractBuilder, *, is_settled: bool
) -> Iterator[Rows]:
    for changed in changes:
        census.add(changed)
        if changed.keys:
            extract.add(changed.keys, changed.values, changed.before)
            if is_settled:
                rows = zip(changed.keys, changed.before, changed.values, strict=True)
                extract.leave_unsettled(key for key, before, after in rows if _may_matter(before, after))
            yield changed.keys, changed.values


def _may_matter(before: bytes | None, after: bytes) -> bool:
    """Return whether a change of a page may matter to the verdicts on pages (merge/review.py)."""
    if not any(value is not None and value[STATUS] in _REVIEWED for value in (before, after)):
        return False
    if before is None or before[STATUS] not in LIVE or after[STATUS] not in LIVE:
        return True
    signature = plain_signature(before)
    return signature is None or signature != plain_signature(after)


def merged_layers(store: Store, layers: Sequence[Layer], indexed: int, *, partition: int) -> list[Layer]:
    """Merge each group of layers that is due to be merged into one layer; return all layers."""
    after = {layer.number: layer for layer in layers}
    for group in due_merges(layers, indexed):
        for layer in group:
            del after[layer.number]
        merged = _merged(store, group, partition, is_whole=group[0] is layers[0])
        after[merged.number] = merged
    return [after[number] for number in sorted(after)]


def _merged(store: Store, group: Sequence[Layer], partition: int, *, is_whole: bool) -> Layer:
    """Write the rows of some layers as one layer; `is_whole` says that there is no older layer."""
    older = () if is_whole else extracts_of(store, group)
    extract = None if older is None else ExtractBuilder()
    rows = _extracted(WebDbPart(store, group), extract, older or ())
    newest = group[-1]
    layer = write_layer(store, rows, extract, partition=partition, round_number=newest.round)
    if layer is None:
        raise ValueError("a layer has at least one row")
    own = {ROWS: layer.rows, LAYER: newest.number, SINCE: group[0].since}
    return replace(layer, data=replace(layer.data, counters=own))


def _extracted(
    part: WebDbPart, extract: ExtractBuilder | None, group: Sequence[LayerExtract]
) -> Iterator[Rows]:
    for block in part.blocks():
        if extract is not None:
            extract.add(block.keys, block.values)
        yield block.keys, block.values
    if extract is not None and group:
        extract.stand_for(group)
