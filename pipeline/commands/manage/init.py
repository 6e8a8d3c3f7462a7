"""`crawlctl init`: create an empty crawl in a store."""

from __future__ import annotations

import click

from crawlctl.pipeline.commands.shared.common import (
    CrawlctlCommand,
    Session,
    json_option,
    pass_session,
    print_json,
    say,
    takes_setting,
)
from crawlctl.pipeline.terminal.counted import counted


@click.command("init", cls=CrawlctlCommand)
@takes_setting(
    "--partitions",
    key="partitions",
    type=int,
    help="Number of partitions (default: one per core, at least 4).",
)
@json_option
@pass_session
def command(session: Session, as_json: bool) -> None:
    """Create an empty crawl.

    The settings in use now of the sections urls, scope, budgets, parse, sites, recrawl, focus, index
    and search become the crawl's own: later commands use them from any folder (see `crawlctl config`).

    The number of partitions of a crawl cannot be changed later; only `crawlctl copy` can write a copy with
    another number.

    \b
    Example:
      crawlctl init --store s3://my-bucket/crawl --partitions 64
    """
    from crawlctl.pipeline.crawl.leased_crawl import new_crawl
    from crawlctl.pipeline.crawl.seeding import partitions_of

    store, config = session.store(), session.given.config
    snapshot = new_crawl(store, partitions_of(config), config)
    if as_json:
        print_json({"store": store.uri, "snapshot": snapshot.number, "partitions": snapshot.partitions})
        return
    say(f"created an empty crawl of {counted(snapshot.partitions, 'partition')} in {store.uri}")
