"""The pass of the WebDB merge: read a part, apply discoveries and outcomes, write the next part.

    python bench/bench_webdb.py [--entries N] [--runs R]

"5 % touched" means that of 100 entries 5 change: a third are fetched, a third are found again by a link, a
third are new. Figures are those of the best run, in CPU seconds of the one process; the store is a temporary
folder.
"""

from __future__ import annotations

import argparse
import gc
import tempfile
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from clock import best_of
from msgspec.structs import replace

from crawlctl.pipeline.config.settings import RecrawlSettings
from crawlctl.pipeline.config.units import DAY
from crawlctl.pipeline.state.snapshots import Snapshot, commit, create_crawl
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.urls.hosts import url_of_key, webdb_key
from crawlctl.pipeline.webdb.anchors import OUTSIDE, heaviest
from crawlctl.pipeline.webdb.merge.update import AdvancedPart, advance_part
from crawlctl.pipeline.webdb.part import scan, write_part
from crawlctl.pipeline.webdb.records import (
    Fresh,
    Kind,
    Outcome,
    Status,
    WebEntry,
    decode_fresh,
    decode_outcome,
    encode,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Records = list[tuple[bytes, bytes]]

NOW = 1_800_000_000
LAST_MODIFIED = "Tue, 03 Nov 2026 11:22:33 GMT"
URLS_OF_A_HOST = 150
LIVE = 7  # the last digit of entries that are live, among others
TARGET = 150_000  # entries per CPU second
RANDOM = Random(3)


def url_of(number: int) -> str:
    host = RANDOM.randrange(max(number // URLS_OF_A_HOST, 10))
    return f"https://www.host{host}.example/section-{RANDOM.randrange(30)}/article-{number:07d}.html"


def entry_of(number: int, keys: list[bytes]) -> WebEntry:
    """Return a realistic entry: of ten, four wait, one is gone, five were fetched some days ago.

    Of these five, one is a duplicate of another page, and one names another page as canonical; half of those
    that do are live.
    """
    texts = (f"article {RANDOM.randrange(100_000)}" for _ in range(1 + number % 3))
    anchors = heaviest({text: RANDOM.choice((1, 1, 5, OUTSIDE + 2)) for text in texts})
    seen = NOW - RANDOM.randrange(90 * DAY)
    depth, source = RANDOM.randrange(9), f"https://www.host{RANDOM.randrange(1000)}.example/"
    new = WebEntry(Status.UNFETCHED, seen, 0.0, depth, seen, anchors=anchors.texts, source=source)
    new = replace(new, anchor_weights=anchors.weights)
    if number % 10 < 4:
        return new
    fields = {field: getattr(new, field) for field in new.__struct_fields__}
    tried = seen + RANDOM.randrange(NOW - seen)
    fields |= {"last_tried": tried, "next_due": tried + 7 * DAY, "interval": 7 * DAY}
    if number % 10 == 4:
        return WebEntry(**fields | {"status": Status.GONE, "code": 404, "reason": "Not Found"})
    fields |= {"status": Status.FETCHED, "code": 200, "score": RANDOM.random()}
    fields |= {"last_fetched": tried, "last_changed": tried, "signature": RANDOM.randbytes(16)}
    fields |= {"etag": f'"{RANDOM.getrandbits(64):x}"', "last_modified": LAST_MODIFIED}
    other = url_of_key(keys[RANDOM.randrange(len(keys) // 10) * 10 + LIVE])
    if number % 10 == 5:
        fields |= {"status": Status.DUPLICATE, "canonical": other}
    elif number % 20 == 6:
        fields |= {"named": url_of_key(keys[number]) + "/gone"}
    elif number % 10 == 6:
        fields |= {"status": Status.DUPLICATE, "named": other, "canonical": other}
    return WebEntry(**fields)


def found_and_fetched(keys: list[bytes], share: float) -> tuple[Records, Records]:
    """Return discoveries and outcomes of a round that touch a share of the entries."""
    count = int(len(keys) * share / 3)
    found = Fresh(NOW, depth=3, anchors=("a text not used before",), source="https://www.host1.example/")
    again = [(key, encode(found)) for key in RANDOM.sample(keys, count)]
    new = [(key + b"?page=2", encode(found)) for key in RANDOM.sample(keys, count)]
    fetched = [(key, encode(outcome())) for key in RANDOM.sample(keys, count)]
    return sorted(again + new), sorted(fetched)


def outcome() -> Outcome:
    return Outcome(Kind.FETCHED, NOW + 5, 200, RANDOM.randbytes(16), '"v2"', LAST_MODIFIED)


def build(store: LocalStore, entries: int) -> tuple[Snapshot, list[bytes]]:
    keys = sorted(webdb_key(url_of(number)) for number in range(entries))
    values = [encode(entry_of(number, keys)) for number in range(entries)]
    files = write_part(store, [(keys, values)], partition=0, round_number=1)
    bytes_each = sum(map(len, keys + values)) / entries
    print(f"{entries:,} entries, {bytes_each:.0f} B each, {files[0].bytes / entries:.0f} B on disk")
    return commit(store, create_crawl(store, 1), files=files, round_number=1), keys


class Unpacked:
    """Outcomes as the merge reads them: decoded from packed rows in each pass."""

    def __init__(self, rows: Records) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[tuple[bytes, Outcome]]:
        return ((key, decode_outcome(value)) for key, value in self.rows)


def advance(store: LocalStore, snapshot: Snapshot, fresh: Records, outcomes: Records) -> AdvancedPart:
    return advance_part(
        store,
        snapshot,
        0,
        ((key, decode_fresh(value)) for key, value in fresh),
        Unpacked(outcomes),
        now=NOW + 9,
        settings=RecrawlSettings(),
        round_number=2,
    )


def scanned(store: LocalStore, snapshot: Snapshot) -> int:
    return sum(1 for _ in scan(store, snapshot, 0))


def best(action: Callable[[], object], runs: int) -> tuple[float, float]:
    """Return the least CPU and wall seconds of several runs."""
    gc.freeze()  # the inputs held here are no part of the pass: the collector shall not walk through them
    return best_of(action, runs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--entries", type=int, default=300_000)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = LocalStore(Path(folder) / "crawl")
        snapshot, keys = build(store, options.entries)
        print(f"{'':24}{'entries/CPU-s':>16}{'entries/s':>16}")
        for share in (0.0, 0.05, 0.3):
            merge = partial(advance, store, snapshot, *found_and_fetched(keys, share))
            report(f"merge, {share:.0%} touched", options.entries, best(merge, options.runs))
        scanning = partial(scanned, store, snapshot)
        report("scan, all decoded", options.entries, best(scanning, options.runs))
    print(f"target of the merge: {TARGET:,} entries/s/core")


def report(what: str, entries: int, seconds: tuple[float, float]) -> None:
    print(f"{what:24}{entries / seconds[0]:16,.0f}{entries / seconds[1]:16,.0f}")


if __name__ == "__main__":
    main()
