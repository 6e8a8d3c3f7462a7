"""PageRank: CPU time of our job, compared with scipy, igraph, networkx and a textbook MapReduce.

    python bench/bench_rank.py [--nodes 2000000] [--peers] [--uk ../shared/data/graphs/uk-2007-05.npz]

The graph is synthetic, from a fixed random seed: hosts of all sizes, four of five links inside the host, a
quarter of the pages without links, about 22 million links of 2 million nodes. It is written to a store as the
graph job writes it. Our job reads it from there, in one task on the inline runner, and its start-up counts.
scipy has the matrix in memory: a tuned power iteration (no division, no copy of the matrix, dangling mass by
one sum) that stops when its own error bound is 1e-6. The error is checked for both against a solution to
1e-12. Building is timed separately: links to blocks for us, coordinates to CSR for scipy. With --peers igraph
and networkx take part if they are installed (networkx on the small graph only), and one iteration of the
textbook job. bench_rank_rounds.py counts the rounds for graphs in several parts.
"""

from __future__ import annotations

import argparse
import importlib.util
import tempfile
from itertools import pairwise
from pathlib import Path

import msgspec
import numpy as np
from clock import measured

from crawlctl.jobs.rank_iterate import RankIterate
from crawlctl.pipeline.config.settings import RunnerSettings
from crawlctl.pipeline.rank.graph.array_file import ArrayFile
from crawlctl.pipeline.rank.graph.build import write_blocks
from crawlctl.pipeline.rank.graph.nodes import HAS_DOCUMENT, MEMBER, member_arrays, write_nodes
from crawlctl.pipeline.rank.graph.sparse_blocks import make_block
from crawlctl.pipeline.rank.order import IterateOrder, Teleport
from crawlctl.pipeline.runners.job import run_job
from crawlctl.pipeline.state.manifest import decode_lines
from crawlctl.pipeline.store.local.store import LocalStore

DAMPING, TOLERANCE = 0.85, 1e-6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=2_000_000)
    parser.add_argument("--peers", action="store_true", help="igraph, networkx and the textbook too")
    parser.add_argument("--uk", type=Path, help="uk-2007-05.npz")
    arguments = parser.parse_args()
    sources, targets = made_up(arguments.nodes)
    print(f"made up: {arguments.nodes} nodes, {len(sources)} links")
    compare(arguments.nodes, sources, targets, peers=False)
    if arguments.uk:
        nodes, sources, targets = read_uk(arguments.uk)
        print(f"uk-2007-05: {nodes} nodes, {len(sources)} links")
        compare(nodes, sources, targets, peers=arguments.peers)


def timed(name: str, work):
    results = []
    times = measured(lambda: results.append(work()))
    print(f"{name:44}{times.cpu:9.2f} CPU-s{times.wall:9.2f} s", flush=True)
    return results[0]


def made_up(nodes: int, mean: float = 12, dangling: float = 0.25, inside: float = 0.8):
    rng = np.random.default_rng(1)
    sizes = np.minimum(rng.zipf(1.6, nodes // 20), max(1, nodes // 100)).astype(np.int64)
    sizes = sizes[: np.searchsorted(np.cumsum(sizes), nodes)]
    sizes = np.append(sizes, nodes - sizes.sum())
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    host = np.repeat(np.arange(len(sizes)), sizes)
    degrees = np.minimum(rng.geometric((1 - dangling) / mean, nodes), 500)
    degrees[rng.random(nodes) < dangling] = 0
    sources = np.repeat(np.arange(nodes), degrees)
    home = host[sources]
    targets = starts[home] + (sizes[home] * rng.random(len(sources)) ** 3).astype(np.int64)
    leaving = np.flatnonzero(rng.random(len(sources)) > inside)
    to = rng.permutation(len(sizes))[(len(sizes) * rng.random(len(leaving)) ** 3).astype(np.int64)]
    targets[leaving] = starts[to] + (sizes[to] * rng.random(len(leaving)) ** 4).astype(np.int64)
    pairs = np.unique(sources * nodes + targets)
    sources, targets = np.divmod(pairs, nodes)
    return sources[sources != targets], targets[sources != targets]


def read_uk(path: Path):
    packed = np.load(path)
    nodes = len(packed["deg"])
    return nodes, np.repeat(np.arange(nodes), packed["deg"]), np.cumsum(packed["gap"])


def store_parts(store: LocalStore, sources, targets, cuts: list[int]):
    """Write a graph as the graph job writes it; part n has the nodes from cuts[n] to cuts[n + 1]."""
    entries = []
    homes = np.searchsorted(cuts, targets, side="right") - 1
    for number, (first, last) in enumerate(pairwise(cuts)):
        mine = (sources >= first) & (sources < last)
        own, linked, home_of = sources[mine] - first, targets[mine], homes[mine]
        blocks = {}
        for home in np.unique(home_of).tolist():
            chosen = home_of == home
            blocks[home] = make_block(own[chosen], linked[chosen] - cuts[home])
        where = {"partition": number, "round_number": 1}
        flags = {"flags": np.full(last - first, MEMBER | HAS_DOCUMENT, np.uint8)}
        # The number of a node stands for the hash of its URL.
        found = member_arrays(
            np.arange(first, last).astype(np.uint64), np.arange(last - first), len(cuts) - 1
        )
        entries.append(write_nodes(store, flags | found, [], **where))
        degrees = np.bincount(own, minlength=last - first)
        entries.append(write_blocks(store, blocks, degrees, **where))
    return tuple(entries)


def compare(nodes: int, sources, targets, *, peers: bool) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        store = LocalStore(folder / "crawl")
        files = timed("blocks from links, written", lambda: store_parts(store, sources, targets, [0, nodes]))
        vector, output = timed("crawlctl, one task, job and reading", lambda: solve_job(store, files, folder))
    exact = None
    if importlib.util.find_spec("scipy"):
        matrix, inverse = timed("scipy, CSR from links", lambda: scipy_matrix(nodes, sources, targets))
        ranks, steps = timed("scipy, power iteration", lambda: power(matrix, inverse, TOLERANCE))
        exact, _ = power(matrix, inverse, 1e-12)
        print(
            f"L1 error: crawlctl {np.abs(vector - exact).sum():.1e} in {output} sweeps, "
            f"scipy {np.abs(ranks - exact).sum():.1e} in {steps}"
        )
    if peers:
        run_peers(nodes, sources, targets, exact)


def solve_job(store: LocalStore, files, folder: Path):
    order = iterate_order(store, files, [(0, 1)])
    (folder / "order").write_bytes(msgspec.json.encode(order))
    (folder / "lines").write_bytes(b"-\n")
    settings = RunnerSettings(name="inline", tmp_dir=str(folder))
    done = run_job(
        RankIterate, [folder / "lines"], settings=settings, args=["--order", str(folder / "order")]
    )
    (entry,) = decode_lines((line for _, line in done.output), "output")
    vector = ArrayFile(store, entry).read("vector")
    return vector / vector.sum(), entry.counters["rounds"]


def iterate_order(store: LocalStore, files, tasks) -> IterateOrder:
    return IterateOrder(
        store=store.uri,
        round=1,
        files=files,
        tasks=tuple(tasks),
        teleports=(Teleport("uniform"),),
        damping=DAMPING,
        tolerance=TOLERANCE,
    )


def scipy_matrix(nodes: int, sources, targets):
    from scipy import sparse

    ones = np.ones(len(sources))
    matrix = sparse.csr_matrix((ones, (targets, sources)), shape=(nodes, nodes))
    degrees = np.bincount(sources, minlength=nodes)
    return matrix, np.where(degrees > 0, DAMPING / np.maximum(degrees, 1), 0.0)


def power(matrix, inverse, tolerance: float):
    nodes = len(inverse)
    rank, steps = np.full(nodes, 1 / nodes), 0
    while True:
        following = matrix @ (rank * inverse)
        following += (1 - following.sum()) / nodes
        steps += 1
        moved = np.abs(following - rank).sum()
        rank = following
        if moved * DAMPING / (1 - DAMPING) <= tolerance:
            return rank, steps


def run_peers(nodes: int, sources, targets, exact) -> None:
    if importlib.util.find_spec("igraph"):
        import igraph

        pairs = np.stack([sources, targets], axis=1)
        graph = timed("igraph, graph", lambda: igraph.Graph(n=nodes, edges=pairs, directed=True))
        ranks = timed("igraph, PRPACK", lambda: np.array(graph.pagerank(damping=DAMPING)))
        print(f"L1 error: {np.abs(ranks - exact).sum():.1e}" if exact is not None else "")
    if importlib.util.find_spec("networkx"):
        import networkx

        graph = networkx.DiGraph()
        graph.add_nodes_from(range(nodes))
        pairs = zip(sources.tolist(), targets.tolist(), strict=True)
        timed("networkx, graph", lambda: graph.add_edges_from(pairs))
        timed("networkx, pagerank", lambda: networkx.pagerank(graph, alpha=DAMPING, tol=TOLERANCE / nodes))
    textbook(nodes, sources, targets)


def textbook(nodes: int, sources, targets) -> None:
    from textbook_pagerank import TextbookPageRank

    ends = np.append(np.searchsorted(sources, np.arange(nodes)), len(sources)).tolist()
    linked = targets.tolist()
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "graph"
        with path.open("w") as file:
            for node, (first, last) in enumerate(pairwise(ends)):
                file.write(f"{node}\t[{1 / nodes}, {linked[first:last]}]\n")
        args = ["-r", "inline", "--no-conf", "--nodes", str(nodes), "--output-dir", f"{name}/out", str(path)]

        def run() -> None:
            with TextbookPageRank(args).make_runner() as runner:
                runner.run()

        timed("textbook job, one iteration of about 60", run)


if __name__ == "__main__":
    main()
