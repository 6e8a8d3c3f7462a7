"""Adds the dates that the server of a page states: its sitemap or feed, and the Last-Modified header."""

from __future__ import annotations

from typing import NamedTuple

from msgspec.structs import replace

from crawlctl.pipeline.text.details.page_dates import is_believable, is_clock, modified_if_later, parse_date
from crawlctl.pipeline.text.documents.page import PageDate, PageDetails

# The WebDB keeps the latest date that a sitemap or a feed of the host gives, but not from which file it is.
SITEMAP, FEED, LAST_MODIFIED = "sitemap or feed", "feed", "last-modified"


class ServerDates(NamedTuple):
    """What the server says about the time of a page; times are whole UTC seconds, 0 means unknown."""

    fetched_at: int
    lastmod: int = 0  # when the page changed, by a sitemap or feed
    published: int = 0  # when it was published, by a feed
    last_modified: str = ""  # the header of the answer
    date: str = ""


def with_server_dates(details: PageDetails, server: ServerDates) -> PageDetails:
    """Return the details with the dates that the server states, where the page itself states none.

    A page cannot have changed before it was published: then what the page states counts.
    """
    published, modified = details.published or _published_by_feed(server), details.modified
    if modified is not None:
        published = published if modified_if_later(published, modified) else details.published
    else:
        modified = modified_if_later(published, changed_by_server(server))
    if (published, modified) == (details.published, details.modified):
        return details
    return replace(details, published=published, modified=modified)


def _published_by_feed(server: ServerDates) -> PageDate | None:
    if server.published and is_believable(server.published, server.fetched_at):
        return PageDate(server.published, FEED)
    return None


def changed_by_server(server: ServerDates) -> PageDate | None:
    """Return when the page changed by its sitemap or feed, else by Last-Modified, if that can be true."""
    if server.lastmod and is_believable(server.lastmod, server.fetched_at):
        return PageDate(server.lastmod, SITEMAP)
    seconds = parse_date(server.last_modified) if server.last_modified else None
    if seconds is None or not is_believable(seconds, server.fetched_at):
        return None
    # A server with a wrong clock states the time of the request too: compare with its Date header.
    now = parse_date(server.date) if server.date else None
    return None if now is not None and is_clock(seconds, now) else PageDate(seconds, LAST_MODIFIED)
