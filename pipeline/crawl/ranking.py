"""Ranks the pages of a crawl: jobs for the graph, the iteration and the publication, then a commit.

The journal keeps each job under the number of the snapshot and a hash of its order. So a stopped ranking
continues where it was stopped; with other settings, or on another snapshot, it starts again.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from crawlctl.pipeline.crawl.leased_crawl import leased_crawl
from crawlctl.pipeline.crawl.work import run_ordered
from crawlctl.pipeline.errors import ConfigError
from crawlctl.pipeline.orders import encode_order
from crawlctl.pipeline.rank.graph.graph_files import newest_states, node_files, solutions_for
from crawlctl.pipeline.rank.graph.stored_graph import deal_partitions
from crawlctl.pipeline.rank.order import (
    SEEDS,
    UNIFORM,
    GraphOrder,
    IterateOrder,
    PublishOrder,
    StartingPoint,
    Teleport,
)
from crawlctl.pipeline.rank.publish.rank_tables import ALIGNED
from crawlctl.pipeline.state.kinds import GRAPH, RANKS, WEBDB
from crawlctl.pipeline.urls.hosts import stable_hash
from crawlctl.pipeline.urls.seeds import read_seeds
from crawlctl.pipeline.webdb.part import lookup, with_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from crawlctl.pipeline.config.settings import RunnerSettings
    from crawlctl.pipeline.crawl.leased_crawl import LeasedCrawl
    from crawlctl.pipeline.crawl.work import Work
    from crawlctl.pipeline.mrjob_light import MRJob
    from crawlctl.pipeline.orders import StoreOrder
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot

ROUNDS_PER_JOB = 5  # a kill loses at most this number of rounds; on a cluster each round is a job anyway
MOST_JOBS = 200
# a crawl of fewer URLs is ranked without forking tasks, which would take longer than their work
SMALL = 20_000
# A graph of fewer URLs is solved from scratch in a fraction of a second, of which the last ranks save about
# half at most (bench_rank_warm.py). So its ranks depend on the crawl alone, to the last bit, not on earlier
# rankings, which differ within the tolerance.
WARM_FROM = 200_000
MAX_HOPS = 5  # the most redirects from a URL of the teleport file to its page


def rank_now(work: Work) -> Snapshot:
    """Rank the current snapshot outside of a run, and return the snapshot with the ranks."""
    with leased_crawl(work, "rank") as crawl:
        return rank_crawl(crawl)


def rank_crawl(crawl: LeasedCrawl) -> Snapshot:
    """Rank the pages of a crawl and commit the ranks; return the snapshot that is current then."""
    snapshot = crawl.snapshot
    if not any(entry.records for entry in snapshot.files_of(WEBDB)):
        crawl.work.display.say("there is nothing to rank")
        return snapshot
    with crawl.times.step("rank"):
        files = _ranked(_Ranking(crawl.work, snapshot, crawl.kept_step))
    return crawl.commit(files, made_by=crawl.part_of_command("ranks"))


def ranked_draft(work: Work, draft: Snapshot) -> tuple[FileEntry, ...]:
    """Return the files of a snapshot that is not in the store, with new ranks; nothing is committed."""
    return _ranked(_Ranking(work, draft, lambda _step, run: run(), is_draft=True))


def _ranked(ranking: _Ranking) -> tuple[FileEntry, ...]:
    graph = ranking.graph()
    solutions = ranking.solve(graph)
    published = ranking.publish(graph, solutions)
    replaced = (GRAPH, RANKS)
    kept = tuple(entry for entry in with_parts(ranking.snapshot, published) if entry.kind not in replaced)
    tables = tuple(entry for entry in published if entry.kind == RANKS)
    return (*kept, *tables, *graph)


@dataclass(frozen=True)
class _Ranking:
    """The jobs of one ranking of a snapshot; `kept_step` returns the files of a job that was done before."""

    work: Work
    snapshot: Snapshot
    kept_step: Callable[[str, Callable[[], tuple[FileEntry, ...]]], tuple[FileEntry, ...]]
    is_draft: bool = False

    @property
    def _draft(self) -> Snapshot | None:
        return self.snapshot if self.is_draft else None

    def graph(self) -> tuple[FileEntry, ...]:
        """Return the files of the graph."""
        from crawlctl.jobs.rank_graph import RankGraph

        order = GraphOrder(
            store=self.work.store.uri,
            snapshot=self.snapshot.number,
            round=self._round,
            partitions=self.snapshot.partitions,
            draft=self._draft,
        )
        run = partial(
            self._run, RankGraph, order, self._partitions, "graph", reducers=self.snapshot.partitions
        )
        return self._kept(GRAPH, run)

    def solve(self, graph: tuple[FileEntry, ...]) -> list[tuple[FileEntry, ...]]:
        """Return two solutions: the published ranks, and the ranks that order pages for fetching."""
        settings = self.work.config.rank
        tasks = deal_partitions(graph, self.snapshot.partitions, settings.memory)
        order = IterateOrder(
            store=self.work.store.uri,
            round=self._round,
            files=graph,
            tasks=tuple(tasks),
            teleports=(self._teleport(), Teleport(SEEDS)),
            damping=settings.damping,
            tolerance=settings.tolerance,
        )
        if not self.is_draft and sum(node.records for node in node_files(graph).values()) >= WARM_FROM:
            order = replace(order, last_nodes=self._last_nodes, last_ranks=self._last_ranks)
        if len(tasks) > 1:
            return [self._solve_in_rounds(order, number) for number in range(len(order.teleports))]
        solved = self._kept(f"solution{self._asked(order)}", lambda: self._solve_at_once(order))
        return [solutions_for(solved, teleport) for teleport in range(len(order.teleports))]

    def _solve_at_once(self, order: IterateOrder) -> tuple[FileEntry, ...]:
        from crawlctl.jobs.rank_iterate import RankIterate

        return self._run(RankIterate, order, [b"-"], "ranks")

    def _solve_in_rounds(self, order: IterateOrder, teleport: int) -> tuple[FileEntry, ...]:
        """Return one solution; each job runs some rounds and writes the states from which the next starts."""
        from crawlctl.jobs.rank_iterate import RankIterate

        run = partial(
            self._run, RankIterate, reducers=len(order.tasks), args=["--rounds", str(ROUNDS_PER_JOB)]
        )
        starts = [StartingPoint(task, teleport) for task in range(len(order.tasks))]
        for number in range(MOST_JOBS):
            lines = [encode_order(start) for start in starts]
            # Not "rounds" or "halo-rounds": so older releases have named states of another form.
            name = f"linked-halo-rounds{number}-{teleport}{self._asked(order)}"
            title = f"ranks {teleport + 1} of {len(order.teleports)}, job {number + 1}"
            left = self._kept(name, partial(run, order, lines, title))
            newest = newest_states(left)
            if not newest:
                return left
            starts = [StartingPoint(start.task, teleport, newest[start.task]) for start in starts]
        raise ConfigError(
            f"ranks are not known well enough after {MOST_JOBS * ROUNDS_PER_JOB} rounds; "
            "set a larger rank.tolerance"
        )

    def publish(
        self, graph: tuple[FileEntry, ...], solutions: Sequence[tuple[FileEntry, ...]]
    ) -> tuple[FileEntry, ...]:
        """Return the files of the ranks, the priors and the WebDB with its scores."""
        from crawlctl.jobs.rank_publish import RankPublish

        settings = self.work.config.rank
        order = PublishOrder(
            store=self.work.store.uri,
            snapshot=self.snapshot.number,
            round=self._round,
            partitions=self.snapshot.partitions,
            graph=graph,
            ranks=solutions[0],
            scores=solutions[1],
            damping=settings.damping,
            tolerance=settings.tolerance,
            focus=self.work.config.focus,
            draft=self._draft,
        )
        return self._run(RankPublish, order, self._partitions, "publish")

    @property
    def _runner(self) -> RunnerSettings:
        settings = self.work.config.runner
        urls = sum(entry.records for entry in self.snapshot.files_of(WEBDB))
        return replace(settings, name="inline") if settings.name == "forked" and urls < SMALL else settings

    @property
    def _last_nodes(self) -> tuple[FileEntry, ...]:
        return tuple(node_files(self.snapshot.files_of(GRAPH)).values())

    @property
    def _last_ranks(self) -> tuple[FileEntry, ...]:
        return tuple(entry for entry in self.snapshot.files_of(RANKS) if entry.name.endswith(ALIGNED))

    @property
    def _round(self) -> int:
        return self.snapshot.round

    @property
    def _partitions(self) -> list[bytes]:
        return [b"%d" % number for number in range(self.snapshot.partitions)]

    def _asked(self, order: IterateOrder) -> str:
        """Return a name made from the order, so that no ranking continues the work of another order."""
        return f"-{stable_hash(encode_order(order)):016x}"

    def _kept(self, name: str, run: Callable[[], tuple[FileEntry, ...]]) -> tuple[FileEntry, ...]:
        """Return the files of a job that was finished before, or run it.

        They are recorded in the journal of the open round, because `crawlctl gc` keeps all files that it
        names.
        """
        return self.kept_step(f"rank-{self.snapshot.number:08d}-{name}", run)

    def _run(
        self,
        job: type[MRJob],
        order: StoreOrder,
        lines: Sequence[bytes],
        title: str,
        *,
        reducers: int | None = None,
        args: Sequence[str] = (),
    ) -> tuple[FileEntry, ...]:
        self.work.display.say(f"ranking, {title}")
        return run_ordered(self.work, job, order, lines, reducers=reducers, args=args, runner=self._runner)

    def _teleport(self) -> Teleport:
        wanted = self.work.config.rank.teleport
        if wanted in (UNIFORM, SEEDS):
            return Teleport(wanted)
        seeds = read_seeds(Path(wanted), self.work.config.urls.strip_parameters).require_all_good()
        pages = {page for page in map(self._page_of, seeds.urls) if page}
        if not pages:
            raise ConfigError(f"{wanted}: the crawl knows none of its URLs; name pages that were crawled")
        return Teleport("urls", tuple(sorted(map(stable_hash, pages))))

    def _page_of(self, url: str) -> str:
        """Return the page that a URL leads to, or "" if the crawl does not know it."""
        for _ in range(MAX_HOPS):
            entry = lookup(self.work.store, self.snapshot, url)
            if entry is None:
                return ""
            following = entry.redirect_to or ("" if entry.live else entry.canonical)
            if not following:
                return url
            url = following
        return ""
