"""`crawlctl status`: how far the crawl is and who works on it."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store


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
    from crawlctl.pipeline.state.snapshots import load_current
    from crawlctl.pipeline.webdb.due import count_due

    store = session.store()
    snapshot = load_current(store)
    status = _summary(store, snapshot)
    if due:
        status["due"] = count_due(store, snapshot, int(time.time()))
    print_json(status) if as_json else _print(status)


def _summary(store: Store, snapshot: Snapshot) -> dict[str, Any]:
    from crawlctl.pipeline.index.statistics import summary_of
    from crawlctl.pipeline.webdb.census import HOSTS, status_counts

    statuses: Counter[str] = Counter()
    hosts = 0
    for entry in snapshot.files_of("webdb"):
        statuses.update(status_counts(entry.counters))
        hosts += entry.counters.get(HOSTS, 0)
    return {
        "store": store.uri,
        "snapshot": snapshot.number,
        "committed": snapshot.created,
        "round": snapshot.round,
        "partitions": snapshot.partitions,
        "files": len(snapshot.files),
        "bytes": sum(entry.bytes for entry in snapshot.files),
        "hosts": hosts,
        "urls": sum(statuses.values()),
        "statuses": dict(statuses),
        "index": summary_of(snapshot.files),
        "holder": _holder(store),
    }


def _holder(store: Store) -> str | None:
    from crawlctl.pipeline.state.lease_records import latest_record

    _, record = latest_record(store)
    if record is None or record.is_free(time.time()):
        return None
    return f"crawlctl {record.command}, process {record.process.pid} on {record.process.host}"


def _print(status: dict[str, Any]) -> None:
    fields = dict(status)
    fields["committed"] = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(fields["committed"]))
    fields["holder"] = fields["holder"] or "nobody"
    statuses = fields.pop("statuses")
    fields |= {f"index {name}": count for name, count in fields.pop("index").items() if count}
    print_fields(fields)
    if statuses:
        say()
        print_fields({f"  {name}": count for name, count in sorted(statuses.items())})
