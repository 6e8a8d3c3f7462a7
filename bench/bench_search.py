"""Latency of queries in one warm process, compared with tantivy on the same texts.

    python bench/bench_search.py --pages DIR [--every N] [--queries FILE] [--rounds R]

DIR holds HTML pages in folders named after their hosts, as `docweb build` writes them to DIR/hosts. Every
N-th page is indexed: by us through runs and a merge, by tantivy (`pip install tantivy`) as one stemmed field
with positions. Words come from real web queries (each line: a number, a TAB and the words; the program zstd
unpacks .zst), phrases from the texts. For both, a query is timed from its text to the numbers of the ten best
documents and the exact total; reading the documents is not timed. Both work in one thread. The first round
warms caches and does not count. The sets of answers are compared too; some differ, because stems and tokens
do.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from crawlctl.pipeline.config.settings import IndexSettings, ParseSettings
from crawlctl.pipeline.index.building.builder import RunBuilder
from crawlctl.pipeline.index.merge.dictionary_shards import write_all
from crawlctl.pipeline.index.merge.liveness import PageState
from crawlctl.pipeline.index.merge.partition import MergeTask, merge_partition
from crawlctl.pipeline.index.segment.stored_documents import Document
from crawlctl.pipeline.index.statistics import totals_of
from crawlctl.pipeline.search.answer.find import SearchOptions, top_documents
from crawlctl.pipeline.search.evaluate.vector_evaluator import VectorEvaluator
from crawlctl.pipeline.search.open.open_index import open_index
from crawlctl.pipeline.search.plan.planner import plan_query
from crawlctl.pipeline.search.query.grammar import parse
from crawlctl.pipeline.state.snapshots import commit, create_crawl
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.text.html.html import parse_html
from crawlctl.pipeline.text.words.language import language_of
from crawlctl.pipeline.text.words.tokens import tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from crawlctl.pipeline.search.open.searcher import Searcher
    from crawlctl.pipeline.store.base import Store

LIMIT = 10
QUERIES = 1000  # per class, except phrases
PHRASES = 500
TANTIVY_MEMORY = 256 << 20
PERCENTILES = (50, 95, 99)


class Asked(NamedTuple):
    """A query in our language and in tantivy's."""

    ours: str
    theirs: str


def pages_in(root: Path, every: int) -> Iterator[Document]:
    for path in sorted(root.rglob("*.htm*"))[::every]:
        url = f"http://{path.relative_to(root).as_posix()}"
        page = parse_html(path.read_bytes().decode("utf-8", "replace"), url, ParseSettings())
        yield Document(url, page.title, tuple(page.headings), page.text, language_of(page.text))


def write_index(store: Store, documents: Sequence[Document]) -> None:
    """Index documents as a crawl of one partition."""
    builder, files = RunBuilder(), []
    for document in documents:
        builder.add(document)
        if builder.full:
            files += builder.write(store, partition=0, round_number=1)
            builder = RunBuilder()
    files += builder.write(store, partition=0, round_number=1)
    pages = sorted(
        PageState(f"{document.url.split('/')[2]} {document.url}".encode()) for document in documents
    )
    task = MergeTask(0, 1, IndexSettings(), totals_of(files), frontier=0, full=True)
    merged = merge_partition(store, task, files, pages).files
    dictionary = write_all(store, merged, 1)
    commit(store, create_crawl(store, 1), files=(*merged, *dictionary), round_number=1)


def tantivy_index(folder: Path, documents: Sequence[Document]) -> Any:
    import tantivy

    schema = tantivy.SchemaBuilder()
    schema.add_text_field("text", tokenizer_name="en_stem", index_option="position")
    index = tantivy.Searcher(schema.build(), path=str(folder))
    writer = index.writer(TANTIVY_MEMORY, 1)
    for document in documents:
        whole = "\n".join((document.title, *document.headings, document.text))
        writer.add_document(tantivy.Document(text=whole))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    return index


def words_of_queries(path: Path, known: set[str]) -> list[list[str]]:
    """Return the words of each query that occur in the texts."""
    data = subprocess.run(["zstd", "-dc", str(path)], check=True, capture_output=True).stdout
    lines = data.decode("utf-8", "replace").splitlines()
    asked = ([word for word in tokens(line.partition("\t")[2]) if word in known] for line in lines)
    return [list(dict.fromkeys(words)) for words in asked]


def classes(asked: list[list[str]], documents: Sequence[Document]) -> dict[str, list[Asked]]:
    chance = random.Random(7)
    longer = [words for words in asked if len(words) > 2]
    chance.shuffle(longer)
    phrases = []
    while len(phrases) < PHRASES:
        words = tokens(chance.choice(documents).text)
        length = chance.choice((2, 2, 3))
        if len(words) > length:
            start = chance.randrange(len(words) - length)
            phrases.append(" ".join(words[start : start + length]))
    return {
        "single": [Asked(f'"{words[0]}"', words[0]) for words in longer[:QUERIES]],
        "AND2": [
            Asked(f"AND {words[0]} {words[1]}", f"+{words[0]} +{words[1]}") for words in longer[:QUERIES]
        ],
        "OR3": [Asked(f"OR {' '.join(words[:3])}", " ".join(words[:3])) for words in longer[:QUERIES]],
        "phrase": [Asked(f'"{phrase}"', f'"{phrase}"') for phrase in phrases],
    }


def timed(answer: Callable[[str], int], queries: Sequence[str], rounds: int) -> tuple[list[float], list[int]]:
    """Return the milliseconds of CPU time of each query, the best of its rounds, and the totals."""
    totals = [answer(query) for query in queries]
    spans: list[list[float]] = [[] for _ in queries]
    for _ in range(rounds):
        for number, query in enumerate(queries):
            began = time.thread_time()
            answer(query)
            spans[number].append(1000 * (time.thread_time() - began))
    return [min(found) for found in spans], totals


def report(name: str, ours: list[float], theirs: list[float]) -> None:
    def at(spans: list[float], percent: int) -> float:
        return sorted(spans)[min(len(spans) - 1, len(spans) * percent // 100)]

    pairs = [(at(ours, percent), at(theirs, percent)) for percent in PERCENTILES]
    shown = "   ".join(f"{mine:7.3f} {peer:7.3f} {mine / peer:5.2f}" for mine, peer in pairs)
    print(f"{name:8} {shown}")


def answers_of(index: Searcher) -> Callable[[str], int]:
    """Return a function that finds the ten best documents of a query and returns the total."""

    def total(text: str) -> int:
        plan = plan_query(parse(text), index)
        return top_documents(
            index, plan, VectorEvaluator(index.vector_lists, plan), SearchOptions(limit=LIMIT)
        ).total

    return total


def compare(folder: Path, documents: Sequence[Document], asked_in: Path, rounds: int) -> None:
    store = LocalStore(folder / "crawl")
    write_index(store, documents)
    (folder / "tantivy").mkdir()
    index, peer = open_index(store), tantivy_index(folder / "tantivy", documents)
    searcher = peer.searcher()

    ours = answers_of(index)

    def theirs(text: str) -> int:
        found = searcher.search(peer.parse_query(text, ["text"]), LIMIT)
        return int(found.count)

    known = {word for document in documents for word in set(tokens(document.text))}
    characters = sum(len(document.text) for document in documents)
    print(f"{len(documents):,} documents of {characters / 1e6:.0f} million characters")
    print("ms       " + "".join(f"p{percent:<2} ours tantivy ratio  " for percent in PERCENTILES))
    for name, queries in classes(words_of_queries(asked_in, known), documents).items():
        mine, my_totals = timed(ours, [query.ours for query in queries], rounds)
        other, their_totals = timed(theirs, [query.theirs for query in queries], rounds)
        report(name, mine, other)
        same = sum(a == b for a, b in zip(my_totals, their_totals, strict=True))
        print(f"         {len(queries):,} queries, {same:,} with the same total")


def main() -> None:
    beside = Path(__file__).resolve().parents[2] / "shared/data/queries/terabyte05-efficiency.tsv.zst"
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--pages", type=Path, required=True)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--queries", type=Path, default=beside)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    documents = list(pages_in(options.pages, options.every))
    with tempfile.TemporaryDirectory() as scratch:
        compare(Path(scratch), documents, options.queries, options.rounds)


if __name__ == "__main__":
    main()
