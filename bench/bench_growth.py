"""A run that fetches one page, on crawls of several sizes: CPU time by step, and bytes written.

    python bench/bench_growth.py --web FOLDER [--pages 3000] [--urls 0 1000000] [--runs 3] [--keep FOLDER]

The web is docweb (see bench_docweb.py). A store is made by a crawl of --pages pages, with ranks and duplicate
groups at its end. Then made-up URLs on the same hosts are added until it knows --urls URLs: as discoveries,
by the WebDB merge of a round. 0 adds none. On each store, `crawlctl run --pages 1` fetches one new page,
--runs times. With --keep, stores are kept in that folder and used again.

CPU is that of the process tree, start-up included. Steps are those of the crawl's history; `start` is what is
in no step: the interpreter, imports, the end of the command. `dictionary` is a part of `index`: it is
measured by writing the dictionary once more. Bytes are what Linux counts as written by the process tree, and,
by kind, the files of the store that are new after the run. The first line is the peer: the same run on a
store of one page.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from bench_docweb import CRAWL_YAML, DOCWEB, serving
from clock import measured

from crawlctl.pipeline.config.settings import Config
from crawlctl.pipeline.crawl.history.history_files import read_history
from crawlctl.pipeline.crawl.leased_crawl import leased_crawl
from crawlctl.pipeline.crawl.round_steps import merge_webdb
from crawlctl.pipeline.crawl.work import Work
from crawlctl.pipeline.index.merge.dictionary_shards import write_all
from crawlctl.pipeline.index.statistics import summary_of
from crawlctl.pipeline.progress.display import Display
from crawlctl.pipeline.state.kinds import FRESH, WEBDB
from crawlctl.pipeline.state.snapshots import load_current
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.urls.hosts import webdb_key
from crawlctl.pipeline.webdb.part import with_parts
from crawlctl.pipeline.webdb.records import Fresh, encode
from crawlctl.pipeline.webdb.row_files import write_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crawlctl.pipeline.crawl.history.history_row import HistoryRow
    from crawlctl.pipeline.crawl.leased_crawl import LeasedCrawl

STEPS = ("start", "other", "fetch", "webdb", "index", "dictionary", "rank", "groups", "all")
ADDED_AT_ONCE = 250_000  # made-up URLs per merge


class OneRun(NamedTuple):
    """What a run has cost: CPU-seconds by step, bytes written in all and by kind of file."""

    cpu: dict[str, float]
    written: int
    kinds: Counter[str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--web", type=Path, required=True, help="the folder that docweb was built in")
    parser.add_argument("--docweb", type=Path, default=DOCWEB, help="its script")
    parser.add_argument("--pages", type=int, default=3000, help="pages that are crawled first")
    parser.add_argument("--urls", type=int, nargs="+", default=[0], help="known URLs of each store")
    parser.add_argument("--runs", type=int, default=3, help="runs of one page on each store")
    parser.add_argument("--keep", type=Path, help="a folder for the stores, which are used again")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder, stores = Path(name), arguments.keep or Path(name)
        stores.mkdir(parents=True, exist_ok=True)
        with serving(folder, arguments.docweb, arguments.web) as proxy:
            settings = CRAWL_YAML.replace("index: {{merge_every: 1000}}\nrank: {{every: null}}\n", "")
            (folder / "crawl.yaml").write_text(settings.format(proxy=proxy), encoding="ascii")
            print(f"{'documents':>9}{'URLs':>11}" + "".join(f"{step:>11}" for step in STEPS), flush=True)
            for pages, urls in [(1, 0), *((arguments.pages, urls) for urls in arguments.urls)]:
                compare(folder, made_store(folder, stores, pages, urls), arguments.runs)


def compare(folder: Path, made: Path, runs: int) -> None:
    """Run on a copy of a store, and print the median and the spread of each figure."""
    store = LocalStore(folder / "copy")
    shutil.copytree(made, store.root)
    snapshot = load_current(store)
    size = f"{documents_of(store):9,}{sum(entry.records for entry in snapshot.files_of(WEBDB)):11,}"
    costs = [one_page(folder, store) for _ in range(runs)]
    print(size + "".join(f"{median(cost.cpu[step] for cost in costs):11.2f}" for step in STEPS))
    for name, choose in (("least", min), ("most", max)):
        figures = "".join(f"{choose(cost.cpu[step] for cost in costs):11.2f}" for step in STEPS)
        print(f"{name:>20}{figures}")
    written = sorted(cost.written / 1e6 for cost in costs)
    kinds = ", ".join(f"{kind} {count / 1e6:.2f}" for kind, count in costs[-1].kinds.most_common(8))
    print(f"{'':9}MB written: {written[0]:.1f} to {written[-1]:.1f}; new files of the last run: {kinds}")
    print(f"{'':9}{costs[-1].kinds['files']} new files", flush=True)
    shutil.rmtree(store.root)


def made_store(folder: Path, stores: Path, pages: int, urls: int) -> Path:
    """Return the folder of a store with this many pages and at least this many URLs; make it if need be."""
    made = stores / f"growth-{pages}-{urls}"
    if made.exists():
        return made
    draft = stores / f"draft-{os.getpid()}"
    if urls:
        shutil.copytree(made_store(folder, stores, pages, 0), draft)
        fill(LocalStore(draft), urls)
        crawlctl(folder, draft, "merge")
        crawlctl(folder, draft, "rank")
    else:
        crawl_pages(folder, draft, pages)
    draft.rename(made)
    return made


def crawl_pages(folder: Path, store: Path, pages: int) -> None:
    """Crawl until this many documents can be searched, round by round; rank and group at the end."""
    crawlctl(folder, store, "run", "--seed", "seeds.txt", "--pages", str(min(pages, 22)))
    for _ in range(20):
        left = pages - documents_of(LocalStore(store))
        if left <= 0:
            break
        crawlctl(folder, store, "run", "--pages", str(left))
    crawlctl(folder, store, "rank")


def fill(store: LocalStore, urls: int) -> None:
    """Add discoveries until the WebDB has this many URLs, as rounds do."""
    work = Work(store, Config(store=store.uri), Display())
    with leased_crawl(work, "bench") as crawl:
        hosts = sorted({host for entry in crawl.snapshot.files_of(WEBDB) for host in _seeded(entry.counters)})
        for numbers in batches(crawl, urls):
            found = Fresh(int(time.time()), depth=9, anchors=("made up",), source=f"http://{hosts[0]}/")
            keys = sorted(
                webdb_key(f"http://{hosts[n % len(hosts)]}/made/up/{n // 100}/{n}.html") for n in numbers
            )
            blocks = [(keys, [encode(found)] * len(keys))]
            number = crawl.next_round
            files = (write_table(store, FRESH, blocks, partition=0, round_number=number),)
            merged = merge_webdb(work, crawl.snapshot, files)
            crawl.commit(with_parts(crawl.snapshot, merged), round_number=number)


def _seeded(counters: dict[str, int]) -> Iterator[str]:
    return (name[5:] for name in counters if name.startswith("seed ") and name != "seed hosts")


def batches(crawl: LeasedCrawl, urls: int) -> Iterator[range]:
    known = sum(entry.records for entry in crawl.snapshot.files_of(WEBDB))
    for start in range(0, urls - known, ADDED_AT_ONCE):
        yield range(start, min(start + ADDED_AT_ONCE, urls - known))


def one_page(folder: Path, store: LocalStore) -> OneRun:
    """Fetch one page, and return what that has cost."""
    before, rows = file_sizes(store), len(history(store))
    written = bytes_written()
    times = measured(lambda: crawlctl(folder, store.root, "run", "--pages", "1"))
    written = bytes_written() - written
    cpu: defaultdict[str, float] = defaultdict(float, all=times.cpu)
    for row in history(store)[rows:]:
        for step, cost in row.steps.items():
            cpu[step] += cost.cpu
    cpu["start"] = times.cpu - sum(seconds for step, seconds in cpu.items() if step != "all")
    kinds: Counter[str] = Counter()
    for name, size in file_sizes(store).items():
        if name not in before:
            kinds[name.partition("/")[0]] += size
            kinds["files"] += 1
    cpu["dictionary"] = dictionary_cpu(store)
    return OneRun(cpu, written, kinds)


def dictionary_cpu(store: LocalStore) -> float:
    """Return the CPU-seconds that it takes to write the dictionary; the files are removed again."""
    snapshot, before = load_current(store), file_sizes(store)
    seconds = measured(lambda: write_all(store, snapshot.files, snapshot.round)).cpu
    store.delete(file_sizes(store).keys() - before.keys())
    return seconds


def crawlctl(folder: Path, store: Path, *words: str) -> str:
    command = [sys.executable, "-m", "crawlctl.cli", *words, "--store", str(store)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=1800)
    if done.returncode:
        raise SystemExit(f"{command} failed:\n{done.stderr}")
    return done.stdout


def history(store: LocalStore) -> list[HistoryRow]:
    return read_history(store, load_current(store).files)


def documents_of(store: LocalStore) -> int:
    return summary_of(load_current(store).files)["documents"]


def file_sizes(store: LocalStore) -> dict[str, int]:
    return {file.name: file.bytes for file in store.list()}


def bytes_written() -> int:
    """Return the bytes that this process and its ended children have written to disks so far."""
    lines: Sequence[str] = Path("/proc/self/io").read_text(encoding="ascii").splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("write_bytes")))


if __name__ == "__main__":
    main()
