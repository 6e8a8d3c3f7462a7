"""`crawlctl hosts`: list the hosts of a crawl with their pages, robots.txt, crawl delay and failures."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from crawlctl.pipeline.commands.shared.common import (
    CrawlctlCommand,
    Session,
    json_option,
    pass_session,
    print_fields,
    print_json,
    say,
)
from crawlctl.pipeline.commands.shared.listing_options import (
    counts_in_words,
    host_option,
    limit_option,
    moment,
    print_sentence,
    print_table,
    reading_sign,
)
from crawlctl.pipeline.terminal.counted import counted

if TYPE_CHECKING:
    from crawlctl.pipeline.crawl.listings.host_list import ListedHost
    from crawlctl.pipeline.crawl.listings.webdb_scan import WebDbScan
    from crawlctl.pipeline.state.snapshots import Snapshot
    from crawlctl.pipeline.store.base import Store

_SORTS = ("pages", "failures", "name")


@click.command("hosts", cls=CrawlctlCommand)
@host_option
@click.option(
    "--sort", type=click.Choice(_SORTS), default="pages", show_default=True, help="What comes first."
)
@click.option(
    "--count", is_flag=True, help="Count the pages by status even if there are more than a million."
)
@limit_option
@json_option
@pass_session
def command(session: Session, *, host: str | None, sort: str, count: bool, limit: int, as_json: bool) -> None:
    """List hosts with their pages, crawl delay and failures.

    To count pages by status, it reads the records of all pages. In a crawl of more than a million pages it
    does this only with --count or --host; without them, it lists only hosts that were asked. The delay is the
    seconds between two requests. `crawlctl errors` groups what failed by reason, `crawlctl pages --host HOST`
    lists the pages of a host, and `crawlctl dump hosts` prints the records.

    \b
    Example:
      crawlctl hosts --sort failures
      crawlctl hosts --host docs.python.org
    """
    from crawlctl.pipeline.crawl.listings.host_list import HostList
    from crawlctl.pipeline.crawl.listings.webdb_scan import WebDbScan
    from crawlctl.pipeline.errors import NothingMatched
    from crawlctl.pipeline.state.snapshots import load_current

    store, now = session.store(), time.time()
    snapshot = load_current(store)
    hosts = HostList(store, snapshot, session.config.politeness, now)
    if host is None:
        found, number = hosts.first(limit, sort, _scan(store, snapshot, count))
        if as_json:
            print_json({"hosts": found, "shown": len(found), "total": number})
        else:
            _print(found, number, snapshot, now)
        return
    one = hosts.one(host, WebDbScan(store, snapshot, host, sign=reading_sign("pages of the host")))
    if one is None:
        raise NothingMatched(f"no page of {host} is known; `crawlctl hosts` lists the hosts")
    print_json(one) if as_json else print_fields(_fields(one, now))


def _scan(store: Store, snapshot: Snapshot, count: bool) -> WebDbScan | None:
    """Return the scan that counts pages; None if it would take long and the user did not ask for it."""
    from crawlctl.pipeline.crawl.listings.webdb_scan import AT_ONCE, WebDbScan

    scan = WebDbScan(store, snapshot, sign=reading_sign("pages of the crawl"))
    return scan if count or scan.total <= AT_ONCE else None


def _print(found: list[ListedHost], number: int, snapshot: Snapshot, now: float) -> None:
    from crawlctl.pipeline.crawl.reports.crawl_status import host_count

    if not found:
        print_sentence("no host is known yet; `crawlctl run --seed FILE` starts with the URLs of a file")
        return
    is_counted = found[0].pages is not None
    figures = ("pages", "live", "due", "errors") if is_counted else ("answered",)
    print_table(("host", *figures, "robots", "delay", "remarks"), [_row(one, now) for one in found])
    say()
    all_of_them = counted(number, "host")
    shown = f"{len(found):,} of {all_of_them} shown" if number > len(found) else all_of_them
    known = host_count(snapshot)
    if not is_counted and known > number:
        shown += f" that were asked; {known:,} are known, and --count counts their pages by status"
    print_sentence(f"{shown}; `crawlctl pages --host HOST` lists the pages of a host")


def _row(one: ListedHost, now: float) -> tuple[str, ...]:
    counts = one.pages
    figures = (counts.known, counts.live, counts.due, counts.errors) if counts else (one.answered,)
    return (
        one.host,
        *(f"{figure:,}" for figure in figures),
        one.robots,
        f"{one.crawl_delay:g}",
        "; ".join(_remarks(one, now)),
    )


def _remarks(one: ListedHost, now: float) -> list[str]:
    from crawlctl.pipeline.fetch.failure_words import in_words

    said = []
    if one.failures:
        said.append(counted(one.failures, "failure", "failures in a row"))
    if one.trouble:
        said.append(in_words(one.trouble))
    if one.left:
        said.append(f"{counted(one.left, 'URL')} left")
    if one.not_before > now:
        said.append(f"not asked before {moment(one.not_before)}")
    return said


def _fields(one: ListedHost, now: float) -> dict[str, object]:
    """Return all facts about a host, for two columns."""
    counts = one.pages
    fields: dict[str, object] = {"host": one.host, "address": one.ip or "-"}
    if counts is not None:
        fields["pages"] = f"{counts.known:,}: {counts_in_words(counts.statuses)}"
        fields |= {"due": f"{counts.due:,}", "errors": f"{counts.errors:,}"}
    fields["answered"] = f"{counted(one.answered, 'page')}, in all rounds"
    fields["robots.txt"] = one.robots
    fields["crawl delay"] = f"{one.crawl_delay:g} s between two requests"
    fields["failures"] = f"{one.failures} in a row"
    if one.trouble:
        fields["last failure"] = one.trouble
    if one.left:
        fields["left"] = (
            f"{counted(one.left, 'URL that was', 'URLs that were')} due when the last round ended"
        )
    fields["next request"] = f"not before {moment(one.not_before)} UTC" if one.not_before > now else "at once"
    return fields
