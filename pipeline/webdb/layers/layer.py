"""The layers of a WebDB part: which files they are, their order by age, and which of them are merged.

A part is one or more MapFiles, its layers, each with an extract beside it (extract/extract_file.py). A round
writes the changed rows as a new layer and does not touch older layers. If several layers have a key, the row
in the newest of these layers counts. The counters of the data file of a layer say

    rows     the number of rows in the file
    layer    the number of the layer; newer layers have greater numbers
    since    the number of the oldest layer that was merged into it: its own number if none was

The newest layer also has the counters of the whole part (census.py), and its `records` is the number of URLs
in the whole part. Older layers have no such counters, and their `records` is 0. So the sum over all files
counts each URL once. A part of an older release is one layer with the number 0.

A layer stays while it has more than RATIO times the rows of all newer layers together; else it becomes one
layer with all newer ones. So a part with n rows has O(log n) layers, and a row is written O(log n) times in
its life. Segments of the index are merged by another rule (index/merge/merge_policy.py), by their size alone.
Layers cannot be merged in that way: the newest layer that has a key is right, so only layers that are
neighbours by age may be merged. Layers that the index has not seen yet are not merged with others, so that it
is always known which rows have changed since the index was merged last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from crawlctl.pipeline.errors import StoreError
from crawlctl.pipeline.state.kinds import DICTIONARY, WEBDB
from crawlctl.pipeline.state.layout import DATA, EXTRACT, INDEX, round_of
from crawlctl.pipeline.state.manifest import FileEntry

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

RATIO = 3

ROWS, LAYER, SINCE = "rows", "layer", "since"


class Layer(msgspec.Struct, frozen=True):
    """The files of a layer."""

    data: FileEntry
    index: FileEntry
    extract: FileEntry | None = None  # layers of older releases have none

    @property
    def files(self) -> tuple[FileEntry, ...]:
        """All files."""
        return (self.data, self.index) if self.extract is None else (self.extract, self.data, self.index)

    @property
    def rows(self) -> int:
        """The number of rows in the file."""
        return self.data.counters.get(ROWS, self.data.records)

    @property
    def number(self) -> int:
        """The number of the layer; newer layers have greater numbers."""
        return self.data.counters.get(LAYER, 0)

    @property
    def since(self) -> int:
        """The number of the oldest layer that was merged into this one."""
        return self.data.counters.get(SINCE, 0)

    @property
    def round(self) -> int:
        """The round whose changes are the newest in it."""
        return round_of(self.data.name)

    def without_totals(self) -> Layer:
        """Return the layer as it is below a newer layer: without the counters of the whole part."""
        own = {ROWS: self.rows, LAYER: self.number, SINCE: self.since}
        return replace(self, data=replace(self.data, records=0, counters=own))


def layers_of(files: Iterable[FileEntry], where: str = "") -> list[Layer]:
    """Return the layers among the files of one partition, the oldest first; errors say `where` they are."""
    folders: dict[str, dict[str, FileEntry]] = {}
    names = []
    for entry in files:
        if entry.kind == WEBDB:
            folder, _, end = entry.name.rpartition("/")
            folders.setdefault(folder, {})[end] = entry
            names.append(entry.name)
    if any(set(found) - {EXTRACT} != {DATA, INDEX} for found in folders.values()):
        raise _unknown(where, names)
    found_layers = (Layer(found[DATA], found[INDEX], found.get(EXTRACT)) for found in folders.values())
    layers = sorted(found_layers, key=_number)
    if len({layer.number for layer in layers}) < len(layers):
        raise _unknown(where, names)
    return layers


def _number(layer: Layer) -> int:
    return layer.number


def _unknown(where: str, names: list[str]) -> StoreError:
    return StoreError(
        f"{where}: the snapshot does not name one data and one index file for each layer of a partition of "
        f"the WebDB but {names}; `crawlctl check --repair` rebuilds it"
    )


def newest_number(files: Iterable[FileEntry]) -> int:
    """Return the number of the newest layer among the files of one partition; -1 if there is no layer."""
    return max((layer.number for layer in layers_of(files)), default=-1)


def indexed_round(files: Iterable[FileEntry]) -> int:
    """Return the round in which the index was merged last, -1 if it never was."""
    return max((round_of(entry.name) for entry in files if entry.kind == DICTIONARY), default=-1)


def due_merges(layers: Sequence[Layer], indexed: int) -> list[Sequence[Layer]]:
    """Return groups of layers to merge: each group has neighbouring layers, the oldest first.

    `indexed` is the round in which the index was merged last. Layers of later rounds are merged only among
    themselves.
    """
    seen = sum(layer.round <= indexed for layer in layers)
    groups = (layers[:seen], layers[seen:])
    merges = (group[first_to_merge([layer.rows for layer in group]) :] for group in groups)
    return [merge for merge in merges if len(merge) > 1]


def first_to_merge(rows: Sequence[int]) -> int:
    """Return the index of the layer from which on all layers are merged into one, given their rows."""
    newer = sum(rows)
    for index, count in enumerate(rows):
        newer -= count
        if count <= RATIO * newer:
            return index
    return len(rows)
