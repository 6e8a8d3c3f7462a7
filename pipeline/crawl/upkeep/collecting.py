"""Deletes the files that no kept snapshot names, under the lease of the crawl."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from crawlctl.pipeline.crawl.leased_crawl import leased_crawl
from crawlctl.pipeline.crawl.upkeep.purging import purge_forgotten
from crawlctl.pipeline.errors import CrawlctlError
from crawlctl.pipeline.state.garbage import collect, young_snapshots
from crawlctl.pipeline.state.journal import open_round_files
from crawlctl.pipeline.terminal.counted import counted, sized

if TYPE_CHECKING:
    from collections.abc import Collection

    from crawlctl.pipeline.crawl.leased_crawl import LeasedCrawl
    from crawlctl.pipeline.crawl.upkeep.purging import Purged
    from crawlctl.pipeline.crawl.work import Work
    from crawlctl.pipeline.state.garbage import Collected

# the most files deleted after a run, so that it ends within seconds; the next run deletes the rest
MOST_AFTER_A_RUN = 20_000
NOTEWORTHY = 1 << 20  # bytes; smaller amounts of deleted files are not reported


def collect_garbage(work: Work, *, dry_run: bool = False) -> tuple[Collected, Purged | None]:
    """Delete old snapshots and all files that nothing names, as the gc settings say; then forgotten pages.

    Forgotten pages are removed last, because removing them needs free disk space.
    """
    with leased_crawl(work, "gc", runs_jobs=False, on_full_disk=True) as crawl:
        collected = _collect(crawl, dry_run=dry_run)
        return collected, None if dry_run else purge_forgotten(crawl)


def collect_after_run(crawl: LeasedCrawl, began_with: int) -> None:
    """Delete the files that a run has made superfluous, if gc.auto is set; report large amounts.

    The snapshot that the run began with is kept, so that `crawlctl rollback` can undo the run, and so are
    snapshots younger than `gc.min_age`: a user may still want to undo what made them. Forgotten
    pages are left to `crawlctl gc`, which only the user starts: after it, forgetting cannot be undone.
    Garbage that cannot be deleted now does no harm, so it does not make the run fail.
    """
    if not crawl.work.config.gc.auto:
        return
    try:
        young = young_snapshots(crawl.store, time.time() - crawl.work.config.gc.min_age)
        done = _collect(crawl, also_snapshots=young | {began_with}, most=MOST_AFTER_A_RUN)
    except CrawlctlError as err:
        crawl.work.display.say(f"unused files were not deleted: {err}")
        return
    if done.bytes >= NOTEWORTHY:
        files = counted(len(done.files) + len(done.leftovers), "unused file")
        crawl.work.display.say(f"deleted {files}, {sized(done.bytes)} (gc.auto)")


def _collect(
    crawl: LeasedCrawl,
    *,
    dry_run: bool = False,
    also_snapshots: Collection[int] = (),
    most: int | None = None,
) -> Collected:
    settings = crawl.work.config.gc
    return collect(
        crawl.store,
        keep=settings.keep_snapshots,
        min_age=settings.min_age,
        now=time.time(),
        dry_run=dry_run,
        # No snapshot names the files yet that a killed run has written for its round.
        also_keep=open_round_files(crawl.store, crawl.next_round),
        also_snapshots=also_snapshots,
        most=most,
    )
