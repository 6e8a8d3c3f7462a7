"""What is offered while somebody types."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crawlctl.pipeline.search.open.open_index import open_index
from crawlctl.pipeline.serve.searching.suggestions import MAX_SUGGESTIONS, Suggestion, suggestions
from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.tests.pipeline.search.brute_force import Page
from crawlctl.tests.pipeline.search.small_index import write_index

if TYPE_CHECKING:
    from crawlctl.pipeline.search.open.searcher import Searcher


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Searcher:
    store = LocalStore(tmp_path_factory.mktemp("suggestions"))
    many = [Page(f"https://b.org/{n}", f"Numbered page {n}", "text") for n in range(20)]
    write_index(store, [[Page("https://a.org/", "Running the event loop", "text"), *many]])
    return open_index(store)


def test_words_come_before_titles(searcher: Searcher) -> None:
    assert suggestions(searcher, "eve") == [
        Suggestion("event", "word"),
        Suggestion("Running the event loop", "title"),
    ]


def test_words_before_the_last_one_stay_as_they_are_typed(searcher: Searcher) -> None:
    assert Suggestion("Running eVent", "word") not in suggestions(searcher, "Running eve")
    assert suggestions(searcher, "Running eve")[0] == Suggestion("Running event", "word")


def test_a_beginning_of_too_many_words_is_completed_from_the_words_before_it(
    searcher: Searcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crawlctl.pipeline.search.plan.expansions.MAX_EXPANSIONS", 0)
    assert suggestions(searcher, "event lo")[0] == Suggestion("event loop", "word")
    assert suggestions(searcher, "lo") == []


def test_a_text_that_cannot_become_a_query_of_words_has_no_suggestions(searcher: Searcher) -> None:
    assert [suggestions(searcher, text) for text in ("", "e", " e ", "((", "zzz", "event")] == [[]] * 5 + [
        [Suggestion("Running the event loop", "title")]
    ]


@given(st.text(max_size=20))
@example("numb")
@example("c++ ev")
@example('"event')
def test_any_text_has_a_few_suggestions_at_most(searcher: Searcher, text: str) -> None:
    assert len(suggestions(searcher, text)) <= MAX_SUGGESTIONS
