from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.errors import QueryError
from crawlctl.pipeline.search.answer.answer import answer
from crawlctl.pipeline.search.answer.find import SearchOptions
from crawlctl.pipeline.search.open.open_index import open_index
from crawlctl.pipeline.search.query.grammar import parse
from crawlctl.tests.pipeline.search.brute_force import Page
from crawlctl.tests.pipeline.search.small_index import write_index

if TYPE_CHECKING:
    from crawlctl.pipeline.search.open.searcher import Searcher
    from crawlctl.pipeline.store.local.store import LocalStore


@pytest.fixture
def index(store: LocalStore) -> Searcher:
    same = [Page(f"https://a.org/{number}", "Loops", "One loop.", group=7) for number in range(4)]
    other = Page("https://a.org/other", "Events", "The loop of events. " * 3, last_modified=5)
    write_index(store, [[*same, other]])
    return open_index(store)


def test_pages_are_numbered_through_and_marked(index: Searcher) -> None:
    first = answer(index, parse("loop"), SearchOptions(limit=1))
    second = answer(index, parse("loop"), SearchOptions(limit=1, offset=1))
    assert (first.pages[0].number, second.pages[0].number) == (1, 2)
    assert {first.pages[0].title.text, second.pages[0].title.text} == {"Loops", "Events"}
    for page in (*first.pages, *second.pages):
        marked = {page.snippet.text[start:end] for start, end in page.snippet.spans}
        assert marked == {"loop"}


def test_pages_that_say_the_same_are_folded(index: Searcher) -> None:
    found = answer(index, parse("title:loops"), SearchOptions(limit=10))
    assert [page.similar for page in found.pages] == [3]


def test_notices_of_the_query_come_along(index: Searcher) -> None:
    assert answer(index, parse('"loop'), SearchOptions(limit=1)).notices == parse('"loop').notices != ()


def test_an_offset_beyond_the_end_is_an_error_and_no_match_is_none(index: Searcher) -> None:
    with pytest.raises(QueryError, match="give a smaller --offset"):
        answer(index, parse("events"), SearchOptions(limit=1, offset=1))
    assert answer(index, parse("nothing"), SearchOptions(limit=1)).pages == ()
