"""The extract of a WebDB layer: the columns that a round searches, sorted, in a file beside the layer.

A round changes a few rows of a part. With the extracts of the layers it finds these rows, and reads only
their blocks. An extract is a file of arrays (formats/flat_arrays.py), in pages with checksums. It has these
arrays:

    keys              the hashes of all keys, sorted
    block_ends        for each block of the layer, the number of rows up to its end
    dues              the due times of all rows, sorted
    replaced_dues     the due times of the older rows that rows of this layer replace, sorted
    rows              all rows by number: first those that were due when the layer was written (`ready` of
                      them), the most important first (fetch/select/selection.py); then the others by due time
    hashes, scores, depths    of the rows in this order
    ready_dues        the due times of the first `ready` of them; those of the others are in `dues`
    signatures        the hashes of the signatures of live pages with words, sorted
    signature_rows    their rows
    targets           the hashes of the keys of the pages that lead a duplicate, or that a page names, sorted
    target_rows       the rows of these duplicates and pages
    hosts             the names of the hosts with rows in the layer, one per line
    host_rows         the first row of each host
    host_urls, host_live      how many more URLs and live pages of each host the part has by this layer
    folders           the names of the folders and parameter sets of each host, one per line
    host_folders, host_bytes  how many names each host and the hosts before it have, and of how many bytes
    folder_urls, folder_live  how many more URLs and live pages they have by this layer
    unsettled         keys of pages whose change the next review looks at again, one per line

Some columns are differences: `replaced_dues`, `host_urls`, `host_live`, `folder_urls`, `folder_live`. The
numbers of the part are the sums of these columns over all its layers. Hashes are the first 8 bytes of BLAKE2b
(urls/hosts.py). A due time after 2106 counts as one in 2106.

Layers of older releases have no extract. As long as a part has such a layer, or an extract of another version
than VERSION, the part is read as a whole. This ends when its oldest layer is written again.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.formats.flat_arrays import FlatArrays, write_flat_arrays
from crawlctl.pipeline.state.kinds import WEBDB
from crawlctl.pipeline.state.manifest import file_entry, open_whole
from crawlctl.pipeline.urls.hosts import host_in_key, host_ranges, stable_digest, webdb_key
from crawlctl.pipeline.webdb.extract.folder_counts import FolderCounts
from crawlctl.pipeline.webdb.packed import STATUS, leading_columns, plain_signature
from crawlctl.pipeline.webdb.records import LIVE, Status, decode_entry

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.store.base import Store

    Hashes = NDArray[np.uint64]
    Numbers = NDArray[np.int64]
    Arrays = dict[str, NDArray[Any]]

VERSION = 1
MOST_UNSETTLED = 50_000  # if more pages are to be looked at again, the next review looks at all pages
LATEST = (1 << 32) - 1
_DEEPEST = (1 << 16) - 1
_LIVE_OR_DUPLICATE = (*map(int, LIVE), int(Status.DUPLICATE))


def hashed(keys: Iterable[bytes]) -> Hashes:
    """Return the hashes of keys or signatures."""
    return np.frombuffer(b"".join(map(stable_digest, keys)), ">u8").astype(np.uint64)


class ExtractBuilder:
    """Collects the extract of a layer while its rows, which come in key order, are written.

    `now` decides only which rows count as ready.
    """

    def __init__(self, name: str = WEBDB, now: float | None = None) -> None:
        self._name = name
        self._now = int(time.time() if now is None else now)
        self._count = 0
        self._columns: list[tuple[Hashes, Numbers, NDArray[np.float64], Numbers]] = []
        self._replaced: list[Numbers] = []
        self._signatures = _Pairs()
        self._targets = _Pairs()
        self._host_rows: dict[bytes, int] = {}
        self._host_urls: Counter[bytes] = Counter()
        self._host_live: Counter[bytes] = Counter()
        self._folders = FolderCounts()
        self._unsettled: set[bytes] | None = None

    def add(
        self, keys: Sequence[bytes], values: Sequence[bytes], before: Sequence[bytes | None] | None = None
    ) -> None:
        """Take the next rows; `before` has the older row of each key, None for a new URL."""
        found = leading_columns(values, self._name)
        dues, depths = np.clip(found.due, 0, LATEST), np.minimum(found.depths, _DEEPEST)
        self._columns.append((hashed(keys), dues, found.scores, depths))
        is_live = np.isin(found.statuses, _LIVE_OR_DUPLICATE[:-1])
        for host, start, end in host_ranges(keys):
            self._host_rows.setdefault(host, self._count + start)
            self._host_urls[host] += end - start
            self._host_live[host] += int(is_live[start:end].sum())
        self._folders.add(keys, is_live)
        for row in np.flatnonzero(np.isin(found.statuses, _LIVE_OR_DUPLICATE)).tolist():
            with suppress(CorruptFile):  # whoever reads the row is told
                self._relate(self._count + row, values[row])
        self._signatures.pack()
        self._targets.pack()
        self._count += len(keys)
        if before is not None:
            self._replace(keys, before)
        if keys:
            self._folders.pack(host_in_key(keys[-1]))

    def _relate(self, row: int, value: bytes) -> None:
        """Take the signature of a live page, and the pages that it names or that lead it."""
        is_duplicate = value[STATUS] == Status.DUPLICATE
        signature = None if is_duplicate else plain_signature(value)
        if signature is not None:
            self._signatures.add(signature, row)
            return
        entry = decode_entry(value, self._name)
        if entry.has_words and not is_duplicate:
            self._signatures.add(entry.signature, row)
        for target in {entry.names, entry.canonical if is_duplicate else ""} - {""}:
            self._targets.add(webdb_key(target), row)

    def _replace(self, keys: Sequence[bytes], before: Sequence[bytes | None]) -> None:
        older = [(key, value) for key, value in zip(keys, before, strict=True) if value is not None]
        columns = leading_columns([value for _, value in older], self._name)
        self._replaced.append(np.clip(columns.due, 0, LATEST))
        self._host_urls.subtract(host_in_key(key) for key, _ in older)
        self._host_live.subtract(host_in_key(key) for key, value in older if value[STATUS] in LIVE)
        self._folders.add([key for key, _ in older], np.isin(columns.statuses, _LIVE_OR_DUPLICATE[:-1]), -1)

    def leave_unsettled(self, keys: Iterable[bytes]) -> None:
        """Remember the pages that the next review looks at again; without this call it looks at all pages."""
        if self._unsettled is None:
            self._unsettled = set()
        self._unsettled.update(keys)

    def stand_for(self, group: Sequence[LayerExtract]) -> None:
        """Take the differences of the layers that were merged, where there are still older layers."""
        sums = [dict(zip(one.host_names, one.read("host_urls").tolist(), strict=True)) for one in group]
        live = [dict(zip(one.host_names, one.read("host_live").tolist(), strict=True)) for one in group]
        for host in self._host_rows:
            self._host_urls[host] = sum(one.get(host, 0) for one in sums)
            self._host_live[host] = sum(one.get(host, 0) for one in live)
        self._folders.sum_up([one.folders() for one in group])
        more = [*(dues for _, dues, _, _ in self._columns), *(one.read("replaced_dues") for one in group)]
        self._replaced = [without(_joined(more, np.int64), [one.read("dues") for one in group])]

    def write(self, store: Store, name: str, partition: int, block_ends: Sequence[int]) -> FileEntry:
        """Write the extract of a layer whose blocks end at these rows."""
        if self._unsettled is not None and len(self._unsettled) > MOST_UNSETTLED:
            self._unsettled = None
        facts = {"version": VERSION, "ready": 0, "settled": self._unsettled is not None}
        arrays = self._arrays(facts)
        arrays["block_ends"] = np.array(block_ends, np.uint32)
        with store.write(name) as sink:
            write_flat_arrays(sink, arrays, facts)
        return file_entry(sink, WEBDB, partition)

    def _arrays(self, facts: dict[str, Any]) -> Arrays:
        columns = [*zip(*self._columns, strict=True)] or [(), (), (), ()]
        hashes, dues = _joined(columns[0], np.uint64), _joined(columns[1], np.int64)
        scores, depths = _joined(columns[2], np.float64), _joined(columns[3], np.int64)
        order, facts["ready"] = self._order(dues, scores, depths)
        hosts = list(self._host_rows)
        return {
            "keys": np.sort(hashes),
            "dues": np.sort(dues).astype(np.uint32),
            "replaced_dues": np.sort(_joined(self._replaced, np.int64)).astype(np.uint32),
            "rows": order.astype(np.uint32),
            "hashes": hashes[order],
            "scores": scores[order],
            "depths": depths[order].astype(np.uint16),
            "ready_dues": dues[order[: facts["ready"]]].astype(np.uint32),
            **self._signatures.columns("signature", "signatures"),
            **self._targets.columns("target", "targets"),
            "hosts": _lines(hosts),
            "host_rows": np.array(list(self._host_rows.values()), np.uint32),
            "host_urls": np.array([self._host_urls[host] for host in hosts], np.int32),
            "host_live": np.array([self._host_live[host] for host in hosts], np.int32),
            **self._folder_columns(hosts),
            "unsettled": _lines(sorted(self._unsettled or ())),
        }

    def _folder_columns(self, hosts: Sequence[bytes]) -> Arrays:
        found = [self._folders.columns_of(host) for host in hosts]
        return {
            "folders": np.frombuffer(b"".join(one.names for one in found), np.uint8),
            "host_folders": np.cumsum(np.array([len(one.urls) for one in found], np.uint32), dtype=np.uint32),
            "host_bytes": np.cumsum(np.array([len(one.names) for one in found], np.uint64), dtype=np.uint64),
            "folder_urls": _joined([one.urls for one in found], np.int32),
            "folder_live": _joined([one.live for one in found], np.int32),
        }

    def _order(self, dues: Numbers, scores: NDArray[np.float64], depths: Numbers) -> tuple[Numbers, int]:
        """Return the row numbers in the order of `rows`, and how many rows are ready."""
        ready = np.flatnonzero(dues <= self._now)
        later = np.flatnonzero(dues > self._now)
        ready = ready[first_to_fetch(scores[ready], depths[ready], dues[ready], ready)]
        return np.concatenate([ready, later[np.argsort(dues[later], kind="stable")]]), len(ready)


def first_to_fetch(
    scores: NDArray[np.float64], depths: Numbers, dues: Numbers, rows: Numbers
) -> NDArray[np.intp]:
    """Return the order in which rows of a layer are fetched; equal rows come in reverse key order."""
    return np.lexsort((-rows.astype(np.int64), dues, depths, -scores))


def without(numbers: Numbers, taken: Sequence[NDArray[Any]]) -> Numbers:
    """Return sorted numbers without those in `taken`; a number that is there twice is taken away twice."""
    away = _joined(taken, np.int64)
    found, at = np.unique(np.concatenate([numbers, away]), return_inverse=True)
    counts = np.bincount(at[: len(numbers)], minlength=len(found))
    counts -= np.bincount(at[len(numbers) :], minlength=len(found))
    return np.repeat(found, np.maximum(counts, 0))


def _joined(arrays: Iterable[NDArray[Any]], dtype: type[np.generic]) -> NDArray[Any]:
    return np.concatenate([np.zeros(0, dtype), *arrays]).astype(dtype, copy=False)


class _Pairs:
    """Hashes of names, and the row of each hash; after `pack` a pair takes 12 bytes of memory."""

    def __init__(self) -> None:
        self._names: list[bytes] = []
        self._rows: list[int] = []
        self._packed: list[tuple[Hashes, NDArray[np.uint32]]] = []

    def add(self, name: bytes, row: int) -> None:
        """Take the next name and its row."""
        self._names.append(name)
        self._rows.append(row)

    def pack(self) -> None:
        """Turn the names and rows that were added into arrays, which take less memory."""
        if self._names:
            self._packed.append((hashed(self._names), np.array(self._rows, np.uint32)))
            self._names, self._rows = [], []

    def columns(self, one: str, many: str) -> Arrays:
        """Return the columns of the hashes, sorted, and of their rows."""
        self.pack()
        hashes = _joined([some for some, _ in self._packed], np.uint64)
        rows = _joined([some for _, some in self._packed], np.uint32)
        order = np.argsort(hashes, kind="stable")
        return {many: hashes[order], f"{one}_rows": rows[order]}


def _lines(names: Sequence[bytes]) -> NDArray[np.uint8]:
    return np.frombuffer(b"\n".join(names), np.uint8)


class LayerExtract(FlatArrays):
    """Reads the extract of a layer; arrays that are searched again and again are kept."""

    def __init__(self, store: Store, entry: FileEntry) -> None:
        super().__init__(open_whole(store, entry), store.locate(entry.name))
        self._kept: dict[str, NDArray[Any]] = {}
        self._host_names: list[bytes] | None = None
        self.version = int(self.facts.get("version", 0))
        self.ready = int(self.facts.get("ready", 0))
        self.is_settled = bool(self.facts.get("settled"))

    def whole(self, name: str) -> NDArray[Any]:
        """Return an array, which is read once."""
        if name not in self._kept:
            self._kept[name] = self.read(name)
        return self._kept[name]

    def has(self, hashes: Hashes) -> NDArray[np.bool_]:
        """Return for each hash whether the layer has the key."""
        keys = self.whole("keys")
        if not len(keys):
            return np.zeros(len(hashes), np.bool_)
        at = np.minimum(np.searchsorted(keys, hashes), len(keys) - 1)
        found: NDArray[np.bool_] = keys[at] == hashes
        return found

    def rows_of(self, column: str, rows: str, hashes: Hashes) -> Numbers:
        """Return the rows of all entries of a sorted column that equal one of the hashes."""
        values = self.whole(column)
        starts = np.searchsorted(values, hashes, "left")
        counts = np.searchsorted(values, hashes, "right") - starts
        steps = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
        found: Numbers = self.whole(rows)[np.repeat(starts, counts) + steps].astype(np.int64)
        return found

    def folders(self) -> dict[bytes, dict[str, tuple[int, int]]]:
        """Return how many more URLs and live pages each folder and parameter set of each host has."""
        return {name: self.folders_of(number) for number, name in enumerate(self.host_names)}

    def folders_of(self, host: int) -> dict[str, tuple[int, int]]:
        """Return these counts of a host, which is given by its number."""
        (first, stop), (start, end) = (
            (int(ends[host - 1]) if host else 0, int(ends[host]))
            for ends in (self.whole("host_folders"), self.whole("host_bytes"))
        )
        names = self.read("folders", start, end).tobytes().decode("ascii").split("\n")[:-1]
        counts = (self.read(column, first, stop).tolist() for column in ("folder_urls", "folder_live"))
        return dict(zip(names, zip(*counts, strict=True), strict=True))

    @property
    def host_names(self) -> list[bytes]:
        """The names of the hosts with rows in the layer, in key order."""
        if self._host_names is None:
            self._host_names = self.lines("hosts")
        return self._host_names

    def number_of_host(self, name: bytes) -> int | None:
        """Return the number of a host, None if it has no rows in the layer."""
        at = bisect_left(self.host_names, name)
        return at if at < len(self.host_names) and self.host_names[at] == name else None

    def lines(self, name: str) -> list[bytes]:
        """Return the names in an array of lines."""
        text = self.read(name).tobytes()
        return text.split(b"\n") if text else []
