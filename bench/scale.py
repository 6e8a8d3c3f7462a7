"""Estimates the cost of a large crawl from the figures of a small one, for docs/scale.md.

    python bench/scale.py --store crawl

Bytes and counts per page are read from the snapshot of a crawl (docweb, 17,465 pages). CPU times are those of
bench/README.md. How often merges write something again is what the merge policies of the crawl say
(merge_amounts.py). All else is an assumption; the assumptions are listed below.

The first table is a first crawl of ROUNDS rounds. The second one is the mean of a year of daily rounds after
it, each of which visits DAILY of the pages again.
"""

from __future__ import annotations

import argparse
from collections import Counter
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from merge_amounts import MadeUpCrawl, Round, Written, total

from crawlctl.pipeline.config.settings import Config
from crawlctl.pipeline.config.units import DAY
from crawlctl.pipeline.index.statistics import totals_of
from crawlctl.pipeline.rank.graph.stored_graph import BYTES_PER_ARC, BYTES_PER_NODE
from crawlctl.pipeline.state.snapshots import load_current
from crawlctl.pipeline.store.open import open_store
from crawlctl.pipeline.webdb.merge.update import MOST_LOOK_UPS, READ_PER_LOOK_UP

if TYPE_CHECKING:
    from collections.abc import Iterator

# Measured in CPU-seconds, by the benchmark named or on the crawl of docweb.
FETCH_SECONDS = 81.1 / 17_465  # a page: fetch, parse, archive, index run (the fetch step of its 7 rounds)
NOT_MODIFIED_SECONDS = 25 / 19_314  # an answer 304, all steps (README.md: the second crawl of docweb)
ENTRY_SECONDS = 1 / 200_000  # an entry of a WebDB part that a merge reads whole (bench_merge_webdb.py)
# An entry that a merge looks up: 15e-6 (bench_extract.py, 12,000 to 144,000 of 600,000), and 11e-6 for its
# shuffle (bench_merge_webdb.py). And an entry of the blocks that are unpacked for it, soon of all blocks.
LOOK_UP_SECONDS, UNPACKED_SECONDS = 26e-6, 0.7e-6
ROW_SECONDS = 6.1e-6  # an entry that a merge of layers writes again, with its extract (bench_extract.py)
DUE_SECONDS = 340e-6  # a URL that is selected by the extract (bench_extract.py)
OPEN_SECONDS = 6e-9  # a URL whose part is opened by its extract (bench_extract.py)
MERGE_SECONDS = 207e-6  # a document in an index merge (4.66 for `crawlctl merge --full`, less the dictionary)
TERM_SECONDS = 1.34e-6  # a term of a segment that is written into the dictionary (0.75 for 559,401)
GROUP_SECONDS = 46e-6  # a document, where all are compared for near duplicates, in a shard per partition
# A later grouping: a new document; a document of a new segment; a document whose keys are looked through; and
# a new document and a partition that is told its keys. (By hand on docweb; README.md.)
COMPARE_SECONDS, NOTE_SECONDS, LOOK_SECONDS, TELL_SECONDS = 160e-6, 0.7e-6, 0.3e-6, 0.33e-6
LINK_SECONDS = 3.1 / 1.79e6  # a link, ranking in several tasks: both solutions, graph and publication
NODE_SECONDS = 28.0 / 5e6  # a URL in a ranking (bench_growth.py: 28.7 on 5 M URLs, less the links)
LINE_SECONDS, TASK_LINE_SECONDS = 19e-6, 3e-6  # a line of the snapshot, driver and task (bench_driver.py)
SNAPSHOT_LINE_BYTES = 235
FILES_A_ROUND = 40  # that a partition writes
LINKED_A_VISIT = 26  # different URLs that a page links to, of 175 pages of docweb at random
CHANGED_A_VISIT = 1.7  # rows of the WebDB that a visit changes

# Assumed.
ENTRIES_A_PAGE = 5  # known URLs per fetched page; docweb, which was crawled to its end, has 1.3
ROUNDS = 100  # so round.max_pages is a hundredth of the crawl
HEAPS = 0.6  # terms grow with this power of the documents
POLITE_SECONDS = 1.5  # from one request to a host to the next: five times an answer of 0.3 s
OVERHEAD_SECONDS = 300  # a round on EMR beyond its work: steps, containers, stragglers
BUSY = 0.7  # of the cores of a cluster
DAILY = 0.01  # of the pages are visited again each day
DAYS = 364

# List prices in US dollars as of 2025-01, from memory, to be checked: see conf/emr-prices.yaml for the first.
NODE_CORES, NODE_HOUR = 4, 0.4 * 0.154 + 0.0385 + 0.005 + 64 * 0.08 / 730  # m6g.xlarge, spot, address, disk
STORED_GB_MONTH, THOUSAND_PUTS, THOUSAND_GETS = 0.023, 0.005, 0.0004  # S3 Standard

PART, WINDOW = 8 << 20, 4 << 20  # bytes of one PUT of a long file, and of one GET


class Size(NamedTuple):
    """The size of a crawl to estimate."""

    pages: int
    partitions: int
    nodes: int

    @property
    def entries(self) -> int:
        """The URLs that the crawl knows."""
        return self.pages * ENTRIES_A_PAGE

    @property
    def cores(self) -> int:
        """The cores of all nodes."""
        return NODE_CORES * self.nodes


SIZES = (Size(10**7, 64, 4), Size(10**8, 256, 16), Size(10**9, 1024, 64))


class Small(NamedTuple):
    """Figures of a small crawl per page, in bytes unless stated otherwise."""

    pages: int
    archive: float
    index: float  # documents, postings, terms, links, columns, sketches
    entry: float  # an entry of the WebDB, with its part of the extract
    arcs: float  # links per page
    graph: float
    words: float  # words per page
    terms: int
    term_infos: float  # terms in segments, per page
    term_info: float  # bytes of one of them in the dictionary
    lines: float  # files of the snapshot per partition, without the archive

    def terms_of(self, documents: float) -> float:
        """Return how many terms a segment of some documents has."""
        return float(self.terms * (documents / self.pages) ** HEAPS)


def main() -> None:
    """Print what was measured, then one column per size."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--store", default="crawl", help="a crawl that was indexed and ranked")
    small = measured(parser.parse_args().store)
    for name, value in small._asdict().items():
        print(f"{name:<24}{value:>14,.1f}")
    print("\na first crawl")
    show([first_crawl(small, size) for size in SIZES])
    for changed in (1.0, 0.2):
        print(f"\na day: {DAILY:.0%} of the pages are visited again, {changed:.0%} of them have changed")
        show([a_day(small, size, changed) for size in SIZES])


def show(columns: list[dict[str, float]]) -> None:
    """Print a table with a column per size."""
    for name in columns[0]:
        print(f"{name:<40}" + "".join(f"{column[name]:>16,.4g}" for column in columns))


def measured(uri: str) -> Small:
    """Return the figures per page of the crawl in a store."""
    snapshot = load_current(open_store(uri))
    bytes_of, records_of, counts = Counter[str](), Counter[str](), Counter[str]()
    for file in snapshot.files:
        bytes_of[file.kind] += file.bytes
        records_of[file.kind] += file.records
        counts.update(file.counters)
    pages = counts["fetched"]
    term_infos = sum(
        f.records for f in snapshot.files if f.kind == "segments" and f.name.endswith("terms/data")
    )
    lines = sum(file.kind != "pages" for file in snapshot.files)
    return Small(
        pages,
        bytes_of["pages"] / pages,
        bytes_of["segments"] / pages,
        bytes_of["webdb"] / records_of["webdb"],
        counts["arcs"] / pages,
        bytes_of["graph"] / pages,
        sum(totals_of(snapshot.files).averages),
        records_of["dictionary"],
        term_infos / pages,
        bytes_of["dictionary"] / term_infos,
        lines / snapshot.partitions,
    )


class Grown(NamedTuple):
    """A crawl after its first rounds, and what merges have written in them."""

    crawl: MadeUpCrawl
    written: Written


def grown(small: Small, size: Size) -> Grown:
    """Return a crawl after ROUNDS rounds that have fetched all pages."""
    crawl = MadeUpCrawl(size.partitions, small.words, small.terms_of)
    pages = size.pages / size.partitions / ROUNDS
    one = Round(pages * (ENTRIES_A_PAGE + CHANGED_A_VISIT), pages)
    written = total([crawl.run(one) for _ in range(ROUNDS)])
    crawl.layers = [size.entries / size.partitions]  # as the first ranking writes it
    return Grown(crawl, written)


class Bytes(NamedTuple):
    """What a crawl holds at its end."""

    archive: float
    index: float
    dictionary: float
    webdb: float
    graph: float


def first_crawl(small: Small, size: Size) -> dict[str, float]:
    """Return the estimates for a first crawl."""
    pages, partitions, nodes = size
    crawl, written = grown(small, size)
    terms = partitions * sum(small.terms_of(segment.documents) for segment in crawl.segments.values())
    held = Bytes(
        pages * small.archive,
        pages * small.index,
        terms * small.term_info,
        size.entries * small.entry,
        pages * small.graph,
    )
    cpu = first_work(small, size, written)
    hours = (sum(cpu.values()) / (size.cores * BUSY) + ROUNDS * OVERHEAD_SECONDS) / 3600
    lines = partitions * (small.lines + ROUNDS)
    return {
        "pages": pages,
        "partitions": partitions,
        "pages a round": pages / ROUNDS,
        "map tasks of the crawl, 3 jobs": 3 * ROUNDS * partitions,
        "archive, GB": held.archive / 1e9,
        "index, GB": held.index / 1e9,
        "dictionary, GB": held.dictionary / 1e9,
        "WebDB, GB": held.webdb / 1e9,
        "stored, GB": sum(held) / 1e9,
        "segments of a partition": len(crawl.segments),
        "times a document is written": written.documents / (pages / partitions),
        "times the dictionary is written": written.terms / terms,
        **in_hours(cpu),
        "vCPU": size.cores,
        "hours": hours,
        "pages a second": pages / hours / 3600,
        "hosts always busy": pages / hours / 3600 * POLITE_SECONDS,
        "cluster, $": hours * (nodes + 1) * NODE_HOUR,
        "memory to rank, GB": rank_memory(small, size) / 1e9,
        "snapshot, lines": lines,
        "snapshot, MB": lines * SNAPSHOT_LINE_BYTES / 1e6,
        **requests(small, size, held, written),
        "storage, $ a month": sum(held) / 1e9 * STORED_GB_MONTH,
    }


def rank_memory(small: Small, size: Size) -> float:
    """Return the bytes of memory in which one task could rank."""
    return size.pages * small.arcs * BYTES_PER_ARC + size.entries * BYTES_PER_NODE


def first_work(small: Small, size: Size, written: Written) -> dict[str, float]:
    """Return the CPU-seconds of a first crawl by step."""
    partitions = size.partitions
    return {
        "fetch": size.pages * FETCH_SECONDS,
        "selection": size.pages * DUE_SECONDS,
        "WebDB, read or looked up": partitions * sum(webdb_of_rounds(size)),
        "WebDB, layers merged": partitions * written.rows * ROW_SECONDS,
        "index merges": partitions * written.documents * MERGE_SECONDS,
        "dictionary": written.terms * TERM_SECONDS,
        "near duplicates, once": size.pages * GROUP_SECONDS,
        "ranking, once": ranking(small, size),
        "snapshots, driver": ROUNDS * partitions * (small.lines + ROUNDS / 2) * LINE_SECONDS,
        "snapshots, tasks": ROUNDS * partitions * read_by_tasks(small, size, ROUNDS / 2),
    }


def webdb_of_rounds(size: Size) -> Iterator[float]:
    """Yield the CPU-seconds that the merge of a partition takes in each round of a first crawl."""
    touched = size.pages / size.partitions / ROUNDS * (1 + LINKED_A_VISIT)
    for number in range(ROUNDS):
        yield webdb_merge(size.entries / size.partitions * (number + 0.5) / ROUNDS, touched)


def webdb_merge(entries: float, touched: float) -> float:
    """Return the CPU-seconds of a merge that touches some entries of a part."""
    if is_read_whole(entries, touched):
        return entries * ENTRY_SECONDS
    return entries * UNPACKED_SECONDS + touched * LOOK_UP_SECONDS


def is_read_whole(entries: float, touched: float) -> bool:
    """Return whether so many entries of a part are touched that a merge reads it from end to end."""
    return touched > min(entries / READ_PER_LOOK_UP, MOST_LOOK_UPS)


def ranking(small: Small, size: Size) -> float:
    """Return the CPU-seconds of a ranking."""
    return size.pages * small.arcs * LINK_SECONDS + size.entries * NODE_SECONDS


def grouping(size: Size, changed: float, written: float) -> float:
    """Return the CPU-seconds of a grouping; `changed` and `written` documents are those of a partition."""
    told = size.partitions * changed * TELL_SECONDS
    each = changed * COMPARE_SECONDS + written * NOTE_SECONDS + told
    return size.partitions * each + size.pages * LOOK_SECONDS


def read_by_tasks(small: Small, size: Size, rounds: float) -> float:
    """Return the CPU-seconds in which the two tasks of a partition read the snapshot after some rounds."""
    return 2 * size.partitions * (small.lines + rounds) * TASK_LINE_SECONDS


def in_hours(cpu: dict[str, float]) -> dict[str, float]:
    """Return CPU-seconds by step as hours, and their sum."""
    named = {f"CPU h, {name}": seconds / 3600 for name, seconds in cpu.items()}
    return {**named, "CPU h, all": sum(named.values())}


def requests(small: Small, size: Size, held: Bytes, written: Written) -> dict[str, float]:
    """Return the requests of a first crawl to S3."""
    partitions = size.partitions
    merged = partitions * (written.documents * small.index + written.rows * small.entry)
    merged += written.terms * small.term_info
    files = ROUNDS * partitions * FILES_A_ROUND
    snapshots = ROUNDS * 2 * partitions * partitions * (small.lines + ROUNDS / 2) * SNAPSHOT_LINE_BYTES
    passes = 2 * ROUNDS * held.webdb / 2  # a review of all pages, and the join
    puts = (held.archive + merged) / PART + files
    gets = (merged + passes + snapshots) / WINDOW + files
    return {
        "PUT, thousands": puts / 1e3,
        "GET, thousands": gets / 1e3,
        "requests, $": puts / 1e3 * THOUSAND_PUTS + gets / 1e3 * THOUSAND_GETS,
    }


def a_day(small: Small, size: Size, changed: float) -> dict[str, float]:
    """Return the estimates for a day of the year after the first crawl, in which `changed` is a share."""
    settings = Config().rank
    crawl, first = grown(small, size)
    visits = size.pages * DAILY / size.partitions
    since = min(ceil(settings.after / DAY), ceil(settings.share / DAILY / changed))  # days between rankings
    rows = visits * (changed * CHANGED_A_VISIT + 1 - changed)
    one = Round(rows, visits * changed, visits * changed)
    days = [crawl.run(one, is_ranked=day % since == since - 1) for day in range(DAYS)]
    written = Written(*(amount / DAYS for amount in total(days)))
    # outcomes, linked URLs, and the pages that the round before has changed
    touched = visits * (1 + changed * (LINKED_A_VISIT + 1))
    entries = size.entries / size.partitions
    lines = size.partitions * (small.lines + ROUNDS + DAYS / 2)
    cpu = {
        "fetch": size.partitions * visits * (changed * FETCH_SECONDS + (1 - changed) * NOT_MODIFIED_SECONDS),
        "selection": size.partitions * visits * DUE_SECONDS,
        "extracts opened": 2 * size.entries * OPEN_SECONDS,
        "WebDB, read or looked up": size.partitions * webdb_merge(entries, touched),
        "WebDB, layers merged": size.partitions * (written.rows + rows) * ROW_SECONDS,
        "index merges": size.partitions * written.documents * MERGE_SECONDS,
        "dictionary": written.terms * TERM_SECONDS,
        "near duplicates": grouping(size, visits * changed, written.documents),
        "ranking": ranking(small, size) / since,
        "snapshots, driver": lines * LINE_SECONDS,
        "snapshots, tasks": size.partitions * read_by_tasks(small, size, ROUNDS + DAYS / 2),
    }
    everything = sum(first_work(small, size, first).values())
    terms = size.partitions * sum(small.terms_of(one.documents) for one in crawl.segments.values())
    return {
        "visits": size.pages * DAILY,
        "URLs touched in a partition": touched,
        "the WebDB is read whole": float(is_read_whole(entries, touched)),
        "times a changed document is written": written.documents / (visits * changed),
        "share of the dictionary written": written.terms / terms,
        "days between rankings": since,
        "snapshot after a year, lines": size.partitions * (small.lines + ROUNDS + DAYS),
        **in_hours(cpu),
        "share of the first crawl, %": 100 * sum(cpu.values()) / everything,
    }


if __name__ == "__main__":
    main()
