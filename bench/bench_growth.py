"""A run that fetches one page or a few, on crawls of several sizes: CPU time by step, and bytes written.

    python bench/bench_growth.py --web FOLDER [--pages 3000] [--documents 0] [--urls 0 1000000] [--runs 3]
                                 [--fetch 1] [--cron RUNS PAGES] [--keep FOLDER]

The web is docweb (see bench_docweb.py). A store is made by a crawl of --pages pages, with ranks and duplicate
groups at its end. Then copies of these pages are added until it has --documents documents: on other hosts,
each with a few other words, as runs of a round with their outcomes. 0 adds none. Then made-up URLs on the
same hosts are added until it knows --urls URLs: as discoveries, by the WebDB merge of a round. 0 adds none.
On each store, `crawlctl run --pages 1` fetches one new page, --runs times; with --fetch another number of
pages. With --cron, a new crawl is run RUNS times instead, PAGES pages each time. With --keep, stores are kept
in that folder and used again.

CPU is that of the process tree, start-up included. Steps are those of the crawl's history; `start` is what is
in no step: the interpreter, imports, the end of the command. `dictionary` is what it would cost to write the
whole dictionary again, in place of the layer that a run writes. Bytes are what Linux counts as written by the
process tree, and, by kind, the files of the store that are new after the run. The first line is the peer: the
same run on a store of one page.
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
from itertools import islice
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from bench_docweb import CRAWL_YAML, DOCWEB, serving
from clock import keep_byte_code, measured

from crawlctl.pipeline.config.settings import Config
from crawlctl.pipeline.crawl.history.history_files import read_history
from crawlctl.pipeline.crawl.indexing import IndexStep, with_groups
from crawlctl.pipeline.crawl.leased_crawl import leased_crawl
from crawlctl.pipeline.crawl.round_steps import kept_files, merge_webdb
from crawlctl.pipeline.crawl.work import Work
from crawlctl.pipeline.formats.sequencefile.sequencefile import SequenceFileReader
from crawlctl.pipeline.index.building.builder import RunBuilder
from crawlctl.pipeline.index.merge.dictionary_shards import write_all
from crawlctl.pipeline.index.segment.segment_files import DOCS_DATA, segments_of
from crawlctl.pipeline.index.segment.stored_documents import Document, decode_record
from crawlctl.pipeline.index.statistics import summary_of
from crawlctl.pipeline.progress.display import Display
from crawlctl.pipeline.state.kinds import FRESH, OUTCOMES, WEBDB
from crawlctl.pipeline.state.snapshots import load_current
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.text.likeness.fingerprint import fingerprint
from crawlctl.pipeline.urls.hosts import host_of, partition_of, stable_hash, webdb_key
from crawlctl.pipeline.webdb.part import with_parts
from crawlctl.pipeline.webdb.records import Fresh, Kind, Outcome, encode
from crawlctl.pipeline.webdb.row_files import write_rows, write_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crawlctl.pipeline.crawl.history.history_row import HistoryRow
    from crawlctl.pipeline.crawl.leased_crawl import LeasedCrawl
    from crawlctl.pipeline.index.segment.stored_documents import DocRecord
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot

STEPS = ("start", "other", "fetch", "webdb", "index", "dictionary", "rank", "groups", "all")
ADDED_AT_ONCE = 250_000  # made-up URLs per merge
MAX_EDITIONS = 100


class Size(NamedTuple):
    """How large a store is."""

    pages: int
    documents: int
    urls: int


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
    parser.add_argument("--documents", type=int, default=0, help="documents of each store, made-up ones too")
    parser.add_argument(
        "--cron", type=int, nargs=2, metavar=("RUNS", "PAGES"), help="measure a crawl by runs"
    )
    parser.add_argument("--urls", type=int, nargs="+", default=[0], help="known URLs of each store")
    parser.add_argument("--runs", type=int, default=3, help="runs of one page on each store")
    parser.add_argument("--fetch", type=int, default=1, help="pages that each run fetches")
    parser.add_argument("--keep", type=Path, help="a folder for the stores, which are used again")
    arguments = parser.parse_args()
    keep_byte_code()
    with tempfile.TemporaryDirectory() as name:
        folder, stores = Path(name), arguments.keep or Path(name)
        stores.mkdir(parents=True, exist_ok=True)
        with serving(folder, arguments.docweb, arguments.web) as proxy:
            settings = CRAWL_YAML.replace("index: {{merge_every: 1000}}\nrank: {{every: null}}\n", "")
            (folder / "crawl.yaml").write_text(settings.format(proxy=proxy), encoding="ascii")
            print(f"{'documents':>9}{'URLs':>11}" + "".join(f"{step:>11}" for step in STEPS), flush=True)
            if arguments.cron:
                cron_runs(folder, *arguments.cron)
                return
            sizes = [Size(arguments.pages, arguments.documents, urls) for urls in arguments.urls]
            for size in (Size(1, 0, 0), *sizes):
                compare(folder, made_store(folder, stores, size), arguments.runs, arguments.fetch)


def cron_runs(folder: Path, runs: int, pages: int) -> None:
    """Run a new crawl again and again, and print what each run has cost."""
    store = LocalStore(folder / "cron")
    crawlctl(folder, store.root, "run", "--seed", "seeds.txt", "--pages", "22")
    costs = []
    for _ in range(runs):
        costs.append(one_run(folder, store, pages))
        urls = sum(entry.records for entry in load_current(store).files_of(WEBDB))
        figures = "".join(f"{costs[-1].cpu[step]:11.2f}" for step in STEPS)
        print(f"{documents_of(store):9,}{urls:11,}{figures}  {costs[-1].written / 1e6:.1f} MB", flush=True)
    print(f"the last run costs {costs[-1].cpu['all'] / costs[1].cpu['all']:.2f} times the second")


def compare(folder: Path, made: Path, runs: int, pages: int) -> None:
    """Run on a copy of a store, and print the median and the spread of each figure."""
    store = LocalStore(folder / "copy")
    shutil.copytree(made, store.root)
    snapshot = load_current(store)
    size = f"{documents_of(store):9,}{sum(entry.records for entry in snapshot.files_of(WEBDB)):11,}"
    costs = [one_run(folder, store, pages) for _ in range(runs)]
    print(size + "".join(f"{median(cost.cpu[step] for cost in costs):11.2f}" for step in STEPS))
    for name, choose in (("least", min), ("most", max)):
        figures = "".join(f"{choose(cost.cpu[step] for cost in costs):11.2f}" for step in STEPS)
        print(f"{name:>20}{figures}")
    written = sorted(cost.written / 1e6 for cost in costs)
    kinds = ", ".join(f"{kind} {count / 1e6:.2f}" for kind, count in costs[-1].kinds.most_common(8))
    print(f"{'':9}MB written: {written[0]:.1f} to {written[-1]:.1f}; new files of the last run: {kinds}")
    print(f"{'':9}{costs[-1].kinds['files']} new files", flush=True)
    shutil.rmtree(store.root)


def made_store(folder: Path, stores: Path, size: Size) -> Path:
    """Return the folder of a store with at least so many pages, documents and URLs; make it if need be."""
    made = stores / f"growth-{size.pages}-{size.documents}-{size.urls}"
    if made.exists():
        return made
    draft = stores / f"draft-{os.getpid()}-{size.urls}-{size.documents}"
    if size.urls:
        shutil.copytree(made_store(folder, stores, size._replace(urls=0)), draft)
        fill(LocalStore(draft), size.urls)
        crawlctl(folder, draft, "merge")
        crawlctl(folder, draft, "rank")
    elif size.documents:
        shutil.copytree(made_store(folder, stores, size._replace(documents=0)), draft)
        copy_documents(LocalStore(draft), size.documents)
        crawlctl(folder, draft, "rank")
    else:
        crawl_pages(folder, draft, size.pages)
    draft.rename(made)
    return made


def copy_documents(store: LocalStore, count: int) -> None:
    """Add copies of the documents on other hosts until there are so many, as rounds do."""
    work = Work(store, Config(store=store.uri), Display())
    first = load_current(store)
    with leased_crawl(work, "bench") as crawl:
        for edition in range(1, MAX_EDITIONS):
            left = count - summary_of(crawl.snapshot.files)["documents"]
            if left <= 0:
                return
            number, partitions = crawl.next_round, crawl.snapshot.partitions
            copies = (copied(record, edition) for record in islice(records_in(store, first), left))
            runs = [*run_files(store, copies, partitions, number)]
            merged = merge_webdb(work, crawl.snapshot, tuple(runs))
            files = (*with_parts(crawl.snapshot, merged), *kept_files(runs))
            step = IndexStep(files, partitions, number)
            crawl.commit(with_groups(work, step.merged_files(step.run(work)), number), round_number=number)


def records_in(store: LocalStore, snapshot: Snapshot) -> Iterator[DocRecord]:
    for segment in segments_of(snapshot.files):
        if not segment.frontier:
            reader = SequenceFileReader(segment.open(store, DOCS_DATA))
            yield from (decode_record(value) for block in reader.blocks() for value in block.values)


def copied(record: DocRecord, edition: int) -> Document:
    """Return a document with the words of another, and some that only this edition has."""
    place = stable_hash(record.url) % 1_000_000
    text = f"{record.text}\n" + " ".join(f"edition{edition}x{(place + n) % 5000}" for n in range(20))
    prints = fingerprint(text)
    return Document(
        record.url.replace("://", f"://edition{edition}.", 1),
        record.title,
        record.headings,
        text,
        record.language,
        (),
        int(time.time()),
        0,
        prints.signature,
        prints.sketch,
        details=record.details,
    )


def run_files(
    store: LocalStore, documents: Iterable[Document], partitions: int, number: int
) -> Iterator[FileEntry]:
    """Write documents as the runs of a round, with their outcomes."""
    builders: defaultdict[int, RunBuilder] = defaultdict(RunBuilder)
    outcomes: defaultdict[int, dict[bytes, bytes]] = defaultdict(dict)
    for document in documents:
        partition = partition_of(host_of(document.url), partitions)
        builders[partition].add(document)
        outcome = Outcome(Kind.FETCHED, document.fetched_at, 200, document.signature, depth=3)
        outcomes[partition][webdb_key(document.url)] = encode(outcome)
        if builders[partition].full:
            yield from builders.pop(partition).write(store, partition=partition, round_number=number)
    for partition, builder in builders.items():
        yield from builder.write(store, partition=partition, round_number=number)
    for partition, rows in outcomes.items():
        yield write_rows(store, OUTCOMES, rows, partition=partition, round_number=number)


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


def one_run(folder: Path, store: LocalStore, pages: int) -> OneRun:
    """Fetch some pages, and return what that has cost."""
    before, rows = file_sizes(store), len(history(store))
    written = bytes_written()
    times = measured(lambda: crawlctl(folder, store.root, "run", "--pages", str(pages)))
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
