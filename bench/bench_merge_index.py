"""Merging runs into a segment: time per word, and memory.

    python bench/bench_merge_index.py [--documents N] [--words W] [--runs R] [--memory SIZE]

N documents of W words, drawn from 300,000 words with Zipf's frequencies, are written as R runs. The runs are
merged into a segment; then the segment is merged with a run in which a tenth of the pages are fetched again.
Each merge runs in its own process. Its memory is the maximum above that of a Python which has only imported
the merge.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from clock import cpu_seconds

from crawlctl.pipeline.config.settings import IndexSettings
from crawlctl.pipeline.config.units import Size
from crawlctl.pipeline.index.building.builder import RunBuilder
from crawlctl.pipeline.index.merge.dictionary_shards import write_all
from crawlctl.pipeline.index.merge.liveness import PageState
from crawlctl.pipeline.index.merge.partition import MergeTask, merge_partition
from crawlctl.pipeline.index.runs.run_files import RUN_KINDS
from crawlctl.pipeline.index.segment.segment_files import TERMS_DATA, segments_of
from crawlctl.pipeline.index.segment.stored_documents import Document
from crawlctl.pipeline.index.statistics import totals_of
from crawlctl.pipeline.state.manifest import FileEntry
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.urls.hosts import webdb_key

if TYPE_CHECKING:
    from collections.abc import Iterator


VOCABULARY = 300_000
HOSTS = 100
ANCHORS = 3  # of a page
MEGABYTE = 1 << 20
LATER = 1000


def url_of(number: int) -> str:
    return f"https://host{number % HOSTS}.example/documents/{number:08d}"


@cache
def words() -> np.ndarray:
    """Return different words of three to eight letters; frequent words are shorter."""
    letters = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz", np.uint8)
    chance = np.random.default_rng(0)
    sizes = 3 + (np.arange(VOCABULARY) * 6) // VOCABULARY
    drawn = chance.choice(letters, (VOCABULARY, 8)).tobytes().decode()
    return np.array([drawn[8 * number : 8 * number + size] for number, size in enumerate(sizes.tolist())])


def documents(first: int, after: int, length: int, fetched_at: int) -> Iterator[Document]:
    chance = np.random.default_rng(first)
    vocabulary = words()
    shares = 1 / (np.arange(VOCABULARY) + 3)
    bounds = np.cumsum(shares / shares.sum())
    for number in range(first, after):
        text = vocabulary[np.searchsorted(bounds, chance.random(length))]
        yield Document(
            url_of(number),
            title=" ".join(text[:4]),
            text=" ".join(text),
            language="en",
            links=((url_of(number + 1), "", False),),
            fetched_at=fetched_at,
            sketch=bytes(292),
        )


def write_runs(
    store: LocalStore, length: int, count: int, *, runs: int, fetched_at: int = 1
) -> list[FileEntry]:
    entries: list[FileEntry] = []
    bounds = np.linspace(0, count, runs + 1).astype(int).tolist()
    for number, (start, stop) in enumerate(pairwise(bounds), fetched_at):
        builder = RunBuilder()
        for document in documents(start, stop, length, number):
            builder.add(document)
        entries += builder.write(store, partition=0, round_number=number)
    return entries


def pages(count: int) -> Iterator[PageState]:
    for number in sorted(range(count), key=lambda number: webdb_key(url_of(number))):
        anchors = tuple(f"name {index} of {number % 1000}" for index in range(ANCHORS))
        yield PageState(webdb_key(url_of(number)), True, anchors)


def merge_here(folder: Path, count: int, memory: int) -> None:
    """Merge the files that files.json in a folder lists, print the figures, and list the new files there."""
    store = LocalStore(folder / "crawl")
    every = list(pages(count))
    files = msgspec.json.decode((folder / "files.json").read_bytes(), type=list[FileEntry])
    settings = IndexSettings(memory=Size(memory))
    task = MergeTask(0, LATER, settings, totals_of(files), frontier=0)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    started = cpu_seconds()
    merged = merge_partition(store, task, files, every)
    seconds = cpu_seconds() - started
    terms_started = cpu_seconds()
    dictionary = write_all(store, merged.files, LATER)
    terms_seconds = cpu_seconds() - terms_started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    segments = segments_of(merged.files)
    positions = sum(segment.entries[TERMS_DATA].counters["positions"] for segment in segments)
    print(
        f"{merged.written:10,} documents in {len(segments)} segments, {positions:,} words: "
        f"{seconds / positions * 1e9:.0f} ns a word, {merged.written / seconds:,.0f} documents/s; "
        f"dictionary of {dictionary[0].records:,} terms {terms_seconds:.1f} s; {peak - before} MB"
    )
    (folder / "files.json").write_bytes(msgspec.json.encode(merged.files))


def in_its_own_process(folder: Path, count: int, memory: int) -> None:
    subprocess.run(
        [
            sys.executable,
            __file__,
            "--merge",
            str(folder),
            "--documents",
            str(count),
            "--memory",
            str(memory),
        ],
        check=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=50_000)
    parser.add_argument("--words", type=int, default=400)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--memory", type=Size.parse, default=Size(512 * MEGABYTE))
    parser.add_argument("--merge", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.merge:
        merge_here(chosen.merge, chosen.documents, int(chosen.memory))
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        store = LocalStore(folder / "crawl")
        entries = write_runs(store, chosen.words, chosen.documents, runs=chosen.runs)
        (folder / "files.json").write_bytes(msgspec.json.encode(entries))
        in_its_own_process(folder, chosen.documents, int(chosen.memory))
        entries = msgspec.json.decode((folder / "files.json").read_bytes(), type=list[FileEntry])
        assert not any(entry.kind in RUN_KINDS for entry in entries)
        entries += write_runs(store, chosen.words, chosen.documents // 10, runs=1, fetched_at=LATER)
        (folder / "files.json").write_bytes(msgspec.json.encode(entries))
        in_its_own_process(folder, chosen.documents, int(chosen.memory))


if __name__ == "__main__":
    main()
