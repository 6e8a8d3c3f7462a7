"""The WebDB merge as a whole job: the shuffle of discoveries, and the pass over all entries.

    python bench/bench_merge_webdb.py [--entries N] [--fresh F] [--partitions P] [--runner forked] [--runs R]

Half of the discovered URLs are known already, and a third are found twice. They come from as many runs as
there are partitions, with a tenth as many outcomes. CPU seconds are those of the driver and all its tasks,
from the first line of input to the last line of the manifest.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import defaultdict
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from bench_webdb import NOW, TARGET, entry_of, outcome, url_of
from clock import best_of

from crawlctl.jobs.merge_webdb import WebDBMerger
from crawlctl.pipeline.config.settings import RecrawlSettings, RunnerSettings
from crawlctl.pipeline.orders import encode_order
from crawlctl.pipeline.runners.job import run_job
from crawlctl.pipeline.state.kinds import FRESH, OUTCOMES
from crawlctl.pipeline.state.snapshots import Snapshot, commit, create_crawl
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.urls.hosts import host_of_key, partition_of, webdb_key
from crawlctl.pipeline.webdb.merge.order import MergeOrder, mapper_lines
from crawlctl.pipeline.webdb.part import write_part
from crawlctl.pipeline.webdb.records import Fresh, encode
from crawlctl.pipeline.webdb.row_files import write_table

if TYPE_CHECKING:
    from crawlctl.pipeline.config.settings import RunnerName
    from crawlctl.pipeline.state.manifest import FileEntry

RANDOM = Random(5)
ROUND = 2


def build(store: LocalStore, entries: int, partitions: int) -> tuple[Snapshot, list[bytes]]:
    parts: dict[int, list[tuple[bytes, bytes]]] = defaultdict(list)
    keys = sorted(webdb_key(url_of(number)) for number in range(entries))
    for number, key in enumerate(keys):
        parts[partition_of(host_of_key(key), partitions)].append((key, encode(entry_of(number, keys))))
    files: list[FileEntry] = []
    for partition, rows in parts.items():
        blocks = [([key for key, _ in rows], [value for _, value in rows])]
        files += write_part(store, blocks, partition=partition, round_number=1)
    snapshot = commit(store, create_crawl(store, partitions), files=files, round_number=1)
    return snapshot, keys


def write_runs(store: LocalStore, keys: list[bytes], fresh: int, partitions: int) -> list[FileEntry]:
    """Write discoveries and outcomes as the runs of a round do."""
    found = Fresh(NOW, depth=3, anchors=("a text not used before",), source="https://www.host1.example/")
    known = RANDOM.sample(keys, fresh // 2)
    new = [key + b"?page=2" for key in RANDOM.sample(keys, fresh - len(known))]
    runs: list[set[bytes]] = [set() for _ in range(partitions)]
    for key in known + new:
        for _ in range(1 + (RANDOM.random() < 1 / 3)):
            RANDOM.choice(runs).add(key)
    files = [
        table(store, FRESH, dict.fromkeys(run, encode(found)), number) for number, run in enumerate(runs)
    ]
    fetched: dict[int, dict[bytes, bytes]] = defaultdict(dict)
    for key in RANDOM.sample(keys, fresh // 10):
        fetched[partition_of(host_of_key(key), partitions)][key] = encode(outcome())
    return files + [table(store, OUTCOMES, rows, number) for number, rows in fetched.items()]


def table(store: LocalStore, kind: str, rows: dict[bytes, bytes], partition: int) -> FileEntry:
    keys = sorted(rows)
    blocks = [(keys, [rows[key] for key in keys])]
    return write_table(store, kind, blocks, partition=partition, round_number=ROUND)


def merge(
    store: LocalStore, snapshot: Snapshot, files: list[FileEntry], folder: Path, runner: RunnerName
) -> None:
    order = MergeOrder(
        store=store.uri,
        snapshot=snapshot.number,
        round=ROUND,
        partitions=snapshot.partitions,
        now=NOW + 9,
        recrawl=RecrawlSettings(),
    )
    (folder / "order.json").write_bytes(encode_order(order))
    (folder / "lines").write_bytes(b"".join(line + b"\n" for line in mapper_lines(files)))
    arguments = ["--order", str(folder / "order.json"), "--reducers", str(snapshot.partitions)]
    settings = RunnerSettings(name=runner)
    done = run_job(WebDBMerger, [folder / "lines"], settings=settings, args=arguments)
    print("  ".join(f"{name} {amount:,}" for name, amount in done.counters.group("webdb").items()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--entries", type=int, default=1_000_000)
    parser.add_argument("--fresh", type=int, default=100_000)
    parser.add_argument("--partitions", type=int, default=4)
    parser.add_argument("--runner", default="forked")
    parser.add_argument("--runs", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = LocalStore(Path(folder) / "crawl")
        snapshot, keys = build(store, options.entries, options.partitions)
        files = write_runs(store, keys, options.fresh, options.partitions)
        del keys
        best = best_of(lambda: merge(store, snapshot, files, Path(folder), options.runner), options.runs)
    print(
        f"{options.entries:,} entries, {options.fresh:,} discoveries: {best.cpu:.2f} CPU-s, {best.wall:.2f} s"
    )
    print(f"{options.entries / best.cpu:,.0f} entries/CPU-s (target {TARGET:,})")


if __name__ == "__main__":
    main()
