"""Replays the crawl's own archive: parses its pages again, as an import parses foreign archives.

After the scope was widened, a replay finds the links that were left out when the pages were fetched: no host
is asked. After damage it brings back documents and WebDB entries. Pages that were imported are not in the
archive, and neither are sitemaps: their links come back with the next visit.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from msgspec.structs import replace

from crawlctl.pipeline.crawl.importing import fetch_order
from crawlctl.pipeline.crawl.work import files_of, step_folder
from crawlctl.pipeline.imports.order import ImportOrder, ReplayWants
from crawlctl.pipeline.orders import encode_order
from crawlctl.pipeline.progress.display import ShownStep
from crawlctl.pipeline.state.kinds import OUTCOMES, PAGES
from crawlctl.pipeline.state.layout import round_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from crawlctl.pipeline.config.settings import Config
    from crawlctl.pipeline.crawl.work import Work
    from crawlctl.pipeline.fetch.order import FetchOrder
    from crawlctl.pipeline.state.manifest import FileEntry
    from crawlctl.pipeline.state.snapshots import Snapshot

LINKS_ONLY = ReplayWants(links=True)


def replay(
    work: Work,
    snapshot: Snapshot,
    wants: ReplayWants = LINKS_ONLY,
    *,
    partitions: Collection[int] | None = None,
    config: Config | None = None,
    seed_hosts: Collection[str] | None = None,
    is_draft: bool = False,
) -> tuple[FileEntry, ...]:
    """Read the archives of some partitions (None: of all), and return the files of the runs.

    The newest content of each page counts, by the settings in `config` (None: those of the command). With
    LINKS_ONLY all files are of the kind `fresh`: the URLs that pages link to, with a depth one greater than
    the depth of the page in the WebDB. A draft is a snapshot that is not in the store.
    """
    from crawlctl.jobs.import_warc import ImportWarc

    work = _with_all_links(work, config or work.config)
    with step_folder(work.config.runner) as folder:
        order = fetch_order(work, snapshot, folder.progress)
        if seed_hosts is not None:
            order = replace(order, seed_hosts=tuple(sorted(seed_hosts)))
        if is_draft:
            order = replace(order, draft=snapshot, round=snapshot.round)
        orders = list(_orders(snapshot, order, wants, partitions, work))
        if not orders:
            return ()
        archives = sum(len(one.archives) for one in orders)
        lines = folder.write("orders", map(encode_order, orders))
        with work.display.step(ShownStep("replay", archives, "archives", folder.progress)):
            written = files_of(work.run(ImportWarc, [lines]))
    return tuple(entry for entry in written if entry.kind != OUTCOMES or entry.records)


def _with_all_links(work: Work, config: Config) -> Work:
    """Return the work with settings by which a page may add all of its links at once.

    A fetched page with many links is visited again for the rest of them; an archived page is not.
    """
    scope = replace(config.scope, max_new_urls_per_page=max(1, config.parse.max_links))
    return dataclasses.replace(work, config=replace(config, scope=scope))


def _orders(
    snapshot: Snapshot,
    order: FetchOrder,
    wants: ReplayWants,
    partitions: Collection[int] | None,
    work: Work,
) -> Iterator[ImportOrder]:
    """Yield an order per partition that has archives, the newest archive first.

    The pages of a host lie in the archives of its partition. Only in a copy with another number of partitions
    older archives may lie elsewhere; then two tasks may bring the same page, and the merge takes the newer.
    """
    for number in range(snapshot.partitions):
        files = snapshot.files_of(PAGES, number)
        if files and (partitions is None or number in partitions):
            newest_first = sorted(files, key=lambda entry: round_of(entry.name), reverse=True)
            sizes = {work.store.locate(entry.name): entry.bytes for entry in newest_first}
            yield ImportOrder(number=number, archives=tuple(sizes), fetch=order, replay=wants, sizes=sizes)
