from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.fetch.pages.sitemap_dates import believable_dates, latest_dates
from crawlctl.pipeline.sitemaps.sitemap_reader import SitemapPage

ASKED = 1_794_000_000
MAY = 1_714_521_600


def dates(*lastmods: int | None) -> list[int | None]:
    found = believable_dates({str(number): one for number, one in enumerate(lastmods)}, ASKED)
    return [found.get(str(number)) for number in range(len(lastmods))]


def test_dates_of_their_own_are_believed() -> None:
    assert dates(MAY, MAY + 1, None, MAY + 1) == [MAY, MAY + 1, None, MAY + 1]
    assert dates(MAY, MAY) == [MAY, MAY], "two pages may have changed together"


def test_a_date_that_most_pages_share_is_made_up() -> None:
    assert dates(MAY, MAY, MAY) == [None] * 3
    assert dates(MAY, MAY, MAY, MAY - 9, MAY - 8) == [None, None, None, MAY - 9, MAY - 8]
    assert dates(MAY, MAY, MAY, None, None, None) == [MAY, MAY, MAY, None, None, None]


def test_the_time_of_asking_and_the_far_future_are_made_up() -> None:
    assert dates(ASKED, ASKED - 30, ASKED + 10**6, MAY) == [None, None, None, MAY]


@given(st.dictionaries(st.text(max_size=3), st.one_of(st.none(), st.integers(0, 2**40))))
def test_no_date_is_invented(pages: dict[str, int | None]) -> None:
    assert all(pages[url] == lastmod for url, lastmod in believable_dates(pages, ASKED).items())


def test_of_several_entries_of_a_page_the_latest_counts() -> None:
    entries = [("a", MAY), ("b", None), ("a", MAY - 9), ("a", None), ("b", 5), ("c", None)]
    assert latest_dates(SitemapPage(*one) for one in entries) == {"a": MAY, "b": 5, "c": None}
