from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.fetch.pages.sitemap_dates import ListedDates, believable_dates, latest_dates
from crawlctl.pipeline.sitemaps.sitemap_reader import SitemapPage

ASKED = 1_794_000_000
MAY = 1_714_521_600
seconds = st.one_of(st.just(0), st.integers(0, 2**40))


def dates(*lastmods: int | None) -> list[int | None]:
    """Return the dates of changes that are believed, which are the dates of publication that are."""
    numbered = [(str(number), one or 0) for number, one in enumerate(lastmods)]
    changed = believable_dates({url: ListedDates(one) for url, one in numbered}, ASKED)
    published = believable_dates({url: ListedDates(0, one) for url, one in numbered}, ASKED)
    assert published == {url: ListedDates(0, one.changed) for url, one in changed.items()}
    return [changed[url].changed if url in changed else None for url, _ in numbered]


def test_dates_of_their_own_are_believed() -> None:
    assert dates(MAY, MAY + 1, None, MAY + 1) == [MAY, MAY + 1, None, MAY + 1]
    assert dates(MAY, MAY) == [MAY, MAY], "two pages may have changed together"


def test_a_date_that_most_pages_share_is_made_up() -> None:
    assert dates(MAY, MAY, MAY) == [None] * 3
    assert dates(MAY, MAY, MAY, MAY - 9, MAY - 8) == [None, None, None, MAY - 9, MAY - 8]
    assert dates(MAY, MAY, MAY, None, None, None) == [MAY, MAY, MAY, None, None, None]


def test_the_time_of_asking_and_the_far_future_are_made_up() -> None:
    assert dates(ASKED, ASKED - 30, ASKED + 10**6, MAY) == [None, None, None, MAY]


@given(st.dictionaries(st.text(max_size=3), st.builds(ListedDates, seconds, seconds)))
def test_no_date_is_invented(pages: dict[str, ListedDates]) -> None:
    for url, dates in believable_dates(pages, ASKED).items():
        assert any(dates)
        assert dates.changed in (0, pages[url].changed)
        assert dates.published in (0, pages[url].published)


def test_of_several_entries_of_a_page_the_latest_counts() -> None:
    entries = [("a", MAY), ("b", None), ("a", MAY - 9), ("a", None), ("b", 5), ("c", None)]
    found = latest_dates(SitemapPage(*one) for one in entries)
    assert found == {"a": ListedDates(MAY), "b": ListedDates(5), "c": ListedDates()}


def test_an_entry_says_when_its_page_was_published_and_several_say_when_it_changed() -> None:
    entries = [("news", None, MAY), ("log", None, MAY - 9), ("log", None, MAY), ("log", None, 7)]
    twice = [("twice", MAY, 5), ("twice", None, 5), ("twice", None, None)]
    found = latest_dates(SitemapPage(*one) for one in (*entries, *twice))
    assert found["news"] == ListedDates(published=MAY)
    assert found["log"] == ListedDates(changed=MAY)
    assert found["twice"] == ListedDates(MAY, 5)
