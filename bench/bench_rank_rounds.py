"""PageRank in parts: rounds to 1e-6 and bytes shuffled, for several ways to cut a graph.

    python bench/bench_rank_rounds.py UK [--parts 8 32 …] [--web DOCWEB --cache FILE]

UK is uk-2007-05.npz, whose pages are numbered in the order of their URLs and have no names. It is cut evenly;
where few links cross; and into groups of 3,000 and of 500 consecutive pages, which play the role of hosts and
go to parts by the hash of an invented name, as hosts do in crawlctl, with three random seeds. Such groups cut
real hosts apart, which crawlctl does not do. The pages of docweb go to parts by their hosts. A round is one
shuffle; the last round, which only finds that the residual is small enough, counts too. The error is the
bound that the tasks report.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import msgspec
import numpy as np
from bench_rank import iterate_order, read_uk, store_parts
from clock import cpu_seconds

from crawlctl.jobs.rank_iterate import RankIterate
from crawlctl.pipeline.config.settings import RunnerSettings
from crawlctl.pipeline.rank.graph.array_file import ArrayFile
from crawlctl.pipeline.rank.graph.graph_files import newest_states
from crawlctl.pipeline.rank.order import StartingPoint
from crawlctl.pipeline.runners.job import run_job
from crawlctl.pipeline.state.manifest import decode_lines
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.pipeline.urls.hosts import partition_of


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("uk", type=Path)
    parser.add_argument("--parts", type=int, nargs="+", default=[8])
    parser.add_argument("--web", type=Path, help="a built docweb")
    parser.add_argument("--cache", type=Path, default=Path("doc-graph.pickle"))
    arguments = parser.parse_args()
    nodes, sources, targets = read_uk(arguments.uk)
    print(f"{'':26}parts rounds  kB a round  CPU-s  error")
    for parts in arguments.parts:
        for name, homes in cuts_of_uk(nodes, sources, targets, parts):
            solve(f"uk, {name}", homes, sources, targets, parts)
        if arguments.web:
            solve("docweb", *docweb(arguments.web, arguments.cache, parts), parts)


def cuts_of_uk(nodes: int, sources, targets, parts: int):
    yield "even", np.arange(nodes) * parts // nodes
    yield "where few links cross", sparse(nodes, sources, targets, parts)
    for pages in (3000, 500):
        for seed in (1, 2, 3):
            names = [f"{seed}.host{host}.example" for host in range(nodes // pages + 1)]
            dealt = np.array([partition_of(name, parts) for name in names])
            yield f"hosts of {pages}, seed {seed}", dealt[np.arange(nodes) // pages]


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


def docweb(web: Path, cache: Path, parts: int):
    from doc_graph import load_pages

    pages = load_pages(web, cache)
    homes = np.array([partition_of(page.url.split("/")[2], parts) for page in pages])
    sources = np.repeat(np.arange(len(pages)), [len(page.links) for page in pages])
    return homes, sources, np.array([target for page in pages for target, _ in page.links])


def solve(name: str, homes, sources, targets, parts: int) -> None:
    number = np.empty(len(homes), np.int64)
    number[np.argsort(homes, kind="stable")] = np.arange(len(homes))
    cuts = np.cumsum([0, *np.bincount(homes, minlength=parts)]).tolist()
    with tempfile.TemporaryDirectory() as folder:
        store = LocalStore(Path(folder) / "crawl")
        files = store_parts(store, number[sources], number[targets], cuts)
        before = cpu_seconds()
        entry, shuffled = rounds_job(store, files, parts, Path(folder))
        spent, error = cpu_seconds() - before, ArrayFile(store, entry).facts["error"]
    rounds = entry.counters["rounds"]
    print(
        f"{name:26}{parts:5}{rounds:7}{shuffled / rounds / 1000:12.0f}{spent:7.1f}  {error:.1e}", flush=True
    )


def rounds_job(store: LocalStore, files, parts: int, folder: Path):
    order = iterate_order(store, files, [(number, number + 1) for number in range(parts)])
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
            return left[0], shuffled
        starts = [StartingPoint(start.task, 0, newest[start.task]) for start in starts]


if __name__ == "__main__":
    main()
