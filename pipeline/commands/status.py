"""`crawlctl status`: print the state of the crawl and which process is using it."""

from __future__ import annotations

import time

import click

from crawlctl.pipeline.commands.shared.common import (
    CrawlctlCommand,
    Session,
    json_option,
    pass_session,
    print_json,
    say,
)


@click.command("status", cls=CrawlctlCommand)
@click.option("--due", is_flag=True, help="Count the due URLs exactly; this may read parts of the WebDB.")
@json_option
@pass_session
def command(session: Session, due: bool, as_json: bool) -> None:
    """Print the state of the crawl and which process is using it.

    It shows what became of the pages, which hosts have trouble and why, and what falls due. While a run
    works, it also shows how many pages the open round has saved. `crawlctl pages`, `crawlctl hosts` and
    `crawlctl errors` list what is behind the figures.

    \b
    Example:
      crawlctl status
      crawlctl status --json --store s3://my-bucket/crawl
    """
    from msgspec.structs import replace

    from crawlctl.pipeline.crawl.reports.crawl_status import crawl_status
    from crawlctl.pipeline.crawl.reports.status_lines import status_lines
    from crawlctl.pipeline.state.snapshots import load_current
    from crawlctl.pipeline.terminal.width import output_columns
    from crawlctl.pipeline.webdb.due import count_due

    store = session.store()
    snapshot = load_current(store)
    # Without the crawl's own settings, which may be damaged.
    status = crawl_status(store, snapshot, session.given.config.politeness.robots_retry)
    now = time.time()
    if due:
        exact = count_due(store, snapshot, int(now))
        status = replace(status, due=replace(status.due, now=exact))
    if as_json:
        print_json(status)
    else:
        say("\n".join(status_lines(status, output_columns(), now)))
