"""Quality of the ranking: nDCG@10 on collections that people have judged, and MRR@10 on docweb.

    python bench/bench_quality.py [--data ../shared/data/ir.tar.zst] [--collection NAME …] [--docweb STORE]

A collection is a folder with `docs.jsonl` (id, title, text), `queries.tsv` and `qrels.txt` (TREC's form). Its
documents go through the run builder and the merge, as crawled pages do. Its queries are asked as a user would
type them, without operators, and the first answers of `crawlctl query` are judged. The second figure is for
the unchanged queries, in which an AND in a title is an operator. Needs pytrec_eval (`pip install
pytrec-eval-terrier`) and the programs tar and zstd.

--docweb names the store of a crawl of docweb, all rounds and ranked; judged_docweb.py says what is measured
there, and bench/README.md how the crawl is made.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytrec_eval
from judged_docweb import measure_docweb

from crawlctl.pipeline.config.settings import IndexSettings
from crawlctl.pipeline.index.building.builder import RunBuilder
from crawlctl.pipeline.index.merge.dictionary_shards import write_all
from crawlctl.pipeline.index.merge.liveness import PageState
from crawlctl.pipeline.index.merge.partition import MergeTask, merge_partition
from crawlctl.pipeline.index.segment.stored_documents import Document
from crawlctl.pipeline.index.statistics import totals_of
from crawlctl.pipeline.search.answer.find import SearchOptions, find
from crawlctl.pipeline.search.open.open_index import open_index
from crawlctl.pipeline.search.query.grammar import parse
from crawlctl.pipeline.state.snapshots import commit, create_crawl
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.text.words.language import language_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from crawlctl.pipeline.search.open.searcher import Searcher
    from crawlctl.pipeline.store.base import Store

    Rankings = dict[str, dict[str, float]]

WANTED = {"cran": 0.50, "npl": 0.44, "scifact": 0.68}  # nDCG@10
MEASURE = "ndcg_cut_10"
DEPTH = 10  # results per query

_OPERATORS = re.compile(r"""["“”„()*]|(?<!\S)[-+]|\b(?:AND|OR|NOT)\b|\.\.|:""")


def documents_of(folder: Path) -> Iterator[Document]:
    with (folder / "docs.jsonl").open(encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            text = row["text"]
            url = f"http://{folder.name}.example/{row['id']}"
            yield Document(url, row["title"], (), text, language_of(text))


def write_index(store: Store, documents: Iterable[Document]) -> None:
    """Index documents as a crawl of one partition and one round."""
    builder, files, pages = RunBuilder(), [], []
    for document in documents:
        builder.add(document)
        host = document.url.split("/")[2]
        pages.append(PageState(f"{host} {document.url}".encode()))
        if builder.full:
            files += builder.write(store, partition=0, round_number=1)
            builder = RunBuilder()
    files += builder.write(store, partition=0, round_number=1)
    task = MergeTask(0, 1, IndexSettings(), totals_of(files), frontier=0)
    merged = merge_partition(store, task, files, sorted(pages)).files
    dictionary = write_all(store, merged, 1)
    commit(store, create_crawl(store, 1), files=(*merged, *dictionary), round_number=1)


def plain(query: str) -> str:
    """Return a query without the words and signs that are operators of the query language."""
    return _OPERATORS.sub(" ", query)


def answers(index: Searcher, queries: Path, typed: Callable[[str], str]) -> Rankings:
    """Return the ranking of each query."""
    found = {}
    for line in queries.read_text(encoding="utf-8").splitlines():
        number, _, text = line.partition("\t")
        hits = find(index, parse(typed(text)), SearchOptions(limit=DEPTH)).hits
        # trec_eval sorts by score, so the score has to reflect the order of the hits.
        found[number] = {hit.url.rpartition("/")[2]: float(len(hits) - rank) for rank, hit in enumerate(hits)}
    return found


def judgements(path: Path) -> dict[str, dict[str, int]]:
    judged: dict[str, dict[str, int]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        query, _, document, grade = line.split()
        judged.setdefault(query, {})[document] = int(grade)
    return judged


def measure(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        store = LocalStore(Path(scratch) / "crawl")
        write_index(store, documents_of(folder))
        index = open_index(store)
        began = time.perf_counter()
        found = answers(index, folder / "queries.tsv", plain)
        seconds = time.perf_counter() - began
        unchanged = answers(index, folder / "queries.tsv", str)
    judged = judgements(folder / "qrels.txt")
    wanted = f"(wanted: {WANTED[folder.name]:.2f})" if folder.name in WANTED else ""
    print(
        f"{folder.name:10} {index.documents:7,} documents {len(found):4} queries  "
        f"nDCG@10 {mean_score(found, judged):.4f} {wanted}, "
        f"unchanged {mean_score(unchanged, judged):.4f}  "
        f"{1000 * seconds / len(found):.1f} ms a query"
    )


def mean_score(found: Rankings, judged: dict[str, dict[str, int]]) -> float:
    scores = pytrec_eval.RelevanceEvaluator(judged, {MEASURE}).evaluate(found)
    return sum(score[MEASURE] for score in scores.values()) / len(scores)


def main() -> None:
    beside = Path(__file__).resolve().parents[2] / "shared/data/ir.tar.zst"
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=beside, help="an archive or a folder of collections")
    parser.add_argument("--collection", action="append", help="only this one; `none` leaves all out")
    parser.add_argument("--docweb", type=Path, help="the folder of a crawl of docweb")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        data = options.data
        if data.is_file():
            subprocess.run(["tar", "-xf", str(data), "-C", scratch], check=True)
            data = Path(scratch)
        for docs in sorted(data.rglob("docs.jsonl")):
            if not options.collection or docs.parent.name in options.collection:
                measure(docs.parent)
    if options.docweb:
        measure_docweb(options.docweb)


if __name__ == "__main__":
    main()
