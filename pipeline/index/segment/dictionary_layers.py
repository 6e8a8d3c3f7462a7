"""The layers of a dictionary, by manifests: which files belong to a layer, and which segments it covers.

A merge of the index writes the terms of its new segments as a new layer, so that it does not rewrite the
terms of all other segments. A layer never changes. If some of its segments were merged away later, they are
ignored. If two layers cover a segment, the newer layer answers for it.

Counters in the manifest say all this. The dictionary of an older version has no counters: it is one layer
with all segments, and the next merge writes them all as a layer with counters.

Every merge writes a layer, even if the layer is empty. So the newest layer also counts up to which layer of
the WebDB the index knows each partition: a merge then reads the rows that have changed since.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.state.kinds import DICTIONARY

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from crawlctl.pipeline.state.manifest import FileEntry

LAYER = "layer"  # the counter of every file of a layer
FIRST_LAYER = 1  # the number of the layer of a dictionary that is written as a whole

# Counters of the data of the first shard.
_TERMS_OF = "terms of "  # and the name of a segment
_SEEN_OF = "WebDB layer of "  # and the number of a partition
_FRONTIER = "frontier limit"


class LayerFiles(NamedTuple):
    """A layer of the dictionary; a higher number is newer; a dictionary of an older version has number 0."""

    number: int
    files: tuple[FileEntry, ...]

    @property
    def segments(self) -> dict[str, int]:
        """The number of terms of each segment that it covers; nothing of a layer of an older version."""
        return self._counted(_TERMS_OF)

    def seen(self, frontier: int) -> dict[int, int]:
        """Return the newest layer of the WebDB that the index knows, by partition; empty if it is not known.

        A merge with another limit of the frontier has to read all pages: then the result is empty too.
        """
        if {frontier} != set(self._counted(_FRONTIER).values()):
            return {}
        return {int(partition): number for partition, number in self._counted(_SEEN_OF).items()}

    def _counted(self, prefix: str) -> dict[str, int]:
        found = (item for entry in self.files for item in entry.counters.items())
        return {name.removeprefix(prefix): count for name, count in found if name.startswith(prefix)}


def layer_counters(number: int, segments: Mapping[str, int]) -> dict[str, int]:
    """Return the counters of the data of the first shard; other files of the layer have no segments."""
    return {LAYER: number, **{_TERMS_OF + name: terms for name, terms in segments.items()}}


def seen_counters(seen: Mapping[int, int], frontier: int) -> dict[str, int]:
    """Return the counters that say what the index knows of the WebDB (LayerFiles.seen)."""
    return {_FRONTIER: frontier, **{f"{_SEEN_OF}{partition}": number for partition, number in seen.items()}}


def layers_of(entries: Iterable[FileEntry]) -> list[LayerFiles]:
    """Return the layers of the dictionary among these files, the newest first."""
    found: defaultdict[int, list[FileEntry]] = defaultdict(list)
    for entry in entries:
        if entry.kind == DICTIONARY:
            found[entry.counters.get(LAYER, 0)].append(entry)
    return [LayerFiles(number, tuple(found[number])) for number in sorted(found, reverse=True)]


def asked_segments(layers: Iterable[LayerFiles], live: Iterable[str]) -> dict[int, dict[str, int]]:
    """Return the live segments that each layer is asked about, with their terms, by number of the layer."""
    left = set(live)
    asked: dict[int, dict[str, int]] = {}
    for layer in layers:
        covered = layer.segments
        asked[layer.number] = {name: terms for name, terms in covered.items() if name in left}
        left -= covered.keys()
    return asked


def needed_layers(entries: Iterable[FileEntry], live: Iterable[str]) -> tuple[FileEntry, ...]:
    """Return the files of the newest layer, and of all layers that are asked about a live segment."""
    layers = layers_of(entries)
    asked = asked_segments(layers, live)
    kept = (layer for place, layer in enumerate(layers) if not place or asked[layer.number])
    return tuple(entry for layer in kept for entry in layer.files)
