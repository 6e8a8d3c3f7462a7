"""`crawlctl pages`: list the pages of a crawl with their status and visits."""

from __future__ import annotations

import time
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from crawlctl.pipeline.commands.shared.common import CrawlctlCommand, Session, json_option, pass_session, say
from crawlctl.pipeline.commands.shared.listing_options import (
    counts_in_words,
    host_option,
    limit_option,
    moment,
    print_sentence,
    print_table,
    reading_sign,
)
from crawlctl.pipeline.commands.shared.output import say_json_list
from crawlctl.pipeline.errors import NothingMatched
from crawlctl.pipeline.terminal.counted import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlctl.pipeline.crawl.listings.page_list import ListedPage, Totals

_HEADINGS = ("status", "code", "last visit", "next visit", "URL")
# pages per table: the widths of its columns are made for these pages, and no more pages are in memory
_TOGETHER = 1000


def _status(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Return the word for a status in lower case."""
    from crawlctl.pipeline.crawl.listings.page_list import STATUS_WORDS, is_status

    word = value and value.strip().lower()
    if word is None or is_status(word):
        return word
    allowed = ", ".join(STATUS_WORDS)
    raise click.BadParameter(f"{word!r} is none of {allowed}, or a code such as 404", ctx, parameter)


@click.command("pages", cls=CrawlctlCommand)
@host_option
@click.option(
    "--status",
    "wanted",
    callback=_status,
    metavar="STATUS",
    help="Only pages with this status: due, live, failing, unfetched, fetched, unchanged, redirected, gone, "
    "forbidden, excluded, failed, duplicate, or a code such as 404.",
)
@limit_option
@click.option("--all", "show_all", is_flag=True, help="List all pages, however many there are.")
@json_option
@pass_session
def command(
    session: Session, *, host: str | None, wanted: str | None, limit: int, show_all: bool, as_json: bool
) -> None:
    """List pages with their status and visits.

    The list is sorted by host and URL. A live page can be found by a query, a failing page failed at its last
    visit, and a page is due when the next run may visit it. Times are in UTC. `crawlctl errors` groups what
    failed, `crawlctl hosts` sums up by host, `crawlctl show URL` prints a page, `crawlctl explain URL` says
    everything about one, and `crawlctl dump webdb` prints the records.

    \b
    Example:
      crawlctl pages --host docs.python.org --status gone
      crawlctl pages --status due --limit 100
    """
    from crawlctl.pipeline.crawl.listings.page_list import PageList
    from crawlctl.pipeline.state.snapshots import load_current

    store, most = session.store(), None if show_all else limit
    found = PageList(
        store,
        load_current(store),
        host=host,
        wanted=wanted,
        now=int(time.time()),
        sign=reading_sign("pages of the crawl"),
    )
    if as_json:
        say_json_list("pages", found.pages(most), lambda: _plain(found.totals(most)))
    else:
        _print_all(found.pages(most))
    totals = found.totals(most)
    if host is not None and not totals.pages:
        raise NothingMatched(f"no page of {host} is known; `crawlctl hosts` lists the hosts")
    if not as_json:
        print_sentence(_summary(totals, host, wanted))


def _plain(totals: Totals) -> dict[str, Any]:
    return {"shown": totals.shown, "total": totals.total, "about": totals.about, "statuses": totals.statuses}


def _print_all(pages: Iterator[ListedPage]) -> None:
    while together := list(islice(pages, _TOGETHER)):
        _print(together)


def _print(pages: list[ListedPage]) -> None:
    rows = [
        (
            page.status,
            str(page.code or ""),
            moment(page.last_visit),
            "now" if page.due else moment(page.next_visit),
            page.url,
        )
        for page in pages
    ]
    print_table(_HEADINGS, rows)
    say()


def _summary(totals: Totals, host: str | None, wanted: str | None) -> str:
    """Return how many of the pages were shown, the numbers of pages by status, and what to type next."""
    if not totals.pages:
        return "no page is known yet; `crawlctl run --seed FILE` starts with the URLs of a file"
    what, where = f" (status {wanted})" if wanted else "", f" of {host}" if host else ""
    if not totals.shown:
        shown = f"no page to show{what}"
    elif totals.total is None:
        shown = f"{counted(totals.shown, 'page')} shown{what}, and there are more: --all lists them"
    elif totals.total > totals.shown:
        about = "about " if totals.about else ""
        shown = f"{totals.shown:,} of {about}{counted(totals.total, 'page')} shown{what}: --all lists them"
    else:
        shown = f"{counted(totals.shown, 'page')} shown{what}"
    return f"{shown}; {counted(totals.pages, 'page')}{where} known: {counts_in_words(totals.statuses)}"
