from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from crawlctl.pipeline.config.units import DAY
from crawlctl.pipeline.fetch.pages.changed_pages import changed_pages
from crawlctl.pipeline.fetch.pages.sitemap_dates import ListedDates
from crawlctl.pipeline.urls.hosts import url_of_key, webdb_key
from crawlctl.pipeline.webdb.records import Status, WebEntry, decode_entry, encode

if TYPE_CHECKING:
    from collections.abc import Iterator

NOW = 1_800_000_000
FETCHED = NOW - 9 * DAY


class Part:
    """Stands in for the rows of a host; it counts how often all of them are read."""

    name = "part"

    def __init__(self, *entries: WebEntry) -> None:
        self.rows = {webdb_key(f"http://h/{number}"): encode(entry) for number, entry in enumerate(entries)}
        self.scans = 0

    def of_host(self, _host: str) -> Iterator[tuple[bytes, bytes]]:
        self.scans += 1
        yield from sorted(self.rows.items())

    def get(self, key: bytes) -> bytes | None:
        return self.rows.get(key)


def entry(*, next_due: int = NOW + DAY, status: Status = Status.FETCHED) -> WebEntry:
    return WebEntry(status, next_due, 0.5, 1, 1, last_fetched=FETCHED)


def changed(part: Part, pages: dict[str, int | None]) -> list[tuple[str, int]]:
    rows: Any = part
    found = changed_pages(rows, "h", {url: ListedDates(one or 0) for url, one in pages.items()}, NOW)
    return sorted((url_of_key(due.key), decode_entry(due.value).lastmod) for due in found)


@pytest.mark.parametrize(
    ("lastmod", "told"),
    [
        (NOW - DAY, [NOW - DAY]),
        (NOW, [0]),  # the clock of the server: the page is fetched, the date is not shown
        (NOW + 1, []),
        (FETCHED, []),
        (None, []),
    ],
)
def test_a_page_that_changed_since_its_fetch_is_due(lastmod: int | None, told: list[int]) -> None:
    assert changed(Part(entry()), {"http://h/0": lastmod}) == [("http://h/0", one) for one in told]


def test_an_entry_that_was_published_after_the_fetch_is_due_and_its_date_is_that_of_the_publication() -> None:
    rows: Any = Part(entry())
    (due,) = changed_pages(rows, "h", {"http://h/0": ListedDates(published=NOW - DAY)}, NOW)
    told = decode_entry(due.value)
    assert (told.lastmod, told.published) == (0, NOW - DAY)


def test_pages_that_are_due_or_gone_or_unknown_are_left_out() -> None:
    part = Part(entry(next_due=NOW), entry(status=Status.GONE))
    assert changed(part, {f"http://h/{number}": NOW - DAY for number in range(3)}) == []


@pytest.mark.parametrize(("listed", "scans"), [(0, 0), (20, 0), (1000, 1)])
def test_few_pages_are_looked_up_and_many_are_found_by_reading_the_host(listed: int, scans: int) -> None:
    part = Part(*[entry() for _ in range(30)])
    pages: dict[str, int | None] = {f"http://h/{number}": NOW - DAY - number for number in range(listed)}
    wanted = sorted((url, lastmod or 0) for url, lastmod in list(pages.items())[:30])
    assert (changed(part, pages), part.scans) == (wanted, scans)
