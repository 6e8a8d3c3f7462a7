"""Changes the WebDB without fetching, and the index with it: after a change of the scope, or of some pages.

Nothing is committed here. The caller commits the returned files, with other files of the same change, as one
snapshot. After a kill nothing has changed, and `crawlctl gc` deletes the files.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.crawl.indexing import IndexStep, with_groups
from crawlctl.pipeline.crawl.round_steps import merge_webdb
from crawlctl.pipeline.crawl.work import Shown, run_by_order
from crawlctl.pipeline.duplicates.grouping_due import are_grouped
from crawlctl.pipeline.orders import encode_order
from crawlctl.pipeline.scope.page_targets import hosts_of
from crawlctl.pipeline.state.kinds import WEBDB
from crawlctl.pipeline.urls.hosts import partition_of
from crawlctl.pipeline.webdb.layers.layer import indexed_round
from crawlctl.pipeline.webdb.part import with_parts
from crawlctl.pipeline.webdb.revision.order import ReviseOrder, decode_part, part_lines
from crawlctl.pipeline.webdb.seed_hosts import seed_hosts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from crawlctl.pipeline.config.settings import Config
    from crawlctl.pipeline.crawl.leased_crawl import LeasedCrawl
    from crawlctl.pipeline.crawl.work import Work
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.webdb.revision.order import RevisedPart

MAX_EXAMPLES = 10


@dataclass(frozen=True)
class Revised:
    """The files of the next snapshot, and how many URLs have changed.

    All are counts: `left` of pages that have left search, `excluded` of URLs that are newly excluded (these
    pages among them), `due` of URLs that have become due, `outside` of URLs that should have become due but
    are outside the scope. `matched` counts the known URLs per rule, if the revision was for certain rules
    only.
    """

    files: tuple[FileEntry, ...]
    left: int = 0
    excluded: int = 0
    due: int = 0
    outside: int = 0
    matched: Mapping[str, int] = field(default_factory=dict)
    examples: tuple[str, ...] = ()


def revise(crawl: LeasedCrawl, before: Config, after: Config, found: Sequence[FileEntry] = ()) -> Revised:
    """Bring the WebDB and the index in line with a changed scope.

    URLs that the scope now excludes leave search, and URLs that it excluded before become due. URLs that were
    never recorded, because a link was left out when it was seen, are not among them. A replay of the archive
    finds them again: `found` are its files of the kind `fresh`, which are merged first.
    """
    if before.scope == after.scope and not found:
        return Revised(crawl.snapshot.files)
    work, snapshot = replace(crawl.work, config=after), crawl.snapshot
    if found:
        merged = with_parts(snapshot, merge_webdb(work, snapshot, found))
        snapshot = msgspec.structs.replace(snapshot, files=merged)
    revised = revise_pages(work, snapshot)
    return replace(revised, due=revised.due + _urls(snapshot) - _urls(crawl.snapshot))


def _urls(snapshot: Snapshot) -> int:
    return sum(entry.records for entry in snapshot.files_of(WEBDB))


def revise_pages(
    work: Work,
    snapshot: Snapshot,
    only: tuple[str, ...] = (),
    *,
    refresh: bool = False,
    whole: bool = False,
    dry_run: bool = False,
) -> Revised:
    """Revise the entries that match rules, or all entries, by the scope in the settings of `work`."""
    order = ReviseOrder(
        store=work.store.uri,
        round=snapshot.round,
        indexed=indexed_round(snapshot.files),
        now=int(time.time()),
        scope=work.config.scope,
        seed_hosts=() if work.config.scope.include else tuple(sorted(seed_hosts(work.store, snapshot))),
        only=only,
        refresh=refresh,
        whole=whole,
        dry_run=dry_run,
    )
    parts = _run(work, snapshot, order)
    files = with_parts(snapshot, (entry for part in parts for entry in part.files))
    revised = _summed(parts, files)
    if refresh or dry_run or not (revised.excluded or revised.due):
        return revised
    changed = frozenset(part.partition for part in parts if part.files)
    return replace(revised, files=_indexed(work, snapshot, files, changed))


def _run(work: Work, snapshot: Snapshot, order: ReviseOrder) -> list[RevisedPart]:
    from crawlctl.jobs.upkeep.revise_webdb import WebDBReviser

    hosts = hosts_of(order.only) if order.only else None
    partitions = None if hosts is None else {partition_of(host, snapshot.partitions) for host in hosts}
    lines = [encode_order(line) for line in part_lines(snapshot.files, partitions)]
    if not lines:
        return []
    shown = Shown("WebDB revision", len(lines), "partitions")
    done = run_by_order(work, WebDBReviser, order, lines, shown=shown)
    return [decode_part(line) for _, line in done.output]


def _summed(parts: Iterable[RevisedPart], files: tuple[FileEntry, ...]) -> Revised:
    counts: Counter[str] = Counter()
    matched: Counter[str] = Counter()
    examples: list[str] = []
    for part in parts:
        counts.update(left=part.left, excluded=part.excluded, due=part.due, outside=part.outside)
        matched.update(part.matched)
        examples += part.examples
    return Revised(files, **counts, matched=matched, examples=tuple(examples[:MAX_EXAMPLES]))


def _indexed(
    work: Work, snapshot: Snapshot, files: tuple[FileEntry, ...], changed: frozenset[int]
) -> tuple[FileEntry, ...]:
    """Return the files after an index merge of all partitions that have changed or wait for a merge."""
    step = IndexStep(files, snapshot.partitions, snapshot.round, also=changed)
    merged = step.merged_files(step.run(work))
    if are_grouped(merged, work.config.parse.near_duplicate):
        return merged
    return with_groups(work, merged, snapshot.round)
