"""Shared by the commands that list parts of a crawl: options, tables, and the display of progress."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from crawlctl.pipeline.commands.shared.output import say
from crawlctl.pipeline.errors import UrlError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crawlctl.pipeline.progress.slow_sign import SlowSign

LIMIT = 20


def _host(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Return a host as WebDB keys have it, with its port if it is not the default port."""
    from crawlctl.pipeline.urls.canonical import canonical
    from crawlctl.pipeline.urls.hosts import host_of

    if value is None:
        return None
    try:
        return host_of(canonical(value if "://" in value else f"http://{value.strip()}/"))
    except UrlError:
        raise click.BadParameter(
            f"{value!r} is no host; give a name such as docs.python.org, or a URL", ctx, parameter
        ) from None


host_option = click.option("--host", callback=_host, metavar="HOST", help="Only this host: a name or a URL.")
limit_option = click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=LIMIT,
    show_default=True,
    help="The largest number of lines in the list.",
)


def print_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table that fits the terminal."""
    from crawlctl.pipeline.terminal.tables import listing
    from crawlctl.pipeline.terminal.width import output_width

    for line in listing(headings, rows, output_width()):
        say(line)


def print_sentence(text: str) -> None:
    """Print a sentence, wrapped to the terminal."""
    from crawlctl.pipeline.terminal.width import output_width
    from crawlctl.pipeline.terminal.wrapping import wrapped

    width = output_width()
    for line in (text,) if width is None else wrapped(text, width, breaks_words=False):
        say(line)


def reading_sign(what: str) -> SlowSign:
    """Return the function that shows the progress of a long scan on standard error."""
    from crawlctl.pipeline.progress.choice import display_for
    from crawlctl.pipeline.progress.slow_sign import SlowSign

    return SlowSign(lambda text: display_for(sys.stderr).say(text), what)


def moment(seconds: float) -> str:
    """Return a time in UTC as tables show it, to the minute; a dash for 0, which means never."""
    from crawlctl.pipeline.terminal.utc import utc
    from crawlctl.pipeline.webdb.records import NEVER

    if seconds == NEVER:
        return "never"
    return utc(seconds)[: len("2026-05-09 12:00")] if seconds else "-"


def counts_in_words(counts: Mapping[str, int]) -> str:
    """Return counts by name, the greatest first: `12 fetched, 3 gone`."""
    greatest_first = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{count:,} {name}" for name, count in greatest_first if count)
