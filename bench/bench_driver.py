"""The driver's own share of a round: CPU time to read, plan and commit, by the files of a crawl.

    python bench/bench_driver.py --store crawl [--partitions 64 256 1024] [--rounds 100] [--repeat 3]

The snapshot is made up: the files of a small crawl that was indexed and ranked, as often as there are
partitions, and an archive for each round and partition. No file is read or written but the snapshot itself.
The steps are those of crawl/rounds.py: the driver reads the snapshot when it takes the lease, plans the
round, writes an order per partition and the lines of both merges, replaces the files of all partitions by the
new files, and commits. `read` is also what each task of the fetch step and of the WebDB merge does when it
starts. `collect` is the end of a run: it reads three snapshots to learn which files may be deleted. CPU time
is the least of --repeat runs.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from itertools import cycle, islice
from pathlib import Path
from typing import TYPE_CHECKING

from clock import best_of
from msgspec.structs import replace

from crawlctl.pipeline.config.settings import Config
from crawlctl.pipeline.crawl.indexing import IndexStep
from crawlctl.pipeline.crawl.round_plan import plan_round
from crawlctl.pipeline.crawl.round_steps import fetch_orders
from crawlctl.pipeline.crawl.work import Work
from crawlctl.pipeline.index.merge.order import with_index
from crawlctl.pipeline.orders import encode_order
from crawlctl.pipeline.progress.display import Display
from crawlctl.pipeline.state.garbage import collect
from crawlctl.pipeline.state.kinds import CAPTURES, DICTIONARY, HISTORY, PAGES, SEGMENTS, WEBDB
from crawlctl.pipeline.state.snapshots import Snapshot, commit, create_crawl, load_current
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.store.open import open_store
from crawlctl.pipeline.webdb.merge.order import mapper_lines
from crawlctl.pipeline.webdb.part import with_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crawlctl.pipeline.state.manifest import FileEntry

MOST_SHARDS = 64
OF_THE_CRAWL = (DICTIONARY, HISTORY, "settings")  # files that do not become more with the partitions


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--store", default="crawl", help="a small crawl that was indexed and ranked")
    parser.add_argument("--partitions", type=int, nargs="+", default=[64, 256, 1024])
    parser.add_argument("--rounds", type=int, default=100, help="archives of each partition")
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    small = load_current(open_store(arguments.store))
    print(f"{'partitions':>10}{'lines':>10}{'MB':>7}  CPU-s of each step")
    for partitions in arguments.partitions:
        report(small, partitions, arguments.rounds, arguments.repeat)


def report(small: Snapshot, partitions: int, rounds: int, repeat: int) -> None:
    """Make up a crawl of so many partitions and rounds, and print what its driver does."""
    with tempfile.TemporaryDirectory() as name:
        store = LocalStore(Path(name) / "crawl")
        create_crawl(store, partitions)
        files = tuple(made_up(small, partitions, rounds))
        for number in (1, 2):
            commit(store, load_current(store), files=files, round_number=number)
        times = {step: best_of(work, repeat).cpu for step, work in steps(store).items()}
        size = store.list("snapshots/")
        shown = "  ".join(f"{step} {seconds:.3f}" for step, seconds in times.items())
        whole = sum(times.values()) / len(files) * 1e6
        print(f"{partitions:10,}{len(files):10,}{max(f.bytes for f in size) / 1e6:7.1f}  {shown}", end="")
        print(f"  all {sum(times.values()):.2f}, {whole:.1f} µs a line", flush=True)


def made_up(small: Snapshot, partitions: int, rounds: int) -> Iterator[FileEntry]:
    """Yield the files of a crawl of so many partitions, each like one of the small crawl."""
    own = [entry for entry in small.files if entry.kind not in (*OF_THE_CRAWL, PAGES)]
    archives = [entry for entry in small.files if entry.kind == PAGES]
    for partition in range(partitions):
        like = [entry for entry in own if entry.partition == partition % small.partitions]
        for number, entry in enumerate([*like, *islice(cycle(archives), rounds)]):
            yield renamed(entry, partition, number if entry.kind == PAGES else None)
    shards = [entry for entry in small.files if entry.kind == DICTIONARY]
    for shard in range(min(partitions, MOST_SHARDS)):
        yield from (renamed(entry, shard, shard) for entry in shards)


def renamed(entry: FileEntry, partition: int, number: int | None) -> FileEntry:
    """Return a file as one of another partition; `number` makes its name one of its own."""
    kind, _, rest = entry.name.split("/", 2)
    if number is not None:
        folder, slash, end = rest.partition("/")
        rest = f"{folder[:-6]}{number:06x}{slash}{end}"
    return replace(entry, name=f"{kind}/{partition:05}/{rest}", partition=partition)


def steps(store: LocalStore) -> dict[str, Callable[[], object]]:
    """Return what the driver does in a round in which all partitions take part."""
    snapshot = load_current(store)
    work = Work(store, Config(store=store.uri), Display())
    number = snapshot.round + 1
    merged = tuple(entry for entry in snapshot.files if entry.kind == WEBDB)
    indexed = tuple(entry for entry in snapshot.files if entry.kind in (SEGMENTS, DICTIONARY))
    found = tuple(entry for entry in snapshot.files if entry.kind == CAPTURES)
    everywhere = range(snapshot.partitions)

    def plan() -> None:
        settings = replace(work.config.round, max_pages=10_000 * snapshot.partitions)
        plan = plan_round(store, snapshot, settings, time.time() + 10**8, everywhere, fetch_time=60.0)
        for _ in fetch_orders(work, snapshot, plan, None, Path(store.root)):
            pass

    def merges() -> None:
        mapper_lines(found)
        step = IndexStep(with_parts(snapshot, merged), snapshot.partitions, number, full=True)
        for part in step.plan.partitions:
            encode_order(part)

    def commit_all() -> None:
        files = with_index(with_parts(snapshot, merged), everywhere, indexed)
        commit(store, load_current(store), files=files, round_number=number)

    return {
        "read": lambda: load_current(store),
        "plan": plan,
        "merges": merges,
        "commit": commit_all,
        "collect": lambda: collect(store, keep=2, min_age=3600, now=time.time(), dry_run=True),
    }


if __name__ == "__main__":
    main()
