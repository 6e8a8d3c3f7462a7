"""PageRank from the last ranks: sweeps or rounds and CPU time to 1e-6, in one task and in parts.

    python bench/bench_rank_warm.py --graph uk-2007-05.npz [--changed .0001 .01 .05] [--parts 1 8] [--tries 3]

The graph is ranked; then a share of it changes, and it is ranked again, from scratch and from the last ranks.
`links`: that share of the links leads to other pages, four of five near the linking page. `pages`: that share
of the pages was not fetched before and had no links. In parts, groups of 500 consecutive pages are dealt by
hash, as bench_rank_rounds.py does. The CPU time is the least of some tries: the job that solves, on the
inline runner, with all its reading and writing.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from bench_rank import iterate_order, read_uk, store_parts
from bench_rank_rounds import dealt, each_alone, rounds_job
from clock import cpu_seconds

from crawlctl.jobs.rank_iterate import RankIterate
from crawlctl.pipeline.config.settings import RunnerSettings
from crawlctl.pipeline.rank.graph.array_file import ArrayFile
from crawlctl.pipeline.rank.graph.graph_files import node_files
from crawlctl.pipeline.rank.publish.publish import write_aligned
from crawlctl.pipeline.rank.solve.warm_start import TOTALS
from crawlctl.pipeline.runners.job import run_job
from crawlctl.pipeline.state.manifest import decode_lines
from crawlctl.pipeline.store.local.store import LocalStore

if TYPE_CHECKING:
    from crawlctl.pipeline.rank.order import IterateOrder

HOST = 500


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graph", type=Path, nargs="+", required=True, help="npz files with deg and gap")
    parser.add_argument("--changed", type=float, nargs="+", default=[0.0001, 0.01, 0.05])
    parser.add_argument("--parts", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--tries", type=int, default=3)
    arguments = parser.parse_args()
    print(f"{'':16}parts changed          rounds, CPU-s from scratch   from the last ranks")
    for path in arguments.graph:
        nodes, sources, targets = read_uk(path)
        for parts in arguments.parts:
            for share in arguments.changed:
                for kind, pair in (
                    ("links", ((sources, targets), other_links(nodes, sources, targets, share))),
                    ("pages", (fewer_pages(nodes, sources, targets, share), (sources, targets))),
                ):
                    cold, warm = compare(nodes, *pair, parts, arguments.tries)
                    print(
                        f"{path.stem:16}{parts:5} {share:7.2%} {kind:8}{cold[0]:6}{cold[1]:8.2f}"
                        f"{warm[0]:24}{warm[1]:8.2f}",
                        flush=True,
                    )


def other_links(nodes: int, sources, targets, share: float):
    rng = np.random.default_rng(5)
    moved = np.flatnonzero(rng.random(len(sources)) < share)
    near = np.clip(sources[moved] + rng.integers(-200, 200, len(moved)), 0, nodes - 1)
    changed = targets.copy()
    changed[moved] = np.where(rng.random(len(moved)) < 0.8, near, rng.permutation(targets)[: len(moved)])
    return np.divmod(np.unique(sources * nodes + changed), nodes)


def fewer_pages(nodes: int, sources, targets, share: float):
    known = np.random.default_rng(5).random(nodes) >= share
    return sources[known[sources]], targets[known[sources]]


def compare(nodes: int, before, after, parts: int, tries: int):
    homes = np.zeros(nodes, np.int64)
    if parts > 1:
        homes = dealt([f"host{host}.example" for host in range(nodes // HOST + 1)], parts)[
            np.arange(nodes) // HOST
        ]
    number = np.empty(nodes, np.int64)
    number[np.argsort(homes, kind="stable")] = np.arange(nodes)
    cuts = np.cumsum([0, *np.bincount(homes, minlength=parts)]).tolist()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        store = LocalStore(folder / "crawl")
        old, new = (store_parts(store, number[some[0]], number[some[1]], cuts) for some in (before, after))
        order = iterate_order(store, old, each_alone(parts))
        ranks = published(store, solved(order, folder), cuts)
        cold = msgspec.structs.replace(order, files=new)
        last_nodes = tuple(node_files(old).values())
        warm = msgspec.structs.replace(cold, last_nodes=last_nodes, last_ranks=ranks)
        found = [(timed(cold, folder), timed(warm, folder)) for _ in range(tries)]
    return [(times[0][0], min(spent for _, spent in times)) for times in zip(*found, strict=True)]


def timed(order: IterateOrder, folder: Path):
    before = cpu_seconds()
    left = solved(order, folder)
    return left[0].counters["rounds"], cpu_seconds() - before


def solved(order: IterateOrder, folder: Path):
    if len(order.tasks) > 1:
        return rounds_job(order, folder)[0]
    (folder / "order").write_bytes(msgspec.json.encode(order))
    (folder / "lines").write_bytes(b"-\n")
    args = ["--order", str(folder / "order")]
    settings = RunnerSettings(name="inline", tmp_dir=str(folder))
    done = run_job(RankIterate, [folder / "lines"], settings=settings, args=args)
    return list(decode_lines((line for _, line in done.output), "output"))


def published(store: LocalStore, left, cuts: list[int]):
    """Write the ranks of a solution as the job that publishes them does."""
    files = {entry.partition: ArrayFile(store, entry) for entry in left}
    total = sum(file.facts["sum"] for file in files.values())
    return tuple(
        write_aligned(
            store,
            files[number].read("vector") / total,
            {TOTALS: [total, total]},
            partition=number,
            round_number=1,
        )
        for number in range(len(cuts) - 1)
    )


if __name__ == "__main__":
    main()
