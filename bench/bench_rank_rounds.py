"""PageRank in parts: rounds to 1e-6, bytes and CPU time, on webs that make trouble, cut in several ways.

    python bench/bench_rank_rounds.py [--only chains …] [--seeds 0 1 2] [--parts 8 32]
                                      [--graph FILE.npz …] [--web DOCWEB --cache FILE]

The webs are those of made_up_webs.py and further_webs.py, cut evenly, and with their hosts dealt by the hash
of a name, as crawls deal them. A file has the arrays deg (links of each page) and gap (steps between their
targets), as uk-2007-05.npz; its pages are numbered in the order of their URLs and have no names. It is cut
evenly; where few links cross; and into groups of 3,000 and of 500 consecutive pages, which play the role of
hosts. Such groups cut real hosts apart, which crawlctl does not do. The pages of docweb go to parts by their
hosts.

A round is one shuffle; the last round, which only finds that the residual is small enough, counts too. The
error is the bound that the tasks report. The CPU time is that of the whole iteration on the inline runner,
all reading and writing included, beside a tuned power iteration of scipy to the same bound, with the matrix
in memory, if scipy is installed.
"""

from __future__ import annotations

import argparse
import importlib.util
import tempfile
from itertools import product
from pathlib import Path

import msgspec
import numpy as np
from bench_rank import TOLERANCE, iterate_order, power, read_uk, scipy_matrix, store_parts
from clock import cpu_seconds
from further_webs import FURTHER_WEBS
from made_up_webs import WEBS

from crawlctl.jobs.rank_iterate import RankIterate
from crawlctl.pipeline.config.settings import RunnerSettings
from crawlctl.pipeline.rank.graph.array_file import ArrayFile
from crawlctl.pipeline.rank.graph.graph_files import newest_states
from crawlctl.pipeline.rank.order import IterateOrder, StartingPoint
from crawlctl.pipeline.runners.job import run_job
from crawlctl.pipeline.state.manifest import decode_lines
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.urls.hosts import partition_of

ALL_WEBS = WEBS | FURTHER_WEBS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--only", nargs="*", choices=ALL_WEBS, default=list(ALL_WEBS), help="none: no web made up"
    )
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--graph", type=Path, nargs="*", default=[], help="npz files with deg and gap")
    parser.add_argument("--parts", type=int, nargs="+", default=[8, 32])
    parser.add_argument("--web", type=Path, help="a built docweb")
    parser.add_argument("--cache", type=Path, default=Path("doc-graph.pickle"))
    arguments = parser.parse_args()
    print(f"{'':34}parts crossing rounds  kB a round  CPU-s  scipy  error")
    for name, seed in product(arguments.only, arguments.seeds):
        web = ALL_WEBS[name](seed)
        graph = web.nodes, web.sources, web.targets
        bench(f"{name} {seed}", *graph, lambda parts, web=web: cuts_of(web, parts), arguments)
    for path in arguments.graph:
        nodes, sources, targets = read_uk(path)
        graph = nodes, sources, targets
        bench(path.stem, *graph, lambda parts, graph=graph: cuts_of_file(*graph, parts), arguments)
    if arguments.web:
        hosts, sources, targets = docweb(arguments.web, arguments.cache)
        bench(
            "docweb", len(hosts), sources, targets, lambda parts: [("hosts", dealt(hosts, parts))], arguments
        )


def bench(name: str, nodes: int, sources, targets, cuts, arguments) -> None:
    peer = scipy_seconds(nodes, sources, targets)
    for parts in arguments.parts:
        for cut, homes in cuts(parts):
            solve(f"{name}, {cut}", homes, sources, targets, parts, peer)


def scipy_seconds(nodes: int, sources, targets) -> float:
    if not importlib.util.find_spec("scipy"):
        return float("nan")
    matrix, inverse = scipy_matrix(nodes, sources, targets)
    before = cpu_seconds()
    power(matrix, inverse, TOLERANCE)
    return cpu_seconds() - before


def cuts_of(web, parts: int):
    yield "even", np.arange(web.nodes) * parts // web.nodes
    yield "hosts", dealt([f"host{host}.example" for host in range(web.hosts.max() + 1)], parts)[web.hosts]


def dealt(names, parts: int):
    return np.array([partition_of(name, parts) for name in names])


def cuts_of_file(nodes: int, sources, targets, parts: int):
    yield "even", np.arange(nodes) * parts // nodes
    yield "where few links cross", sparse(nodes, sources, targets, parts)
    for pages in (3000, 500):
        for seed in (1, 2, 3):
            names = [f"{seed}.host{host}.example" for host in range(nodes // pages + 1)]
            yield f"hosts of {pages}, seed {seed}", dealt(names, parts)[np.arange(nodes) // pages]


def sparse(nodes: int, sources, targets, parts: int):
    low, high = np.minimum(sources, targets), np.maximum(sources, targets)
    crossing = np.cumsum(
        np.bincount(low + 1, minlength=nodes + 2) - np.bincount(high + 1, minlength=nodes + 2)
    )
    cuts, reach = [0], nodes // parts // 4
    for number in range(1, parts):
        near = number * nodes // parts - reach
        cuts.append(near + int(np.argmin(crossing[near : near + 2 * reach])))
    return np.searchsorted(cuts, np.arange(nodes), side="right") - 1


def docweb(web: Path, cache: Path):
    from doc_graph import load_pages

    pages = load_pages(web, cache)
    hosts = [page.url.split("/")[2] for page in pages]
    sources = np.repeat(np.arange(len(pages)), [len(page.links) for page in pages])
    return hosts, sources, np.array([target for page in pages for target, _ in page.links])


def solve(name: str, homes, sources, targets, parts: int, peer: float) -> None:
    number = np.empty(len(homes), np.int64)
    number[np.argsort(homes, kind="stable")] = np.arange(len(homes))
    cuts = np.cumsum([0, *np.bincount(homes, minlength=parts)]).tolist()
    with tempfile.TemporaryDirectory() as folder:
        store = LocalStore(Path(folder) / "crawl")
        files = store_parts(store, number[sources], number[targets], cuts)
        before = cpu_seconds()
        left, shuffled = rounds_job(iterate_order(store, files, each_alone(parts)), Path(folder))
        entry = left[0]
        spent, error = cpu_seconds() - before, ArrayFile(store, entry).facts["error"]
    rounds, crossing = entry.counters["rounds"], np.mean(homes[sources] != homes[targets])
    print(
        f"{name:34}{parts:5}{crossing:9.0%}{rounds:7}{shuffled / rounds / 1000:12.0f}{spent:7.1f}{peer:7.2f}"
        f"  {error:.1e}",
        flush=True,
    )


def each_alone(parts: int):
    return [(number, number + 1) for number in range(parts)]


def rounds_job(order: IterateOrder, folder: Path):
    parts = len(order.tasks)
    (folder / "order").write_bytes(msgspec.json.encode(order))
    settings = RunnerSettings(name="inline", tmp_dir=str(folder))
    args = ["--order", str(folder / "order"), "--reducers", str(parts), "--rounds", "5"]
    starts, shuffled = [StartingPoint(number) for number in range(parts)], 0
    while True:
        (folder / "lines").write_bytes(b"".join(msgspec.json.encode(start) + b"\n" for start in starts))
        done = run_job(RankIterate, [folder / "lines"], settings=settings, args=args)
        left = list(decode_lines((line for _, line in done.output), "output"))
        shuffled += done.counters.get("rank", "bytes_shuffled")
        newest = newest_states(left)
        if not newest:
            return left, shuffled
        starts = [StartingPoint(start.task, 0, newest[start.task]) for start in starts]


if __name__ == "__main__":
    main()
