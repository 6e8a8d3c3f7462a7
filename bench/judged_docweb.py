"""Known pages of docweb: how high `crawlctl query` ranks the right pages of bench/docweb_queries.tsv.

A line of the file has the class of a query, the query, and its right pages without their schemes. The
queries of the class `natural` were made up first; then pages were judged by hand: the first seven of
crawlctl (before it knew proximity), the first seven of tantivy, and others that answer the question. The
other classes are facts about pages (docweb_known_items.py). The measure is MRR@10: the mean of 1 / the rank
of the first right page, 0 if it is not among the first ten. Constants of the ranking were chosen on the
first half (the first, third … query of each class) and on other queries of the same kinds; the second half
was held out.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, NamedTuple

from crawlctl.pipeline.search.answer.find import SearchOptions, find
from crawlctl.pipeline.search.open.open_index import open_index
from crawlctl.pipeline.search.query.grammar import parse
from crawlctl.pipeline.store.local.store import LocalStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crawlctl.pipeline.index.segment.stored_documents import DocRecord
    from crawlctl.pipeline.search.open.searcher import Searcher

    Ask = Callable[[str], list[str]]  # a query → the URLs of its first hits

QUERIES = Path(__file__).with_name("docweb_queries.tsv")
WANTED = {"title": 0.93, "section": 0.80, "name": 0.80, "dotted": 0.97}  # MRR@10
DEPTH = 10  # hits per query

_BATCH = 500  # stored documents that are read at once
_TITLE_BOOST = 3.0  # of the titles in tantivy, the weight that ours have


class Judged(NamedTuple):
    """A query, its class, and the pages that answer it."""

    kind: str
    query: str
    pages: frozenset[str]


def judged_queries(path: Path = QUERIES) -> list[Judged]:
    lines = (line.split("\t") for line in path.read_text(encoding="utf-8").splitlines())
    return [Judged(kind, query, frozenset(pages)) for kind, query, *pages in lines]


def measure_docweb(folder: Path, queries: Path = QUERIES) -> None:
    """Print the MRR of each class on the index of a crawl of docweb, and tantivy's on the same documents."""
    index = open_index(LocalStore(folder))
    judged = judged_queries(queries)
    report(f"docweb, {index.documents:,} documents", judged, asks_crawlctl(index))
    try:
        import tantivy  # noqa: F401
    except ModuleNotFoundError:
        print("tantivy is not installed and left out (pip install tantivy)")
        return
    with tempfile.TemporaryDirectory() as scratch:
        report("tantivy, same documents", judged, asks_tantivy(index, scratch))


def report(name: str, judged: list[Judged], ask: Ask) -> None:
    began = process_time()
    ranks = [reciprocal_rank(one, ask(one.query)) for one in judged]
    milliseconds = 1000 * (process_time() - began) / len(judged)
    print(f"{name}: MRR@{DEPTH} of all, the first half, the half held out; {milliseconds:.2f} CPU-ms a query")
    for kind in dict.fromkeys(one.kind for one in judged):
        some = [rank for one, rank in zip(judged, ranks, strict=True) if one.kind == kind]
        wanted = f"(wanted: {WANTED[kind]:.2f})" if kind in WANTED else ""
        figures = "  ".join(f"{mean(part):.3f}" for part in (some, some[::2], some[1::2]))
        print(f"    {kind:8} {len(some):4} queries  {figures}  {wanted}")


def reciprocal_rank(judged: Judged, urls: list[str]) -> float:
    ranks = (rank for rank, url in enumerate(urls, 1) if url.partition("://")[2] in judged.pages)
    return 1 / next(ranks, float("inf"))


def mean(numbers: list[float]) -> float:
    return sum(numbers) / max(1, len(numbers))


def asks_crawlctl(index: Searcher) -> Ask:
    def ask(query: str) -> list[str]:
        return [hit.url for hit in find(index, parse(query), SearchOptions(limit=DEPTH)).hits]

    return ask


def asks_tantivy(index: Searcher, folder: str) -> Ask:
    """Index the documents with tantivy, stemmed: title and headings, text, and the words of the URL."""
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("url", stored=True, tokenizer_name="raw")
    for field in ("title", "text", "path"):
        builder.add_text_field(field, tokenizer_name="en_stem")
    theirs = tantivy.Index(builder.build(), path=folder)
    writer = theirs.writer()
    for record in all_records(index):
        titles = "\n".join((record.title, *record.headings))
        path = record.url.partition("://")[2]
        writer.add_document(tantivy.Document(url=record.url, title=titles, text=record.text, path=path))
    writer.commit()
    theirs.reload()
    searcher = theirs.searcher()

    def ask(query: str) -> list[str]:
        fields = ["title", "text", "path"]
        read, _ = theirs.parse_query_lenient(query, fields, field_boosts={"title": _TITLE_BOOST})
        return [searcher.doc(where)["url"][0] for _, where in searcher.search(read, DEPTH).hits]

    return ask


def all_records(index: Searcher) -> Iterator[DocRecord]:
    """Yield the stored documents of all pages that were fetched."""
    for segment, ranges in index.fetched_ranges().items():
        base = index.reader.bases[segment]
        for start, end in ranges:
            for first in range(start, end, _BATCH):
                yield from index.records(range(base + first, base + min(end, first + _BATCH)))
