from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crawlctl.pipeline.search.open.open_index import open_index
from crawlctl.pipeline.search.suggestions.completions import MAX_TYPED, Completion, complete
from crawlctl.tests.pipeline.search.brute_force import Page
from crawlctl.tests.pipeline.search.small_index import write_index

if TYPE_CHECKING:
    from crawlctl.pipeline.search.open.searcher import Searcher
    from crawlctl.pipeline.store.local.store import LocalStore

PAGES = (
    Page("https://a.org/1", title="Python  tutorial", text="Learn programs.", prior=10),
    Page("https://a.org/2", title="Python: a reference", text="Programs.", prior=200),
    Page("https://a.org/3", title="Perl", text="A program.", headings=("Python in Perl", "See also")),
    Page("https://b.org/4", title="Python gone", prior=255, dead=True),
)


@pytest.fixture
def index(store: LocalStore) -> Searcher:
    write_index(store, [PAGES[:2], PAGES[2:]])
    return open_index(store)


def texts(found: list[Completion], kind: str) -> list[str]:
    return [one.text for one in found if one.kind == kind]


def test_titles_and_headings_of_the_highest_ranked_pages_come_first(index: Searcher) -> None:
    found = complete(index, "Pyt")
    assert texts(found, "title") == ["Python: a reference", "Python tutorial"]
    assert texts(found, "heading") == ["Python in Perl"]
    assert found[-1].url == "https://a.org/3"


def test_words_complete_the_last_word_those_on_the_most_pages_first(index: Searcher) -> None:
    found = complete(index, '"learn" -PROG')
    assert found == [
        Completion('"learn" -programs', "word", pages=2),
        Completion('"learn" -program', "word", pages=1),
    ]


def test_a_space_ends_a_word(index: Searcher) -> None:
    assert texts(complete(index, "python t"), "title") == ["Python tutorial"]
    assert texts(complete(index, "python "), "word") == []
    assert len(texts(complete(index, "python "), "title")) == 2
    assert complete(index, "pytho ") == []


def test_no_more_are_returned_than_asked_for(index: Searcher) -> None:
    assert [len(complete(index, "p", limit)) for limit in (0, 1, 2, 3)] == [0, 1, 2, 3]


@pytest.mark.parametrize("text", ["", "  ", "(", '"', "*", "p" * (MAX_TYPED + 1)])
def test_nothing_is_completed_without_a_beginning(index: Searcher, text: str) -> None:
    assert complete(index, text) == []


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(max_size=12))
def test_any_text_can_be_typed(index: Searcher, text: str) -> None:
    assert len(complete(index, text, 3)) <= 3


def test_an_index_of_an_older_version_completes_nothing_and_corrects_nothing(store: LocalStore) -> None:
    write_index(store, [PAGES], older=1)
    assert texts(complete(open_index(store), "pyt"), "title") == []
