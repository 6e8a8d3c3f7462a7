"""The fetch step and the WebDB merge of a round, each one job."""

from __future__ import annotations

import importlib
import time
from typing import TYPE_CHECKING

from crawlctl.pipeline.crawl.work import Shown, files_of, run_ordered, step_folder
from crawlctl.pipeline.fetch.order import FetchOrder
from crawlctl.pipeline.orders import encode_order
from crawlctl.pipeline.progress.display import ShownStep
from crawlctl.pipeline.state.kinds import OUTCOMES
from crawlctl.pipeline.terminal.counted import counted
from crawlctl.pipeline.urls.domains import load_suffixes
from crawlctl.pipeline.webdb.merge.order import MERGED_KINDS, MergeOrder, mapper_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from crawlctl.pipeline.crawl.round_plan import RoundPlan
    from crawlctl.pipeline.crawl.work import Work
    from crawlctl.pipeline.runners.job_result import Counters
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot


def fetch(
    work: Work,
    snapshot: Snapshot,
    plan: RoundPlan,
    seed_hosts: Sequence[str] | None,
    tail_wait: float | None = None,
    *,
    may_lengthen: bool = False,
) -> tuple[FileEntry, ...]:
    """Fetch what is due, one task per partition, and return the files of all runs.

    With `tail_wait`, tasks wait at most `tail_wait` seconds for slow hosts once a task has found new work.
    With `may_lengthen`, the round may go on for URLs that it has found itself.

    All tasks run at once, however many cores there are: they mostly wait for their hosts.
    """
    from crawlctl.jobs.fetch_index import FetchIndex

    if work.config.runner.name == "forked":
        load_for_tasks()
    number = snapshot.round + 1
    with step_folder(work.config.runner) as folder:
        lines = fetch_orders(
            work,
            snapshot,
            plan,
            seed_hosts,
            folder.progress,
            tail_wait=tail_wait,
            may_lengthen=may_lengthen,
        )
        orders = folder.write("orders", lines)
        title = f"round {number}, fetch"
        with work.display.step(
            ShownStep(title, plan.pages, "pages", folder.progress, deadline=plan.deadline)
        ):
            done = work.run(FetchIndex, [orders], workers=len(plan.shares))
    for line in troubles(done.counters):
        work.display.say(f"round {number}: {line}")
    return files_of(done)


def load_for_tasks() -> None:
    """Load what each fetch task needs: forked tasks inherit it; loading takes 100 ms per task."""
    importlib.import_module("crawlctl.pipeline.index.building.builder")
    importlib.import_module("numpy.ma")  # np.unique imports it at its first call
    load_suffixes()


def troubles(counters: Counters) -> Iterator[str]:
    """Yield a line for the user per kind of trouble: fetch processes that hung, were killed or gave up."""
    from crawlctl.jobs.fetch_index import COUNTERS

    if restarts := counters.get(COUNTERS, "restarts"):
        yield (
            f"{counted(restarts, 'fetching process was', 'fetching processes were')} replaced after a hang "
            "or a kill; what was saved is kept, and `crawlctl explain URL` says whether a page was given up"
        )
    if given_up := counters.get(COUNTERS, "given_up"):
        yield (
            f"{counted(given_up, 'partition')} ended early with what was saved; the rest is due: "
            "run `crawlctl run` again, with fewer fetch.connections or less round.task_memory "
            "if memory is short"
        )


def fetch_orders(
    work: Work,
    snapshot: Snapshot,
    plan: RoundPlan,
    seed_hosts: Sequence[str] | None,
    progress: Path,
    *,
    tail_wait: float | None = None,
    may_lengthen: bool = False,
) -> Iterator[bytes]:
    """Yield the order of each partition that takes part in the round."""
    for share in plan.shares:
        order = FetchOrder(
            store=work.store.uri,
            snapshot=snapshot.number,
            round=snapshot.round + 1,
            partition=share.partition,
            partitions=snapshot.partitions,
            deadline=plan.deadline,
            fetch_time=plan.fetch_time,
            max_pages=share.max_pages,
            max_bytes=share.max_bytes,
            config=work.config,
            seed_hosts=None if seed_hosts is None else tuple(seed_hosts),
            progress=str(progress),
            tasks=len(plan.shares),
            tail_wait=tail_wait,
            may_lengthen=may_lengthen,
        )
        yield encode_order(order)


def merge_webdb(
    work: Work,
    snapshot: Snapshot,
    fetched: Sequence[FileEntry],
    *,
    nobody_reached: bool = False,
    is_draft: bool = False,
) -> tuple[FileEntry, ...]:
    """Merge what a round found out into the WebDB and the tables beside it; return the new files.

    With `nobody_reached` all pages keep their state: the network of this machine has failed, not pages or
    hosts. A draft is a snapshot that is not in the store: its tasks get it in their orders, and its round
    number stays.
    """
    from crawlctl.jobs.merge_webdb import WebDBMerger

    lines = mapper_lines(entry for entry in fetched if not (nobody_reached and entry.kind == OUTCOMES))
    if not lines:
        return ()
    number = snapshot.round if is_draft else snapshot.round + 1
    order = MergeOrder(
        store=work.store.uri,
        snapshot=snapshot.number,
        round=number,
        partitions=snapshot.partitions,
        now=int(time.time()),
        recrawl=work.config.recrawl,
        nobody_reached=nobody_reached,
        draft=snapshot if is_draft else None,
    )
    shown = Shown(f"round {number}, merge", snapshot.partitions, "partitions")
    return run_ordered(work, WebDBMerger, order, lines, reducers=snapshot.partitions, shown=shown)


def kept_files(fetched: Iterable[FileEntry]) -> tuple[FileEntry, ...]:
    """Return the files of the fetch step that outlive the round; the WebDB merge consumes the other files."""
    return tuple(entry for entry in fetched if entry.kind not in MERGED_KINDS)
