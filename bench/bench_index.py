"""Building a query-ready index: speed and size, compared with tantivy on the same pages.

    python bench/bench_index.py [FOLDER] [--documents N] [--runs R]

The pages are N random HTML files in FOLDER, each in a folder named after its host. Without FOLDER they are
the pages that pydoc renders of the standard library, copied under other URLs if N is greater. They are parsed
before the measurement. Both indexers stem English, keep positions of four fields, and store the text; links
and sketches, which tantivy does not have, are left out. Our time is that of the run that a fetch task saves,
the merge into a segment, and the dictionary. tantivy (`pip install tantivy`) indexes in one thread, and its
merges count. Both take turns; figures are CPU times of the best of R runs.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import io
import pkgutil
import pydoc
import random
import sys
import tempfile
import warnings
from itertools import cycle, islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from clock import best_of, cpu_seconds, measured
from msgspec.structs import replace

from crawlctl.pipeline.config.settings import IndexSettings, ParseSettings
from crawlctl.pipeline.formats.sequencefile.mapfile import MapFileReader
from crawlctl.pipeline.formats.sequencefile.writables import pack_long
from crawlctl.pipeline.index.building.builder import RunBuilder
from crawlctl.pipeline.index.merge.dictionary_shards import write_all
from crawlctl.pipeline.index.merge.liveness import PageState
from crawlctl.pipeline.index.merge.partition import MergeTask, merge_partition
from crawlctl.pipeline.index.runs.run_files import runs_of
from crawlctl.pipeline.index.segment.stored_documents import Document, decode_record
from crawlctl.pipeline.index.statistics import totals_of
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.text.documents.charset import decode
from crawlctl.pipeline.text.html.html import parse_html
from crawlctl.pipeline.urls.hosts import webdb_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crawlctl.pipeline.state.manifest import FileEntry

# These modules open windows or browsers, print, start servers, or have no documentation.
LEFT_OUT = {"antigravity", "idlelib", "lib2to3", "test", "this", "tkinter", "turtle", "turtledemo"}
TANTIVY_MEMORY = 256 << 20
TANTIVY_LISTS = (".idx", ".pos", ".term", ".fieldnorm")
LOOK_UPS = 200
STEPS = ("run", "merge", "dictionary")


class Built(NamedTuple):
    """The files of an index, and the CPU seconds of each step."""

    files: tuple[FileEntry, ...]
    seconds: tuple[float, ...]


def module_names() -> Iterator[str]:
    for name in sorted(sys.stdlib_module_names - LEFT_OUT):
        if not name.startswith("_"):
            yield name
            yield from submodules(name)


def submodules(package: str) -> Iterator[str]:
    spec = importlib.util.find_spec(package)
    for module in pkgutil.iter_modules(spec.submodule_search_locations or () if spec else ()):
        if not module.name.startswith("_"):
            yield f"{package}.{module.name}"


def page_of_module(name: str) -> Document | None:
    """Return pydoc's page of a module, or None if it cannot be imported here."""
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            html = pydoc.html.page(name, pydoc.html.docmodule(importlib.import_module(name)))
    except (Exception, SystemExit):
        return None
    return document_of(f"http://pydoc.example/{name}.html", html)


def document_of(url: str, html: str) -> Document:
    page = parse_html(html, url, ParseSettings())
    return Document(url, page.title, page.headings, page.text, "en", fetched_at=1)


def copied_modules(count: int) -> list[Document]:
    pages = [page for page in map(page_of_module, module_names()) if page is not None]
    copies = enumerate(islice(cycle(pages), count))
    return [replace(page, url=page.url.replace("pydoc", f"copy{number}")) for number, page in copies]


def pages_in(folder: Path, count: int) -> list[Document]:
    """Return at most `count` pages of a folder, in random order, as a crawl would bring them."""
    files = sorted(folder.rglob("*.html"))
    chosen = random.Random(1).sample(files, min(count, len(files)))
    return [
        document_of(f"http://{file.relative_to(folder).as_posix()}", decode(file.read_bytes()).text)
        for file in chosen
    ]


def build(store: LocalStore, documents: Sequence[Document]) -> Built:
    """Index documents and return the files and the CPU seconds of each step."""
    pages = sorted(PageState(webdb_key(document.url)) for document in documents)
    times = [cpu_seconds()]
    builder = RunBuilder()
    for document in documents:
        builder.add(document)
    run = builder.write(store, partition=0, round_number=1)
    times.append(cpu_seconds())
    task = MergeTask(0, 1, IndexSettings(), totals_of(run), frontier=0)
    merged = merge_partition(store, task, run, pages)
    times.append(cpu_seconds())
    dictionary = write_all(store, merged.files, 1)
    times.append(cpu_seconds())
    if merged.written != len(documents):
        sys.exit(f"only {merged.written} of {len(documents)} documents were indexed")
    seconds = tuple(after - before for before, after in pairwise(times))
    return Built((*run, *merged.files, *dictionary), seconds)


def build_tantivy(tantivy: Any, documents: Sequence[Document]) -> int:
    """Index documents with tantivy and return the bytes of its postings and dictionary."""
    schema = tantivy.SchemaBuilder()
    for field in ("body", "heading", "title", "url"):
        schema.add_text_field(field, stored=True, tokenizer_name="en_stem", index_option="position")
    with tempfile.TemporaryDirectory() as folder:
        index = tantivy.Index(schema.build(), path=folder)
        writer = index.writer(heap_size=TANTIVY_MEMORY, num_threads=1)
        for document in documents:
            headings = "\n".join(document.headings)
            writer.add_document(
                tantivy.Document(body=document.text, heading=headings, title=document.title, url=document.url)
            )
        writer.commit()
        writer.wait_merging_threads()
        return sum(file.stat().st_size for file in Path(folder).iterdir() if file.suffix in TANTIVY_LISTS)


def report(what: str, documents: int, words: int, seconds: float) -> None:
    print(f"{what:32}{documents / seconds:12,.0f}{seconds / words * 1e9:12,.0f}")


def measure(store: LocalStore, documents: Sequence[Document], runs: int) -> Built:
    try:
        tantivy = importlib.import_module("tantivy")
    except ImportError:
        print("tantivy is not installed (pip install tantivy): no comparison")
        tantivy = None
    ours, theirs = [], []
    for _ in range(runs):
        ours.append(build(store, documents))
        if tantivy:
            theirs.append(measured(lambda: build_tantivy(tantivy, documents)).cpu)
    best = min(ours, key=lambda built: sum(built.seconds))
    words = next(entry.counters["positions"] for entry in best.files if "positions" in entry.counters)
    print(f"\n{'':32}{'docs/CPU-s':>12}{'ns/word':>12}")
    for step, seconds in zip(STEPS, best.seconds, strict=True):
        report(f"crawlctl, {step}", len(documents), words, seconds)
    report("crawlctl", len(documents), words, sum(best.seconds))
    if theirs:
        report("tantivy, one thread", len(documents), words, min(theirs))
        print(f"crawlctl is {min(theirs) / sum(best.seconds):.2f} times as fast as tantivy")
        print(f"postings and dictionary of tantivy: {share(build_tantivy(tantivy, documents), documents)}")
    return best


def share(size: int, documents: Iterable[Document]) -> str:
    return f"{size / sum(len(document.text.encode()) for document in documents):.1%} of the text"


def sizes(store: LocalStore, documents: Sequence[Document], files: Iterable[FileEntry]) -> None:
    """Print the size of each part of the index, and the time to read a record."""
    taken: dict[str, int] = {}
    for entry in files:
        part = "/".join((entry.kind, *entry.name.split("/")[3:4]))
        taken[part] = taken.get(part, 0) + entry.bytes
    lists = taken["segments/postings"] + taken["dictionary/data"] + taken["dictionary/index"]
    print(f"postings and dictionary: {share(lists, documents)}")
    print(", ".join(f"{part} {share(size, documents)[:-12]}" for part, size in taken.items()))
    run = runs_of(files)[0]
    docs = MapFileReader(store.open(run.docs_data), store.open(run.docs_index))
    ordinals = random.Random(1).choices(range(len(documents)), k=LOOK_UPS)
    seconds = best_of(lambda: [decode_record(docs.get(pack_long(n)) or b"") for n in ordinals], 3).cpu
    print(f"a record by its ordinal: {seconds / LOOK_UPS * 1e3:.2f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--documents", type=int, default=3000)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    count = options.documents
    documents = pages_in(options.folder, count) if options.folder else copied_modules(count)
    megabytes = sum(len(document.text) for document in documents) / 1e6
    print(f"{len(documents)} pages, {megabytes:.0f} MB of text")
    with tempfile.TemporaryDirectory() as folder:
        store = LocalStore(Path(folder) / "crawl")
        best = measure(store, documents, options.runs)
        sizes(store, documents, best.files)


if __name__ == "__main__":
    main()
