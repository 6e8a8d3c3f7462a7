"""Latency of queries in one warm process, compared with tantivy on the same texts.

    python bench/bench_search.py --store DIR [--queries FILE] [--rounds R]
    python bench/bench_search.py --pages DIR [--every N] [--queries FILE] [--rounds R]

With --store, the index is that of a crawl as it stands, with its partitions, segments, tombstones, priors and
duplicate groups: what a user searches. A crawl of docweb (`docweb up`, its port as proxy) in ten rounds of
1,600 pages has some 12 segments. With --pages, DIR holds HTML pages in folders named after their hosts, as
`docweb build` writes them to DIR/hosts; every N-th page is indexed, as one segment, which is kinder to us.

tantivy (`pip install tantivy`) indexes the same documents as one stemmed field with positions, and merges
its segments as it likes. Words come from real web queries (each line: a number, a TAB and the words; the
program zstd unpacks .zst), phrases from the texts. For both, a query is timed from its text to the numbers of
the ten best documents and the exact total. The class `shown` is AND2 with the titles and snippets of the ten
documents. Both work in one thread. A round times all queries of a class, ours and then theirs; of each query
the best of the rounds counts. A first round warms caches and does not count. The sets of answers are compared
too; some differ, because stems and tokens do.
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
from crawlctl.pipeline.index.segment.segment_files import segments_of
from crawlctl.pipeline.index.segment.stored_documents import Document
from crawlctl.pipeline.index.statistics import totals_of
from crawlctl.pipeline.search.answer.answer import answer
from crawlctl.pipeline.search.answer.find import SearchOptions, top_documents
from crawlctl.pipeline.search.evaluate.vector_evaluator import VectorEvaluator
from crawlctl.pipeline.search.open.open_index import open_index
from crawlctl.pipeline.search.plan.planner import plan_query
from crawlctl.pipeline.search.query.grammar import parse
from crawlctl.pipeline.state.snapshots import commit, create_crawl, load_current
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
SHOWN = 200
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


def stored_documents(store: Store) -> Iterator[Document]:
    """Yield the documents of a crawl that a query can find and that were fetched."""
    searcher = open_index(store)
    reader = searcher.reader
    for number, segment in enumerate(reader.segments):
        dead = reader.tombstones.get(number)
        alive = [one for one in range(segment.documents) if dead is None or one not in dead]
        for ordinal in () if segment.frontier else alive:
            (record,) = searcher.records([reader.bases[number] + ordinal])
            text = record.text_bytes.decode()
            yield Document(record.url, record.title, record.headings, text, record.language)


def tantivy_index(folder: Path, documents: Sequence[Document]) -> Any:
    import tantivy

    schema = tantivy.SchemaBuilder()
    schema.add_text_field("title", stored=True, index_option="basic")
    schema.add_text_field("text", stored=True, tokenizer_name="en_stem", index_option="position")
    folder.mkdir()
    index = tantivy.Index(schema.build(), path=str(folder))
    writer = index.writer(TANTIVY_MEMORY, 1)
    for document in documents:
        whole = "\n".join((document.title, *document.headings, document.text))
        writer.add_document(tantivy.Document(title=document.title, text=whole))
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


def timed(
    ours: Callable[[str], int], theirs: Callable[[str], int], queries: Sequence[Asked], rounds: int
) -> tuple[list[float], list[float], int]:
    """Return the milliseconds of CPU time of each query, ours and theirs, and how many totals are equal.

    Of each query the best of its rounds counts.
    """
    same = sum(ours(query.ours) == theirs(query.theirs) for query in queries)
    mine, other = [], []
    for _ in range(rounds):
        mine.append([milliseconds(ours, query.ours) for query in queries])
        other.append([milliseconds(theirs, query.theirs) for query in queries])
    return list(map(min, *mine)), list(map(min, *other)), same


def milliseconds(answer: Callable[[str], int], text: str) -> float:
    began = time.thread_time()
    answer(text)
    return 1000 * (time.thread_time() - began)


def report(name: str, ours: list[float], theirs: list[float]) -> None:
    def at(spans: list[float], percent: int) -> float:
        return sorted(spans)[min(len(spans) - 1, len(spans) * percent // 100)]

    pairs = [(at(ours, percent), at(theirs, percent)) for percent in PERCENTILES]
    shown = "   ".join(f"{mine:7.3f} {peer:7.3f} {mine / peer:5.2f}" for mine, peer in pairs)
    print(f"{name:8} {shown}")


class Ours:
    """Our index, open in this process."""

    def __init__(self, index: Searcher) -> None:
        self._index = index

    def find(self, text: str) -> int:
        """Find the ten best documents of a query and return the total."""
        plan = plan_query(parse(text), self._index)
        evaluator = VectorEvaluator(self._index.vector_lists, plan)
        return top_documents(self._index, plan, evaluator, SearchOptions(limit=LIMIT)).total

    def show(self, text: str) -> int:
        """Make the titles and snippets of the ten best documents and return the total."""
        return answer(self._index, parse(text), SearchOptions(limit=LIMIT, strict=True)).total


class Tantivy:
    """The index of tantivy, open in this process."""

    def __init__(self, index: Any) -> None:
        self._index = index
        self._searcher = index.searcher()

    def find(self, text: str) -> int:
        """Find the ten best documents of a query and return the total."""
        return int(self._searcher.search(self._index.parse_query(text, ["text"]), LIMIT).count)

    def show(self, text: str) -> int:
        """Make the titles and snippets of the ten best documents and return the total."""
        import tantivy

        query = self._index.parse_query(text, ["text"])
        found = self._searcher.search(query, LIMIT)
        marker = tantivy.SnippetGenerator.create(self._searcher, query, self._index.schema, "text")
        for _, address in found.hits:
            document = self._searcher.doc(address)
            document.get_first("title")
            marker.snippet_from_doc(document).to_html()
        return int(found.count)


def compare(folder: Path, store: Store, documents: Sequence[Document], asked_in: Path, rounds: int) -> None:
    ours = Ours(open_index(store))
    theirs = Tantivy(tantivy_index(folder / "tantivy", documents))
    known = {word for document in documents for word in set(tokens(document.text))}
    characters = sum(len(document.text) for document in documents)
    segments = len(segments_of(load_current(store).files))
    print(f"{len(documents):,} documents of {characters / 1e6:.0f} million characters, {segments} segments")
    print("ms       " + "".join(f"p{percent:<2} ours tantivy ratio  " for percent in PERCENTILES))
    for name, queries in classes(words_of_queries(asked_in, known), documents).items():
        mine, other, same = timed(ours.find, theirs.find, queries, rounds)
        report(name, mine, other)
        print(f"         {len(queries):,} queries, {same:,} with the same total")
        if name == "AND2":
            mine, other, _ = timed(ours.show, theirs.show, queries[:SHOWN], rounds)
            report("shown", mine, other)


def main() -> None:
    beside = Path(__file__).resolve().parents[2] / "shared/data/queries/terabyte05-efficiency.tsv.zst"
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--store", type=Path)
    source.add_argument("--pages", type=Path)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--queries", type=Path, default=beside)
    parser.add_argument("--rounds", type=int, default=5, help="at least 2")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        store = LocalStore(options.store or Path(scratch) / "crawl")
        if options.store:
            documents = list(stored_documents(store))
        else:
            documents = list(pages_in(options.pages, options.every))
            write_index(store, documents)
        compare(Path(scratch), store, documents, options.queries, options.rounds)


if __name__ == "__main__":
    main()
