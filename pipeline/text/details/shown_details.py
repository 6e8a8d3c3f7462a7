"""The details of a stored document as they are shown: each date with its kind and its origin."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from crawlctl.pipeline.terminal.utc import utc_day
from crawlctl.pipeline.text.documents.page import PageDate

if TYPE_CHECKING:
    from crawlctl.pipeline.text.documents.page import PageDetails

_ORIGINS = {
    "json-ld": "JSON-LD",
    "time": "<time>",
    "datepublished": "datePublished",
    "datemodified": "dateModified",
    "pdf": "PDF",
    "last-modified": "Last-Modified",
}
_CLOCK = 60  # seconds, as in page_dates.py, whose imports would slow down every query


class ShownDate(msgspec.Struct, frozen=True, gc=False):
    """A date for JSON: UTC seconds, and the source that states it."""

    date: int
    origin: str


class ShownDetails(msgspec.Struct, frozen=True):
    """The details of a document for JSON; what is unknown is empty or null."""

    description: str = ""
    site_name: str = ""
    image: str = ""
    published: ShownDate | None = None
    modified: ShownDate | None = None
    # By name: `author`, and the fields that the rules for the site define.
    fields: dict[str, list[str | int | float]] = msgspec.field(default_factory=dict)
    # how many characters were left out of the text, because many pages of the host have them
    repeated: int = 0
    type: str = ""  # html, pdf, …


def shown_details(details: PageDetails, last_modified: int, fetched_at: int) -> ShownDetails:
    """Return the details of a document as JSON shows them."""
    published, modified = known_dates(details, last_modified, fetched_at)
    return ShownDetails(
        details.description,
        details.site_name,
        details.image,
        _shown(published),
        _shown(modified),
        fields_by_name(details),
        details.repeated,
        details.kind,
    )


def _shown(date: PageDate | None) -> ShownDate | None:
    return None if date is None else ShownDate(date.seconds, date.origin)


def fields_by_name(details: PageDetails) -> dict[str, list[str | int | float]]:
    """Return the fields of a document: all values of each, in order."""
    found: dict[str, list[str | int | float]] = {}
    for name, value in details.fields:
        found.setdefault(name, []).append(value)
    return found


def known_dates(
    details: PageDetails, last_modified: int, fetched_at: int
) -> tuple[PageDate | None, PageDate | None]:
    """Return when a document was published and when it was changed.

    Documents of older crawls have no details; for these the Last-Modified header counts, unless it is the
    time of the fetch.
    """
    modified = details.modified
    if modified is None and details.published is None and last_modified:
        is_clock = bool(fetched_at) and last_modified >= fetched_at - _CLOCK
        modified = None if is_clock else PageDate(last_modified, "last-modified")
    return details.published, modified


def latest_date(details: PageDetails, last_modified: int, fetched_at: int) -> int:
    """Return the date by which documents are sorted, in UTC seconds: of the last change that is known."""
    published, modified = known_dates(details, last_modified, fetched_at)
    newest = modified or published
    return newest.seconds if newest else 0


def date_remarks(published: ShownDate | None, modified: ShownDate | None) -> list[str]:
    """Return the dates of a document in words, such as `modified 2024-05-01 (Last-Modified)`."""
    stated = (("published", published), ("modified", modified))
    return [
        f"{kind} {utc_day(one.date)} ({_ORIGINS.get(one.origin, one.origin)})" for kind, one in stated if one
    ]
