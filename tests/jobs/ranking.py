"""Runs the jobs of a ranking by themselves, as the driver would."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from crawlctl.jobs.rank_graph import RankGraph
from crawlctl.jobs.rank_iterate import RankIterate
from crawlctl.pipeline.config.settings import RunnerSettings
from crawlctl.pipeline.orders import encode_order
from crawlctl.pipeline.rank.graph.array_file import ArrayFile
from crawlctl.pipeline.rank.graph.graph_files import newest_states
from crawlctl.pipeline.rank.graph.stored_graph import Graph as StoredFiles
from crawlctl.pipeline.rank.order import GraphOrder, IterateOrder, StartingPoint, Teleport
from crawlctl.pipeline.runners.job import run_job
from crawlctl.pipeline.state.manifest import decode_lines
from crawlctl.pipeline.webdb.part import scan

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from crawlctl.pipeline.config.settings import RunnerName
    from crawlctl.pipeline.orders import TaskOrder
    from crawlctl.pipeline.runners.job_result import JobResult
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store

DAMPING = 0.85


def run(
    job: Any, order: TaskOrder, lines: Iterable[bytes], folder: Path, runner: RunnerName, *args: str
) -> JobResult:
    (folder / "order.json").write_bytes(encode_order(order))
    (folder / "lines").write_bytes(b"".join(line + b"\n" for line in lines))
    settings = RunnerSettings(name=runner, workers=2, tmp_dir=str(folder))
    return run_job(
        job, [folder / "lines"], settings=settings, args=["--order", str(folder / "order.json"), *args]
    )


def manifest(result: JobResult) -> tuple[FileEntry, ...]:
    return tuple(decode_lines((line for _, line in result.output), "output"))


def make_graph(
    store: Store, snapshot: Snapshot, folder: Path, runner: RunnerName = "inline"
) -> tuple[FileEntry, ...]:
    order = GraphOrder(store=store.uri, snapshot=snapshot.number, round=2, partitions=snapshot.partitions)
    lines = [b"%d" % number for number in range(snapshot.partitions)]
    count = str(snapshot.partitions)
    return manifest(run(RankGraph, order, lines, folder, runner, "--reducers", count))


def iterate(
    store: Store,
    files: tuple[FileEntry, ...],
    tasks: list[tuple[int, int]],
    folder: Path,
    runner: RunnerName = "inline",
    *,
    tolerance: float,
    rounds: int = 6,
    teleports: tuple[Teleport, ...] = (Teleport("uniform"),),
) -> tuple[tuple[FileEntry, ...], int]:
    """Return the solutions and the jobs it took."""
    order = IterateOrder(
        store=store.uri,
        round=2,
        files=files,
        tasks=tuple(tasks),
        teleports=teleports,
        damping=DAMPING,
        tolerance=tolerance,
    )
    if len(tasks) == 1:
        return manifest(run(RankIterate, order, [b"-"], folder, runner)), 1
    starts = [StartingPoint(number) for number in range(len(tasks))]
    for jobs in range(1, 100):
        lines = [encode_order(start) for start in starts]
        args = ("--reducers", str(len(tasks)), "--rounds", str(rounds))
        left = manifest(run(RankIterate, order, lines, folder, runner, *args))
        newest = newest_states(left)
        if not newest:
            return left, jobs
        starts = [StartingPoint(number, 0, newest[number]) for number in range(len(tasks))]
    raise AssertionError("no end")


def ranks_by_url(
    store: Store, snapshot: Snapshot, graph: tuple[FileEntry, ...], solution: tuple[FileEntry, ...]
) -> dict[str, float]:
    """Return the ranks that a solution, whose tasks follow each other, gives to the URLs of the WebDB."""
    vectors = [
        ArrayFile(store, entry).read("vector") for entry in sorted(solution, key=lambda e: e.partition)
    ]
    vector = np.concatenate(vectors)
    urls = [url for number in range(snapshot.partitions) for url, _ in scan(store, snapshot, number)]
    assert StoredFiles(store, graph).count("nodes") == len(urls) == len(vector)
    return dict(zip(urls, (vector / vector.sum()).tolist(), strict=True))
