"""`crawlctl errors`: group the pages that failed by reason, and list the hosts that could not be asked."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from crawlctl.pipeline.commands.shared.common import (
    CrawlctlCommand,
    Session,
    json_option,
    pass_session,
    print_json,
    say,
)
from crawlctl.pipeline.commands.shared.listing_options import (
    host_option,
    limit_option,
    moment,
    print_sentence,
    print_table,
    reading_sign,
)
from crawlctl.pipeline.terminal.counted import counted

if TYPE_CHECKING:
    from crawlctl.pipeline.crawl.listings.page_errors import ErrorGroup, SilentHost
    from crawlctl.pipeline.crawl.listings.webdb_scan import WebDbScan


@click.command("errors", cls=CrawlctlCommand)
@host_option
@limit_option
@click.option(
    "--all", "read_all", is_flag=True, help="Read all pages, even if there are more than a million."
)
@json_option
@pass_session
def command(session: Session, *, host: str | None, limit: int, read_all: bool, as_json: bool) -> None:
    """Group the pages that failed by reason.

    The most frequent reason comes first, each with an example. It counts pages that are gone, forbidden,
    excluded or failed, and pages whose last visit failed. Below it lists the hosts that could not be asked.
    It reads the records of all pages; in a large crawl it reads the first million, unless --all is given.
    `crawlctl explain URL` says everything about one page, `crawlctl pages --status STATUS` lists the pages,
    and `crawlctl hosts --sort failures` the hosts.

    \b
    Example:
      crawlctl errors
      crawlctl errors --host docs.python.org
    """
    from crawlctl.pipeline.crawl.listings.page_errors import error_groups, silent_hosts
    from crawlctl.pipeline.crawl.listings.webdb_scan import AT_ONCE, WebDbScan
    from crawlctl.pipeline.errors import NothingMatched
    from crawlctl.pipeline.state.snapshots import load_current

    store = session.store()
    snapshot = load_current(store)
    most = None if read_all or host else AT_ONCE
    scan = WebDbScan(store, snapshot, host, limit=most, sign=reading_sign("pages of the crawl"))
    groups = error_groups(scan)
    hosts, silent = silent_hosts(store, snapshot, host, session.given.config.politeness.robots_retry)
    if host is not None and not scan.read and not hosts:
        raise NothingMatched(f"no page of {host} is known; `crawlctl hosts` lists the hosts")
    if as_json:
        read = {"pages_read": scan.read, "pages_left": scan.left}
        print_json({"groups": groups, **read, "hosts": hosts, "hosts_total": silent})
        return
    _print_groups(groups[:limit], groups, scan)
    if hosts:
        _print_hosts(hosts[:limit], silent)
    say()
    print_sentence(_next(session, groups, hosts))


def _print_groups(shown: list[ErrorGroup], groups: list[ErrorGroup], scan: WebDbScan) -> None:
    from crawlctl.pipeline.fetch.failure_words import in_words

    if shown:
        rows = [(f"{one.pages:,}", one.status, in_words(one.reason), one.example) for one in shown]
        print_table(("pages", "status", "reason", "example"), rows)
        say()
    number = sum(group.pages for group in groups)
    said = f"{counted(number, 'page')} with an error among {counted(scan.read, 'page')}"
    if len(groups) > len(shown):
        rarer = counted(len(groups) - len(shown), "rarer reason is", "rarer reasons are")
        said += f"; {rarer} not shown (--limit)"
    if scan.left:
        said += f"; {counted(scan.left, 'page was', 'pages were')} not read: --all reads them too"
    print_sentence(said)


def _print_hosts(shown: list[SilentHost], number: int) -> None:
    from crawlctl.pipeline.fetch.failure_words import in_words

    now = time.time()
    say()
    print_sentence("Hosts that could not be asked, or not for all that was due:")
    rows = [
        (one.host, str(one.failures), str(one.left), _until(one, now), in_words(one.reason)) for one in shown
    ]
    print_table(("host", "failures", "URLs left", "not asked before", "reason"), rows)
    if number > len(shown):
        print_sentence(
            f"{len(shown):,} of {counted(number, 'host')} shown; `crawlctl hosts --sort failures` lists more"
        )


def _until(one: SilentHost, now: float) -> str:
    return moment(one.not_before) if one.not_before > now else "-"


def _next(session: Session, groups: list[ErrorGroup], hosts: list[SilentHost]) -> str:
    """Return the sentence about what to type next."""
    if not groups and not hosts:
        return "nothing failed"
    said = []
    if groups:
        said.append(f"`{session.typed('explain', groups[0].example)}` says everything about a page")
    host = hosts[0].host if hosts else "HOST"
    said.append(f"`{session.typed('refresh', host)}` makes the pages of a host due now")
    return "; ".join(said)
