"""`crawlctl status`: print the state of the crawl and which process is using it."""

from __future__ import annotations

import time
from typing import Any

import click

from crawlctl.pipeline.commands.shared.common import (
    Session,
    json_option,
    pass_session,
    print_fields,
    print_json,
    say,
    store_option,
)
from crawlctl.pipeline.terminal.utc import utc


@click.command("status")
@click.option("--due", is_flag=True, help="Count the URLs that are due; this may read parts of the WebDB.")
@store_option
@json_option
@pass_session
def command(session: Session, due: bool, as_json: bool) -> None:
    """Print the state of the crawl and which process is using it.

    \b
    Example:
      crawlctl status --due
    """
    from crawlctl.pipeline.crawl.reports.crawl_status import crawl_status
    from crawlctl.pipeline.state.snapshots import load_current
    from crawlctl.pipeline.webdb.due import count_due

    store = session.store()
    snapshot = load_current(store)
    status = crawl_status(store, snapshot)
    if due:
        status["due"] = count_due(store, snapshot, int(time.time()))
    print_json(status) if as_json else _print(status)


def _print(status: dict[str, Any]) -> None:
    fields = dict(status)
    fields["committed"] = utc(fields["committed"])
    fields["holder"] = fields["holder"] or "nobody"
    statuses = fields.pop("statuses")
    fields |= {f"index {name}": count for name, count in fields.pop("index").items() if count}
    print_fields(fields)
    if statuses:
        say()
        print_fields({f"  {name}": count for name, count in sorted(statuses.items())})
