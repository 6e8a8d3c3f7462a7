from __future__ import annotations

from email.utils import formatdate

import pytest

from crawlctl.pipeline.text.details.server_dates import ServerDates, with_server_dates
from crawlctl.pipeline.text.documents.page import PageDate, PageDetails

FETCHED = 1_794_000_000
MAY = 1_714_521_600
EARLIER = formatdate(MAY, usegmt=True)


def changed(**server: object) -> PageDate | None:
    return with_server_dates(PageDetails(), ServerDates(FETCHED, **server)).modified  # type: ignore[arg-type]


def test_the_sitemap_is_believed_before_the_header() -> None:
    assert changed(lastmod=MAY + 9, last_modified=EARLIER) == PageDate(MAY + 9, "sitemap or feed")
    assert changed(last_modified=EARLIER) == PageDate(MAY, "last-modified")
    assert changed(lastmod=FETCHED, last_modified=EARLIER) == PageDate(MAY, "last-modified")


@pytest.mark.parametrize(
    "header", ["", "never", "0", formatdate(FETCHED - 9), formatdate(FETCHED + 10**6), formatdate(1)]
)
def test_headers_that_say_nothing(header: str) -> None:
    assert changed(last_modified=header) is None


def test_a_wrong_clock_is_no_date_either() -> None:
    behind = formatdate(FETCHED - 10**6, usegmt=True)
    assert changed(last_modified=behind, date=behind) is None
    assert changed(last_modified=EARLIER, date=behind) == PageDate(MAY, "last-modified")


def test_a_feed_says_when_a_page_was_published_and_not_that_it_changed() -> None:
    server = ServerDates(FETCHED, published=MAY)
    assert with_server_dates(PageDetails(), server) == PageDetails(published=PageDate(MAY, "feed"))
    later = with_server_dates(PageDetails(), server._replace(lastmod=MAY + 9))
    assert later.modified == PageDate(MAY + 9, "sitemap or feed")
    assert with_server_dates(PageDetails(), server._replace(published=FETCHED)) == PageDetails()
    stated = PageDetails(published=PageDate(MAY - 9, "json-ld"))
    assert with_server_dates(stated, server) is stated
    earlier = PageDetails(modified=PageDate(MAY - 10**6, "json-ld"))
    assert with_server_dates(earlier, server) is earlier


def test_what_the_page_states_counts_more() -> None:
    stated = PageDetails(modified=PageDate(MAY - 9, "json-ld"))
    assert with_server_dates(stated, ServerDates(FETCHED, MAY)) is stated
    published = PageDetails(published=PageDate(MAY, "json-ld"))
    assert with_server_dates(published, ServerDates(FETCHED, MAY - 10**6)) is published
