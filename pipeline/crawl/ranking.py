"""The steps that rank the pages of a crawl: graph, iteration, publication, and the commit of all of it.

Each job is kept in the journal, under the number of the snapshot and what was asked for, so that a ranking
that was stopped goes on where it was: with other settings, or on another snapshot, it begins anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from crawlctl.pipeline.crawl.round_steps import desk, manifest_of
from crawlctl.pipeline.errors import ConfigError
from crawlctl.pipeline.orders import encode_order
from crawlctl.pipeline.processes.signals import exit_on_signals
from crawlctl.pipeline.rank.graph.stored_graph import group_partitions
from crawlctl.pipeline.rank.order import (
    SEEDS,
    UNIFORM,
    GraphOrder,
    IterateOrder,
    PublishOrder,
    StartingPoint,
    Teleport,
)
from crawlctl.pipeline.runners.job import run_job
from crawlctl.pipeline.state.journal import finish_step, finished_step
from crawlctl.pipeline.state.lease import hold_lease
from crawlctl.pipeline.state.snapshots import commit, load_current
from crawlctl.pipeline.urls.hosts import stable_hash
from crawlctl.pipeline.urls.seeds import read_seeds
from crawlctl.pipeline.webdb.part import KIND as WEBDB
from crawlctl.pipeline.webdb.part import lookup, with_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from crawlctl.pipeline.config.settings import RunnerSettings
    from crawlctl.pipeline.crawl.round_steps import Crew
    from crawlctl.pipeline.mrjob_light import MRJob
    from crawlctl.pipeline.orders import TaskOrder
    from crawlctl.pipeline.state.lease import Lease
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot

ROUNDS_A_JOB = 5  # a kill loses no more than these; on a cluster each is a job of its own in any case
MOST_JOBS = 200
SMALL = 20_000  # URLs; to fork tasks for fewer takes longer than what they have to do
MAX_HOPS = 5
GRAPH = "graph"
RANKS = "ranks"


def rank_now(crew: Crew) -> Snapshot:
    """Rank the current snapshot outside of a run and return the one with the ranks."""
    load_current(crew.store)  # where there is no crawl, leave not even a lease behind
    with exit_on_signals(), hold_lease(crew.store, crew.config.lease.ttl, "rank") as lease:
        return rank_snapshot(crew, lease, load_current(crew.store))


def is_due(crew: Crew, snapshot: Snapshot, *, last: bool) -> bool:
    """Tell whether a run ranks now that it has reached a snapshot, which may be its last."""
    every, rounds = crew.config.rank.every, unranked_rounds(snapshot)
    return every is not None and rounds > 0 and (last or 0 < every <= rounds)


def unranked_rounds(snapshot: Snapshot) -> int:
    """Return how many rounds there were since the last ranking, by the names of its files."""
    ranked = (entry.name.split("/")[2].partition("-")[0] for entry in snapshot.files_of(RANKS))
    return snapshot.round - max(map(int, ranked), default=0)


def rank_snapshot(crew: Crew, lease: Lease, snapshot: Snapshot) -> Snapshot:
    """Rank a snapshot and commit the next one, or return it where it has nothing to rank."""
    if not any(entry.records for entry in snapshot.files_of(WEBDB)):
        crew.display.say("there is nothing to rank")
        return snapshot
    ranking = _Ranking(crew, lease, snapshot)
    graph = ranking.graph()
    solutions = ranking.solve(graph)
    published = ranking.publish(graph, solutions)
    lease.check()
    replaced = (GRAPH, RANKS)
    kept = tuple(entry for entry in with_parts(snapshot, published) if entry.kind not in replaced)
    tables = tuple(entry for entry in published if entry.kind == RANKS)
    files = (*kept, *tables, *graph)
    return commit(crew.store, snapshot, files=files, round_number=snapshot.round)


@dataclass(frozen=True)
class _Ranking:
    """A ranking at work."""

    crew: Crew
    lease: Lease
    snapshot: Snapshot

    def graph(self) -> tuple[FileEntry, ...]:
        """Return the files of the graph."""
        from crawlctl.jobs.rank_graph import RankGraph

        order = GraphOrder(
            store=self.crew.store.uri,
            snapshot=self.snapshot.number,
            round=self._round,
            partitions=self.snapshot.partitions,
        )
        args = ["--reducers", str(self.snapshot.partitions)]
        return self._kept(GRAPH, lambda: self._run(RankGraph, order, self._partitions, args, "graph"))

    def solve(self, graph: tuple[FileEntry, ...]) -> list[tuple[FileEntry, ...]]:
        """Return the solutions: the one that is published, and the one by which pages are fetched."""
        settings = self.crew.config.rank
        groups = group_partitions(graph, self.snapshot.partitions, settings.memory)
        order = IterateOrder(
            store=self.crew.store.uri,
            round=self._round,
            files=graph,
            groups=tuple(groups),
            teleports=(self._teleport(), Teleport(SEEDS)),
            damping=settings.damping,
            tolerance=settings.tolerance,
        )
        if len(groups) > 1:
            return [self._solve_in_rounds(order, number) for number in range(len(order.teleports))]
        solved = self._kept(f"solution{self._asked(order)}", lambda: self._solve_at_once(order))
        return [tuple(one for one in solved if one.counters["solution"] == n) for n in (0, 1)]

    def _solve_at_once(self, order: IterateOrder) -> tuple[FileEntry, ...]:
        from crawlctl.jobs.rank_iterate import RankIterate

        return self._run(RankIterate, order, [b"-"], [], "ranks")

    def _solve_in_rounds(self, order: IterateOrder, teleport: int) -> tuple[FileEntry, ...]:
        """Return one solution; each job runs some rounds, and its states are where the next begins."""
        from crawlctl.jobs.rank_iterate import RankIterate

        args = ["--reducers", str(len(order.groups)), "--rounds", str(ROUNDS_A_JOB)]
        starts = [StartingPoint(group, teleport) for group in range(len(order.groups))]
        for number in range(MOST_JOBS):
            lines = [encode_order(start) for start in starts]
            name = f"rounds{number}-{teleport}{self._asked(order)}"
            title = f"ranks {teleport + 1} of {len(order.teleports)}, job {number + 1}"
            left = self._kept(name, partial(self._run, RankIterate, order, lines, args, title))
            newest = {entry.counters["state"]: entry for entry in left if "state" in entry.counters}
            if not newest:
                return left
            starts = [StartingPoint(start.group, teleport, newest[start.group]) for start in starts]
        raise ConfigError(
            f"ranks are not known well enough after {MOST_JOBS * ROUNDS_A_JOB} rounds; "
            "set a larger rank.tolerance"
        )

    def publish(
        self, graph: tuple[FileEntry, ...], solutions: Sequence[tuple[FileEntry, ...]]
    ) -> tuple[FileEntry, ...]:
        """Return the files of the ranks, the priors and the WebDB with its scores."""
        from crawlctl.jobs.rank_publish import RankPublish

        settings = self.crew.config.rank
        order = PublishOrder(
            store=self.crew.store.uri,
            snapshot=self.snapshot.number,
            round=self._round,
            partitions=self.snapshot.partitions,
            graph=graph,
            ranks=solutions[0],
            scores=solutions[1],
            damping=settings.damping,
            tolerance=settings.tolerance,
            focus=self.crew.config.focus,
        )
        return self._run(RankPublish, order, self._partitions, [], "publish")

    @property
    def _runner(self) -> RunnerSettings:
        settings = self.crew.config.runner
        urls = sum(entry.records for entry in self.snapshot.files_of(WEBDB))
        return replace(settings, name="inline") if settings.name == "forked" and urls < SMALL else settings

    @property
    def _round(self) -> int:
        return self.snapshot.round

    @property
    def _partitions(self) -> list[bytes]:
        return [b"%d" % number for number in range(self.snapshot.partitions)]

    def _asked(self, order: IterateOrder) -> str:
        """Return a name for what is to be solved, lest somebody goes on with the answer to something else."""
        return f"-{stable_hash(encode_order(order)):016x}"

    def _kept(self, name: str, run: Callable[[], tuple[FileEntry, ...]]) -> tuple[FileEntry, ...]:
        """Return the files of a job that was finished before, or run it."""
        # In the journal of the open round gc leaves alone what a ranking has reached.
        number, step = self.snapshot.round + 1, f"rank-{self.snapshot.number:08d}-{name}"
        files = finished_step(self.crew.store, number, step)
        if files is None:
            files = run()
            self.lease.check()
            finish_step(self.crew.store, number, step, files)
        return files

    def _run(
        self,
        job: type[MRJob],
        order: TaskOrder,
        lines: Sequence[bytes],
        args: Sequence[str],
        title: str,
    ) -> tuple[FileEntry, ...]:
        settings = self._runner
        self.crew.display.say(f"ranking, {title}")
        with desk(settings) as place:
            file = place.write("order.json", [encode_order(order)])
            inputs = place.write("lines", lines)
            return manifest_of(run_job(job, [inputs], settings=settings, args=["--order", str(file), *args]))

    def _teleport(self) -> Teleport:
        wanted = self.crew.config.rank.teleport
        if wanted in (UNIFORM, SEEDS):
            return Teleport(wanted)
        seeds = read_seeds(Path(wanted), self.crew.config.urls.strip_parameters).require_all_good()
        pages = {page for page in map(self._page_of, seeds.urls) if page}
        if not pages:
            raise ConfigError(f"{wanted}: the crawl knows none of its URLs; name pages that were crawled")
        return Teleport("urls", tuple(sorted(map(stable_hash, pages))))

    def _page_of(self, url: str) -> str:
        """Return the page that a URL stands for, or "" if the crawl knows none."""
        for _ in range(MAX_HOPS):
            entry = lookup(self.crew.store, self.snapshot, url)
            if entry is None:
                return ""
            following = entry.redirect_to or ("" if entry.live else entry.canonical)
            if not following:
                return url
            url = following
        return ""
