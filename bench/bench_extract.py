"""A WebDB layer and its extract: CPU time to write, merge, open and search them, and of a merge by look-ups.

    python bench/bench_extract.py [--entries 600000] [--repeat 3]

The part is made up (bench_webdb.py). A second layer of half of the rows is merged with it. The due URLs
are selected as a fetch task does, the most important first, so each is in another block. Looked-up URLs are
chosen at random and sorted. The merge of a round brings discoveries of known URLs, chosen at random, and the
outcomes of as many pages as link to so many; it finds their rows by look-ups, or reads the part from end to
end. Figures are the least of --repeat runs.
"""

from __future__ import annotations

import argparse
import tempfile
from functools import partial
from itertools import islice
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from bench_webdb import NOW, entry_of, url_of
from clock import best_of

from crawlctl.pipeline.config.settings import RecrawlSettings
from crawlctl.pipeline.state.snapshots import Snapshot
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.urls.hosts import webdb_key
from crawlctl.pipeline.webdb.extract.due_rows import best_due_rows
from crawlctl.pipeline.webdb.extract.part_extract import KnownKeys, extract_of
from crawlctl.pipeline.webdb.layers.delta import merged_layers
from crawlctl.pipeline.webdb.layers.layer import layers_of
from crawlctl.pipeline.webdb.merge import update
from crawlctl.pipeline.webdb.part import part_in, write_part
from crawlctl.pipeline.webdb.records import Fresh, Kind, Outcome, decode_entry, encode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.webdb.extract.part_extract import PartExtract

AT_ONCE = 4096  # rows
SELECTED = 3000
LOOKED_UP = (1000, 6000, 18_000, 40_000)
FOUND = (12_000, 36_000, 72_000, 144_000)  # discoveries of a merge
LINKED_A_VISIT = 26  # as in scale.py
DAY = 86_400


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--entries", type=int, default=600_000)
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    keys = sorted(webdb_key(url_of(number)) for number in range(arguments.entries))
    values = [encode(entry_of(number, keys)) for number in range(arguments.entries)]
    with tempfile.TemporaryDirectory() as name:
        store = LocalStore(Path(name) / "crawl")
        report(store, keys, values, arguments.repeat)


def report(store: LocalStore, keys: list[bytes], values: list[bytes], repeat: int) -> None:
    """Print the figures of a part with these rows."""
    count = len(keys)
    files = written(store, keys, values, number=1)
    newer = written(store, keys[::2], values[::2], number=2)
    layers = [*layers_of(files), *layers_of(newer)]
    extract = opened(store, files)
    octets = [f"{file.name.rsplit('/', 1)[1]} {file.bytes / count:.1f}" for file in files]
    print(f"{count:,} rows; bytes a row: {', '.join(octets)}")

    def merge() -> None:
        (merged,) = merged_layers(store, layers, 2, partition=0)
        assert merged.rows == count

    def select() -> None:
        found = islice(best_due_rows(extract, NOW + 10_000 * DAY), SELECTED)
        assert len([*found]) == SELECTED

    for what, work, rows in (
        ("write a row", lambda: written(store, keys, values, number=1), count),
        ("merge, a row that is written", merge, count),
        ("open the extract, a row", lambda: opened(store, files), count),
        ("select a due row", select, SELECTED),
    ):
        print(f"{what:<32}{best_of(work, repeat).cpu / rows * 1e6:10.3f} µs", flush=True)
    for number in LOOKED_UP:
        some = sorted(Random(1).sample(keys, number))
        cpu = best_of(partial(look_up, store, files, some), repeat).cpu
        print(f"look up one of {number:<17,}{cpu / number * 1e6:10.3f} µs", flush=True)
    report_merges(store, dict(zip(keys, values, strict=True)), repeat)


def report_merges(store: LocalStore, rows: dict[bytes, bytes], repeat: int) -> None:
    """Print what a merge takes that looks rows up, and one that reads the part."""
    files = written(store, [*rows], [*rows.values()], number=1)
    made = {"version": 4, "number": 1, "writer": "bench", "parent": "", "created": 0.0, "round": 1}
    snapshot = Snapshot(**made, partitions=1, files=files)
    for number in FOUND:
        fresh = [(key, found_again(rows[key])) for key in sorted(Random(2).sample([*rows], number))]
        visited = sorted(Random(3).sample([*rows], number // LINKED_A_VISIT))
        outcomes = [(key, Outcome(Kind.FETCHED, NOW, 200, Random(key).randbytes(16))) for key in visited]
        for name, least in (("look-ups", 1), ("reading", len(rows))):
            update.READ_PER_LOOK_UP, update.MOST_LOOK_UPS = least, len(rows)
            cpu = best_of(partial(merge_round, store, snapshot, fresh, outcomes), repeat).cpu
            print(f"merge {number:,} discoveries by {name}".ljust(42) + f"{cpu:10.2f} s", flush=True)


def found_again(value: bytes) -> Fresh:
    """Return a discovery that changes nothing: most links are known."""
    entry = decode_entry(value)
    return Fresh(NOW, entry.depth + 1, anchors=entry.anchors[:1], source=entry.source)


def merge_round(
    store: LocalStore,
    snapshot: Snapshot,
    fresh: list[tuple[bytes, Fresh]],
    outcomes: list[tuple[bytes, Outcome]],
) -> None:
    """Merge a round into the part, as its reducer does."""
    settings = RecrawlSettings()
    update.advance_part(
        store, snapshot, 0, fresh, outcomes, now=NOW, settings=settings, round_number=snapshot.round + 1
    )


def look_up(store: LocalStore, files: Sequence[FileEntry], keys: list[bytes]) -> None:
    """Look up URLs that the part has."""
    assert len(opened(store, files).rows(keys)) == len(keys)


def written(
    store: LocalStore, keys: list[bytes], values: list[bytes], *, number: int
) -> tuple[FileEntry, ...]:
    """Write rows as a layer with its extract; a review has seen all of them."""
    blocks = (
        (keys[start : start + AT_ONCE], values[start : start + AT_ONCE])
        for start in range(0, len(keys), AT_ONCE)
    )
    return write_part(store, blocks, partition=0, round_number=number, number=number, unsettled=())


def opened(store: LocalStore, files: Sequence[FileEntry]) -> PartExtract:
    """Open the extract as a fetch task does: with the hashes of all keys, and the hosts."""
    extract = extract_of(part_in(store, files))
    assert extract is not None
    KnownKeys(extract)
    for _ in extract.hosts():
        pass
    return extract


if __name__ == "__main__":
    main()
