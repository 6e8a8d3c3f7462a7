"""`crawlctl init`: create an empty crawl in a store."""

from __future__ import annotations

import click

from crawlctl.pipeline.commands.shared.common import (
    Session,
    json_option,
    pass_session,
    print_json,
    say,
    store_option,
    takes_setting,
)


@click.command("init")
@store_option
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

    The number of partitions of a crawl cannot be changed later; only `crawlctl copy` can write a copy with
    another number.

    \b
    Example:
      crawlctl init --store s3://my-bucket/crawl --partitions 64
    """
    from crawlctl.pipeline.crawl.seeding import partitions_of
    from crawlctl.pipeline.state.snapshots import create_crawl

    store = session.store()
    snapshot = create_crawl(store, partitions_of(session.config))
    if as_json:
        print_json({"store": store.uri, "snapshot": snapshot.number, "partitions": snapshot.partitions})
        return
    say(f"created an empty crawl of {snapshot.partitions} partitions in {store.uri}")
