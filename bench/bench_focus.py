"""Focused crawl: the share of fetched pages that are about a topic, compared with breadth first.

    python bench/bench_focus.py --web FOLDER [--seeds FILE]

This is a simulation on docweb (run `docweb build FOLDER` once), in rounds of 1 % of the pages: each round
fetches the known pages with the highest scores. The weight of a focus was chosen on the first three topics;
the other three were written down before they were tried. Scores are those of a crawl between two rankings: a
page gives .85 of its score to its links, and the part of a link is multiplied by its boost
(text/words/focus.py). A page is relevant if it contains enough of the words itself. The harvest rate is the
share of relevant pages among the fetched ones, after 10 and 25 % of the pages that can be reached.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
from bench_crawl_order import reach
from doc_graph import Page, load_pages, seeds

from crawlctl.pipeline.config.settings import FocusSettings
from crawlctl.pipeline.text.words.focus import Focus
from crawlctl.pipeline.urls.hosts import webdb_key

MARKS = (0.10, 0.25)
RELEVANT = 0.5
TOPICS = {
    "relational databases": FocusSettings(
        terms=("sql", "transaction", "schema", "query"), phrases=("foreign key", "database table")
    ),
    "statistics": FocusSettings(
        terms=("regression", "variance", "estimator", "statistics"), phrases=("normal distribution",)
    ),
    "machine learning": FocusSettings(
        terms=("classifier", "clustering", "classification"), phrases=("training set", "cross validation")
    ),
    "version control": FocusSettings(
        terms=("commit", "branch", "repository", "merge"), phrases=("version control", "working tree")
    ),
    "networking": FocusSettings(terms=("socket", "tcp", "server", "packet"), phrases=("ip address",)),
    "plotting": FocusSettings(
        terms=("plot", "axes", "figure", "colormap"), phrases=("bar chart", "line plot")
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--web", type=Path, required=True, help="the folder that docweb was built in")
    parser.add_argument("--seeds", type=Path, help="a seed file; without one, a page of each host")
    arguments = parser.parse_args()
    pages = load_pages(arguments.web, Path(tempfile.gettempdir()) / "crawlctl-doc-graph.pickle")
    start = seeds(pages, arguments.seeds)
    links = [np.array([target for target, _ in page.links], np.int64) for page in pages]
    reachable = reach(links, start)
    print(f"{'':24}{'relevant':>10}" + "".join(f"{mark:>18.0%}" for mark in MARKS))
    for name, settings in TOPICS.items():
        focus = Focus(settings)
        relevance = np.array([focus.page(page.url, page.title, page.text) for page in pages])
        relevant = relevance >= RELEVANT
        for order in ("breadth first", "by score", "focused"):
            rates = crawl(
                pages, start, int(reachable.sum()), relevance, focus if order == "focused" else None, order
            )
            shown = "".join(f"{rate:18.1%}" for rate in rates)
            title = name if order == "breadth first" else ""
            print(f"{title:24}{relevant[reachable].mean():10.1%}{shown}  {order}", flush=True)


def crawl(
    pages: list[Page],
    start: list[int],
    reachable: int,
    relevance: np.ndarray,
    focus: Focus | None,
    order: str,
) -> list[float]:
    count = len(pages)
    score, depth, found = np.zeros(count), np.full(count, 1 << 30), np.zeros(count)
    known, fetched = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
    known[start], depth[start], score[start] = True, 0, 1.0
    keys = {webdb_key(page.url): number for number, page in enumerate(pages)} if focus else {}
    names = list(keys)
    number, done, rates = 0, 0, []
    for mark in MARKS:
        while done < mark * reachable:
            waiting = np.flatnonzero(known & ~fetched)
            ranked = score[waiting] if order != "breadth first" else np.zeros(len(waiting))
            chosen = waiting[np.lexsort((found[waiting], depth[waiting], -ranked))][: reachable // 100]
            fetched[chosen] = True
            done += len(chosen)
            for page in chosen.tolist():
                part = 0.85 * score[page] / max(1, len(pages[page].links))
                for target, _ in pages[page].links:
                    if not known[target]:
                        known[target], found[target], number = True, number, number + 1
                    depth[target] = min(depth[target], depth[page] + 1)
                if focus is None:
                    score[[target for target, _ in pages[page].links]] += part
                    continue
                for boost, some in focus.dealt(
                    ((names[t], anchor) for t, anchor in pages[page].links), relevance[page]
                ):
                    score[[keys[key] for key, _ in some]] += boost * part
        rates.append(float((relevance[fetched] >= RELEVANT).mean()))
    return rates


if __name__ == "__main__":
    main()
