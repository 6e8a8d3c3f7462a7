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
@click.option("--history", is_flag=True, help="Print what each round has brought and cost.")
@click.option(
    "--last",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    help="With --history: how many lines to print; 0 for all.",
)
@click.option("--watch", is_flag=True, help="Show what a running command does, until it ends.")
@json_option
@pass_session
def command(session: Session, *, due: bool, history: bool, last: int, watch: bool, as_json: bool) -> None:
    """Print the state of the crawl and which process is using it.

    It shows how many pages are in each state, which hosts have trouble and why, and how many URLs are due.
    While a run works, it also shows how many pages the open round has saved. `crawlctl pages`, `crawlctl
    hosts` and `crawlctl errors` list the pages and hosts that are counted.

    --history prints two tables with a line per round: the results of its pages, and its costs in time, CPU
    time and bytes; with --json it prints all rows with all figures. --watch shows a running command from
    another terminal or machine, and ends with it.

    \b
    Example:
      crawlctl status
      crawlctl status --json --store s3://my-bucket/crawl
      crawlctl status --history
      crawlctl status --watch --store s3://my-bucket/crawl
    """
    if due + history + watch > 1:
        raise click.UsageError("--due, --history and --watch are different reports; give one of them")
    if history:
        _print_history(session, last, as_json=as_json)
    elif watch:
        _watch(session, as_json=as_json)
    else:
        _print_status(session, due=due, as_json=as_json)


def _print_status(session: Session, *, due: bool, as_json: bool) -> None:
    from msgspec.structs import asdict, replace

    from crawlctl.pipeline.crawl.live.live_lines import live_json
    from crawlctl.pipeline.crawl.reports.crawl_status import crawl_status
    from crawlctl.pipeline.crawl.reports.status_lines import status_lines
    from crawlctl.pipeline.state.snapshots import load_current
    from crawlctl.pipeline.terminal.width import output_columns
    from crawlctl.pipeline.webdb.due import count_due

    store = session.store()
    snapshot = load_current(store)
    # Read without the crawl's own settings, because these may be damaged.
    config = session.given.config
    status = crawl_status(store, snapshot, config.politeness.robots_retry, config.rank)
    now = time.time()
    if due:
        exact = count_due(store, snapshot, int(now))
        status = replace(status, due=replace(status.due, now=exact))
    if as_json:
        print_json({**asdict(status), "live": status.live and live_json(status.live)})
    else:
        say("\n".join(status_lines(status, output_columns(), now)))


def _print_history(session: Session, last: int, *, as_json: bool) -> None:
    from crawlctl.pipeline.crawl.history.history_files import read_history
    from crawlctl.pipeline.crawl.history.history_table import history_json, history_lines
    from crawlctl.pipeline.state.snapshots import load_current
    from crawlctl.pipeline.terminal.width import output_columns

    store = session.store()
    rows = read_history(store, load_current(store).files)
    if as_json:
        print_json([history_json(row) for row in rows])
    elif rows:
        say("\n".join(history_lines(rows, output_columns(), last)))
    else:
        say(f"the crawl has no history yet; each round adds a line: {session.typed('run')}")


def _watch(session: Session, *, as_json: bool) -> None:
    from contextlib import suppress

    from crawlctl.pipeline.crawl.live.following import follow
    from crawlctl.pipeline.crawl.live.watch_views import view_for
    from crawlctl.pipeline.state.snapshots import load_current

    store = session.store()
    load_current(store)  # raises an error if there is no crawl
    with suppress(KeyboardInterrupt), view_for(as_json=as_json, again=session.typed("run")) as view:
        for seen in follow(store):
            view.show(seen)
