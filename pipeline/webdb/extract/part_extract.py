"""The extracts of all layers of a part as one: look-ups of keys, signatures, names and hosts.

The newest layer that has a key is right, as everywhere. We look for the hash of the key in the newer layers,
so the block of a replaced row is not read there. We accept the tiny risk that two 64-bit hashes are equal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crawlctl.pipeline.webdb.extract.extract_file import VERSION, LayerExtract, hashed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from crawlctl.pipeline.store.base import Store
    from crawlctl.pipeline.webdb.extract.extract_file import Hashes, Numbers
    from crawlctl.pipeline.webdb.layers.layer import Layer
    from crawlctl.pipeline.webdb.part import WebDbPart


# Looking up a row, alone in its block, costs about as much as reading this many rows one after the other.
ROWS_PER_LOOK_UP = 32


class HostCount(NamedTuple):
    """How many URLs and live pages of a host a part has."""

    name: bytes
    urls: int
    live: int


def extracts_of(store: Store, layers: Sequence[Layer]) -> list[LayerExtract] | None:
    """Return the extracts of layers, the oldest first; None if one of them has none of this version."""
    found = [_extract_in(store, layer) for layer in layers]
    known = [extract for extract in found if extract]
    return known if len(known) == len(found) else None


def _extract_in(store: Store, layer: Layer) -> LayerExtract | None:
    found = LayerExtract(store, layer.extract) if layer.extract else None
    return found if found and found.version == VERSION else None


def extract_of(part: WebDbPart | None) -> PartExtract | None:
    """Return the extracts of a part; None if there is no part, or a layer of it has none."""
    found = extracts_of(part.store, part.layers) if part else None
    return PartExtract(part, found) if part and found else None


def unsettled_in(part: WebDbPart | None) -> list[bytes] | None:
    """Return the keys of the pages that the next review looks at again; None means all pages."""
    if part is None:
        return []
    found = _extract_in(part.store, part.layers[-1])
    return found.lines("unsettled") if found and found.is_settled else None


class PartExtract:
    """Finds rows of a part without reading it from end to end."""

    def __init__(self, part: WebDbPart, layers: Sequence[LayerExtract]) -> None:
        self.part = part
        self.layers = tuple(layers)  # the oldest first
        self._ends: dict[int, Numbers] = {}

    def has(self, hashes: Hashes, since: int = 0) -> NDArray[np.bool_]:
        """Return for each hash of a key whether the part has the key, in the layer at `since` or a newer."""
        found = np.zeros(len(hashes), np.bool_)
        for layer in reversed(self.layers[since:]):
            found |= layer.has(hashes)
        return found

    def row(self, layer: int, number: int) -> tuple[bytes, bytes]:
        """Return the key and the packed entry of the row `number` of the layer `layer`."""
        if layer not in self._ends:
            self._ends[layer] = self.layers[layer].read("block_ends").astype(np.int64)
        ends = self._ends[layer]
        block = int(np.searchsorted(ends, number, "right"))
        start = int(ends[block - 1]) if block else 0
        found = self.part.block(layer, block)
        return found.keys[number - start], found.values[number - start]

    def rows(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return the packed entries of those keys that the part has; fastest if the keys are sorted."""
        found: dict[bytes, bytes] = {}
        left = sorted(keys)
        hashes = hashed(left)
        for number in reversed(range(len(self.layers))):
            here = self.layers[number].has(hashes)
            found |= self.part.packed_in(number, [left[at] for at in np.flatnonzero(here).tolist()])
            away = np.flatnonzero(~here)
            left, hashes = [left[at] for at in away.tolist()], hashes[away]
        return found

    def related(self, column: str, rows: str, hashes: Hashes) -> Iterator[tuple[bytes, bytes]]:
        """Yield the rows whose value in `column` is one of `hashes`, without replaced rows."""
        for number, layer in enumerate(self.layers):
            numbers = np.unique(layer.rows_of(column, rows, hashes)).tolist()
            found = [self.row(number, row) for row in numbers]
            replaced = self.has(hashed(key for key, _ in found), number + 1).tolist()
            yield from (row for row, is_old in zip(found, replaced, strict=True) if not is_old)

    def hosts(self) -> Iterator[HostCount]:
        """Yield the hosts of the part in key order."""
        urls: dict[bytes, int] = {}
        live: dict[bytes, int] = {}
        for layer in self.layers:
            for counts, column in ((urls, "host_urls"), (live, "host_live")):
                for name, count in zip(layer.host_names, layer.read(column).tolist(), strict=True):
                    counts[name] = counts.get(name, 0) + count
        for name in sorted(urls):
            yield HostCount(name, urls[name], live[name])

    def host(self, name: bytes) -> HostCount:
        """Return how many URLs and live pages of a host the part has."""
        urls = live = 0
        for layer in self.layers:
            at = layer.number_of_host(name)
            if at is not None:
                urls += int(layer.whole("host_urls")[at])
                live += int(layer.whole("host_live")[at])
        return HostCount(name, urls, live)

    def folders_of(self, host: bytes) -> dict[str, tuple[int, int]]:
        """Return the URLs and live pages of each folder and parameter set of a host."""
        sums: dict[str, tuple[int, int]] = {}
        for layer in self.layers:
            at = layer.number_of_host(host)
            if at is not None:
                for name, (urls, live) in layer.folders_of(at).items():
                    before = sums.get(name, (0, 0))
                    sums[name] = before[0] + urls, before[1] + live
        return {name: counts for name, counts in sums.items() if counts != (0, 0)}


class KnownKeys:
    """The keys of a part and those that are added: what a task knows of its partition."""

    def __init__(self, extract: PartExtract) -> None:
        self._extract = extract
        self._added: set[int] = set()  # hashes, which take half the memory of the keys
        extract.has(hashed(()))  # reads the hashes now: a later reading may hold up a task

    def add(self, keys: Iterable[bytes]) -> None:
        """Add keys."""
        self._added.update(hashed(keys).tolist())

    def contains(self, keys: Sequence[bytes]) -> list[bool]:
        """Return for each key whether the part has it, or it was added."""
        hashes = hashed(keys)
        in_part: list[bool] = self._extract.has(hashes).tolist()
        return [known or one in self._added for known, one in zip(in_part, hashes.tolist(), strict=True)]
