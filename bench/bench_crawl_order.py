"""Crawl order: the share of the final PageRank that the pages fetched so far have, by strategy.

    python bench/bench_crawl_order.py --web FOLDER [--seeds FILE] [--rounds 100]

This is a simulation on the link graph of docweb (run `docweb build FOLDER` once). Each round fetches 1 % of
the pages: of all known pages, those that a strategy puts first. The result is the share of the PageRank of
all pages that can be reached from a seed, after 10, 25 and 50 % of the pages.

    breadth first      by depth, then in the order of discovery half a page        a link is worth half of its
    page; the best link counts share              a page gives .85 of its score to its links in equal parts;
    these parts add up share, best        the same, but only the best part counts share, by round    parts add
    up within a round, the best round counts: crawlctl between rankings ranked             share, and every 10
    rounds the PageRank of all known pages, with a teleport to the seeds ranked, by round   the same with
    share, by round: what crawlctl does with `--rank-every 10` ranked, uniform    ranked with a teleport to
    every page oracle             by the final PageRank itself
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from doc_graph import load_pages, seeds

from crawlctl.pipeline.rank.graph.sparse_blocks import make_block
from crawlctl.pipeline.rank.solve.one_task import Matrix

if TYPE_CHECKING:
    from collections.abc import Callable

DAMPING = 0.85
MARKS = (0.10, 0.25, 0.50)
RANK_EVERY = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--web", type=Path, required=True, help="the folder that docweb was built in")
    parser.add_argument("--seeds", type=Path, help="a seed file; without one, a page of each host")
    parser.add_argument("--rounds", type=int, default=100)
    arguments = parser.parse_args()
    pages = load_pages(arguments.web, Path(tempfile.gettempdir()) / "crawlctl-doc-graph.pickle")
    links = [np.array([target for target, _ in page.links], np.int64) for page in pages]
    start = seeds(pages, arguments.seeds)
    final = rank(links, np.ones(len(pages), np.bool_), np.full(len(pages), 1 / len(pages)))
    reachable = reach(links, start)
    final = np.where(reachable, final, 0)
    final /= final.sum()
    count = sum(map(len, links))
    print(f"{len(pages)} pages, {count} links, {len(start)} seeds, {reachable.mean():.0%} reachable")
    print(f"{'':20}" + "".join(f"{mark:>9.0%}" for mark in MARKS))
    for name, strategy in STRATEGIES.items():
        masses = crawl(links, start, arguments.rounds, int(reachable.sum()), final, strategy)
        print(f"{name:20}" + "".join(f"{mass:9.3f}" for mass in masses), flush=True)


def rank(links: list[np.ndarray], has_links: np.ndarray, teleport: np.ndarray) -> np.ndarray:
    sources = np.repeat(
        np.arange(len(links)), [len(some) if has_links[n] else 0 for n, some in enumerate(links)]
    )
    targets = [some for number, some in enumerate(links) if has_links[number]]
    block = make_block(sources, np.concatenate([np.zeros(0, np.int64), *targets]))
    degrees = np.bincount(sources, minlength=len(links))
    vector = Matrix([block], degrees).solve(teleport, damping=DAMPING, tolerance=1e-6).vector
    return vector / vector.sum()


def reach(links: list[np.ndarray], start: list[int]) -> np.ndarray:
    seen = np.zeros(len(links), np.bool_)
    stack = list(start)
    seen[start] = True
    while stack:
        for target in links[stack.pop()].tolist():
            if not seen[target]:
                seen[target] = True
                stack.append(target)
    return seen


class Crawl:
    """What a strategy reads and sets: the score of each page, its depth, and when it was found."""

    def __init__(self, links: list[np.ndarray], start: list[int], final: np.ndarray) -> None:
        self.links, self.final = links, final
        nodes = len(links)
        self.score, self.fetched, self.known = (
            np.zeros(nodes),
            np.zeros(nodes, np.bool_),
            np.zeros(nodes, np.bool_),
        )
        self.depth, self.found = np.full(nodes, 1 << 30), np.zeros(nodes, np.int64)
        self.seeds = np.zeros(nodes)
        self.seeds[start] = 1 / len(start)
        self.known[start], self.depth[start] = True, 0
        self.score[start] = 1.0
        self.number = len(start)
        self.round = 0


def crawl(
    links: list[np.ndarray],
    start: list[int],
    rounds: int,
    reachable: int,
    final: np.ndarray,
    strategy: Callable[[Crawl, np.ndarray], None],
) -> list[float]:
    state = Crawl(links, start, final)
    marks = [round(mark * reachable) for mark in MARKS]
    masses: list[float] = []
    size = -(-reachable // rounds)
    done = 0
    while len(masses) < len(marks):
        waiting = np.flatnonzero(state.known & ~state.fetched)
        order = np.lexsort((state.found[waiting], state.depth[waiting], -state.score[waiting]))
        chosen = waiting[order[: min(size, marks[len(masses)] - done)]]
        state.fetched[chosen] = True
        done += len(chosen)
        for page in chosen.tolist():
            new = links[page][~state.known[links[page]]]
            state.known[new] = True
            state.found[new] = state.number + np.arange(len(new))
            state.number += len(new)
            state.depth[links[page]] = np.minimum(state.depth[links[page]], state.depth[page] + 1)
        strategy(state, chosen)
        state.round += 1
        if done >= marks[len(masses)] or not len(chosen):
            masses.append(float(final[state.fetched].sum()))
    return masses


def breadth_first(state: Crawl, _: np.ndarray) -> None:
    state.score[:] = 0


def half_a_page(state: Crawl, fetched: np.ndarray) -> None:
    for page in fetched.tolist():
        targets = state.links[page]
        state.score[targets] = np.maximum(state.score[targets], state.score[page] / 2)


def share(state: Crawl, fetched: np.ndarray) -> None:
    for page in fetched.tolist():
        targets = state.links[page]
        if len(targets):
            state.score[targets] += DAMPING * state.score[page] / len(targets)


def share_best(state: Crawl, fetched: np.ndarray) -> None:
    for page in fetched.tolist():
        targets = state.links[page]
        if len(targets):
            part = DAMPING * state.score[page] / len(targets)
            state.score[targets] = np.maximum(state.score[targets], part)


def share_sum_of_best(state: Crawl, fetched: np.ndarray) -> None:
    """Add up the scores of one round; then the greater of this sum and the old score counts."""
    given = np.zeros(len(state.score))
    for page in fetched.tolist():
        targets = state.links[page]
        if len(targets):
            given[targets] += DAMPING * state.score[page] / len(targets)
    state.score = np.maximum(state.score, given)


def ranked(
    uniform: bool, between: Callable[[Crawl, np.ndarray], None]
) -> Callable[[Crawl, np.ndarray], None]:
    def strategy(state: Crawl, fetched: np.ndarray) -> None:
        if state.round % RANK_EVERY != RANK_EVERY - 1:
            between(state, fetched)
            return
        teleport = state.known / state.known.sum() if uniform else state.seeds
        state.score = rank(state.links, state.fetched, teleport) * state.known.sum()

    return strategy


def oracle(state: Crawl, _: np.ndarray) -> None:
    state.score = state.final


STRATEGIES = {
    "breadth first": breadth_first,
    "half a page": half_a_page,
    "share": share,
    "share, best": share_best,
    "share, by round": share_sum_of_best,
    "ranked": ranked(False, share),
    "ranked, by round": ranked(False, share_sum_of_best),
    "ranked, uniform": ranked(True, share),
    "oracle": oracle,
}


if __name__ == "__main__":
    main()
