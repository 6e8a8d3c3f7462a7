"""Building an index run, against tantivy's index of the same pages.

    python bench/bench_index.py [--copies N] [--runs R]

The pages are those that pydoc renders of the standard library, parsed once, each added N times under another
URL. Both indexers stem English, keep positions of four fields, and store the text. Figures are of the CPU
time of the process in its best run; tantivy (`pip install tantivy`) indexes in one thread, its merges count.
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
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isal import isal_zlib
from msgspec.structs import replace

from crawlctl.pipeline.config.parse import ParseSettings
from crawlctl.pipeline.index import terms
from crawlctl.pipeline.index.builder import RunBuilder
from crawlctl.pipeline.index.documents import Document
from crawlctl.pipeline.index.files import runs_of
from crawlctl.pipeline.index.reader import RunReader
from crawlctl.pipeline.store.local import LocalStore
from crawlctl.pipeline.text.duplicates import fingerprint
from crawlctl.pipeline.text.html import parse_html

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crawlctl.pipeline.store.manifest import FileEntry

# They open windows or browsers, print, start servers, or are not there to be read.
LEFT_OUT = {"antigravity", "idlelib", "lib2to3", "test", "this", "tkinter", "turtle", "turtledemo"}
TANTIVY_MEMORY = 256 << 20
LOOK_UPS = 200


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


def page_of(name: str) -> Document | None:
    """Return pydoc's page of a module, None if it cannot be imported here."""
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            html = pydoc.html.page(name, pydoc.html.docmodule(importlib.import_module(name)))
    except (Exception, SystemExit):
        return None
    url = f"http://pydoc.example/{name}.html"
    page = parse_html(html, url, ParseSettings())
    links = tuple((link.url, link.text, link.nofollow) for link in page.links)
    signature, sketch = fingerprint(page.text)
    return Document(
        url, page.title, page.headings, page.text, "en", links, signature=signature, similarity=sketch
    )


def copies_of(pages: list[Document], copies: int) -> list[Document]:
    return [
        replace(page, url=page.url.replace("pydoc", f"copy{copy}"))
        for copy in range(copies)
        for page in pages
    ]


def build_run(store: LocalStore, documents: list[Document]) -> tuple[FileEntry, ...]:
    builder = RunBuilder()
    for document in documents:
        builder.add(document)
    return builder.write(store, partition=0, round_number=1)


def build_tantivy(tantivy: Any, documents: list[Document]) -> None:
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


def best(action: Callable[[], object], runs: int) -> float:
    """Return the least CPU time of several runs."""
    times = []
    for _ in range(runs):
        before = time.process_time()
        action()
        times.append(time.process_time() - before)
    return min(times)


def report(what: str, documents: int, words: int, seconds: float) -> None:
    print(f"{what:32}{documents / seconds:12,.0f}{seconds / words * 1e9:12,.0f}")


def measure(store: LocalStore, documents: list[Document], runs: int) -> None:
    entries = build_run(store, documents)
    words = entries[3].counters["positions"]
    print(f"\n{'':32}{'docs/CPU-s':>12}{'ns/word':>12}")
    ours = best(lambda: build_run(store, documents), runs)
    report(f"crawlctl, {'with' if terms._arrow() else 'without'} pyarrow", len(documents), words, ours)
    if terms._arrow():
        bulk, terms._BULK_BYTES = terms._BULK_BYTES, sys.maxsize
        plain = best(lambda: build_run(store, documents), runs)
        report("crawlctl, without pyarrow", len(documents), words, plain)
        terms._BULK_BYTES = bulk
    try:
        tantivy = importlib.import_module("tantivy")
    except ImportError:
        print("tantivy is not installed: no comparison")
    else:
        theirs = best(lambda: build_tantivy(tantivy, documents), runs)
        report("tantivy, one thread", len(documents), words, theirs)
        print(f"crawlctl is {theirs / ours:.2f} times as fast as tantivy")


def sizes(store: LocalStore, pages: list[Document]) -> None:
    """Print what each page takes once, and what fetching a record costs."""
    entries = build_run(store, pages)
    text = sum(len(page.text.encode()) for page in pages)
    alone = sum(len(isal_zlib.compress(page.text.encode(), 2)) for page in pages)
    print(f"\nof {text:,} B of text docs take {entries[0].bytes / text:.1%}, ", end="")
    print(f"the texts compressed one by one {alone / text:.1%},")
    print(f"postings {entries[3].bytes / text:.1%}, links {entries[2].bytes / text:.1%}")
    run = RunReader(store, runs_of(entries)[0])
    ordinals = random.Random(1).choices(range(len(pages)), k=LOOK_UPS)
    seconds = best(lambda: [run.record(ordinal) for ordinal in ordinals], 3)
    print(f"a record by its ordinal: {seconds / LOOK_UPS * 1e3:.2f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--copies", type=int, default=6)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    pages = [page for page in map(page_of, module_names()) if page is not None]
    documents = copies_of(pages, options.copies)
    megabytes = sum(len(document.text) for document in documents) / 1e6
    print(f"{len(pages)} pages, {options.copies} times: {megabytes:.0f} MB of text")
    with tempfile.TemporaryDirectory() as folder:
        store = LocalStore(Path(folder) / "crawl")
        measure(store, documents, options.runs)
        sizes(store, pages)


if __name__ == "__main__":
    main()
