"""Estimates the cost of a large crawl from the figures of a small one, for docs/scale.md.

    python bench/scale.py --store crawl

Bytes and counts per page are read from the snapshot of a crawl (docweb, 17,339 pages). CPU times are those of
bench/README.md. All else is an assumption; the assumptions are listed below.
"""

from __future__ import annotations

import argparse
from collections import Counter
from math import log2
from typing import NamedTuple

from crawlctl.pipeline.rank.graph.stored_graph import BYTES_PER_ARC, BYTES_PER_NODE
from crawlctl.pipeline.state.snapshots import load_current
from crawlctl.pipeline.store.open import open_store

# Measured, by the benchmark named.
ROUND_SECONDS = 7.9e-3  # CPU per page: fetch, parse, archive, index run, WebDB (bench_docweb.py)
ENTRY_SECONDS = 1 / 243_000  # CPU per entry in a WebDB merge (bench_merge_webdb.py)
MERGE_SECONDS = 1 / 4_993  # CPU per document and merge (bench_index.py)
DICTIONARY_SECONDS = 1 / 19_613  # CPU per document, each time the dictionary is written (bench_index.py)
LINK_SECONDS = 7.4 / 3e6  # CPU per link and ranking in parts (bench_rank.py --uk)
SNAPSHOT_LINE_BYTES = 240

# Assumed.
ENTRIES_A_PAGE = 5  # known URLs per fetched page; docweb, which was crawled to its end, has 1.3
ROUNDS = 100  # so round.max_pages is a hundredth of the crawl
REWRITES = log2(ROUNDS)  # times that the tiered merges write a document
HEAPS = 0.6  # terms grow with this power of the documents
POLITE_SECONDS = 1.5  # from one request to a host to the next: five times an answer of 0.3 s
OVERHEAD_SECONDS = 300  # a round on EMR beyond its work: steps, containers, stragglers
BUSY = 0.7  # of the cores of a cluster
FILES_A_TASK = 12  # that a partition writes in a round

# List prices in US dollars as of 2025-01, from memory, to be checked: see conf/emr-prices.yaml for the first.
NODE_CORES, NODE_HOUR = 4, 0.4 * 0.154 + 0.0385 + 0.005 + 64 * 0.08 / 730  # m6g.xlarge, spot, address, disk
STORED_GB_MONTH, THOUSAND_PUTS, THOUSAND_GETS = 0.023, 0.005, 0.0004  # S3 Standard

PART, WINDOW = 8 << 20, 4 << 20  # bytes of one PUT of a long file, and of one GET


class Size(NamedTuple):
    """The size of a crawl to estimate."""

    pages: int
    partitions: int
    nodes: int


SIZES = (Size(10**7, 64, 4), Size(10**8, 256, 16), Size(10**9, 1024, 64))


class Small(NamedTuple):
    """Figures of a small crawl per page, in bytes unless stated otherwise."""

    pages: int
    archive: float
    index: float  # documents, postings, terms, links, columns, sketches
    entry: float  # an entry of the WebDB
    arcs: float  # links per page
    graph: float
    terms: int
    term_infos: float  # terms in segments, per page
    term_info: float  # bytes of one of them in the dictionary
    lines: float  # files of the snapshot per partition, without the archive


def main() -> None:
    """Print what was measured, then one column per size."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--store", default="crawl", help="a crawl that was indexed and ranked")
    small = measured(parser.parse_args().store)
    for name, value in small._asdict().items():
        print(f"{name:<24}{value:>14,.1f}")
    print()
    columns = [estimated(small, size) for size in SIZES]
    for name in columns[0]:
        print(f"{name:<34}" + "".join(f"{column[name]:>16,.4g}" for column in columns))


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
        records_of["dictionary"],
        term_infos / pages,
        bytes_of["dictionary"] / term_infos,
        lines / snapshot.partitions,
    )


class Bytes(NamedTuple):
    """What a crawl holds at its end."""

    archive: float
    index: float
    dictionary: float
    webdb: float
    graph: float


def estimated(small: Small, size: Size) -> dict[str, float]:
    """Return the estimates for a crawl."""
    pages, partitions, _ = size
    entries = pages * ENTRIES_A_PAGE
    term_infos = partitions * small.terms * (pages / partitions / small.pages) ** HEAPS
    held = Bytes(
        pages * small.archive,
        pages * small.index,
        term_infos * small.term_info,
        entries * small.entry,
        pages * small.graph,
    )
    rank_memory = pages * small.arcs * BYTES_PER_ARC + entries * BYTES_PER_NODE
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
        **work(small, size, term_infos),
        "memory to rank, GB": rank_memory / 1e9,
        "snapshot, lines": lines,
        "snapshot, MB": lines * SNAPSHOT_LINE_BYTES / 1e6,
        **requests(size, held),
        "storage, $ a month": sum(held) / 1e9 * STORED_GB_MONTH,
    }


def work(small: Small, size: Size, term_infos: float) -> dict[str, float]:
    """Return the CPU time of a crawl, and the time that a cluster needs for it."""
    pages, _, nodes = size
    cpu = {
        "rounds": pages * ROUND_SECONDS,
        "WebDB passes": ROUNDS * pages * ENTRIES_A_PAGE / 2 * ENTRY_SECONDS,
        "index merges": pages * REWRITES * MERGE_SECONDS,
        "dictionaries": ROUNDS * term_infos / 2 * DICTIONARY_SECONDS / small.term_infos,
        "one ranking": pages * small.arcs * LINK_SECONDS,
    }
    cores = NODE_CORES * nodes
    hours = (sum(cpu.values()) / (cores * BUSY) + ROUNDS * OVERHEAD_SECONDS) / 3600
    return {
        **{f"CPU h, {name}": seconds / 3600 for name, seconds in cpu.items()},
        "vCPU": cores,
        "hours": hours,
        "pages a second": pages / hours / 3600,
        "hosts always busy": pages / hours / 3600 * POLITE_SECONDS,
        "cluster, $": hours * (nodes * NODE_HOUR + NODE_HOUR),
    }


def requests(size: Size, held: Bytes) -> dict[str, float]:
    """Return the requests of a crawl to S3; all files but the archive are written several times."""
    rewritten = REWRITES * held.index + ROUNDS * (held.webdb + held.dictionary) / 2
    files = ROUNDS * size.partitions * FILES_A_TASK
    puts = (held.archive + rewritten) / PART + 3 * files
    gets = rewritten / WINDOW + 3 * files
    return {
        "PUT, thousands": puts / 1e3,
        "GET, thousands": gets / 1e3,
        "requests, $": puts / 1e3 * THOUSAND_PUTS + gets / 1e3 * THOUSAND_GETS,
    }


if __name__ == "__main__":
    main()
