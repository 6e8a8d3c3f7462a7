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
    from pathlib import Path

    from crawlctl.pipeline.search.open.searcher import Searcher


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Searcher:
    store = LocalStore(tmp_path_factory.mktemp("suggestions"))
    many = [Page(f"https://b.org/{n}", f"Numbered page {n}", "text") for n in range(20)]
    write_index(store, [[Page("https://a.org/", "Running the event loop", "text"), *many]])
    return open_index(store)


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("eve", [Suggestion("event", "word")]),
        ("Running eve", [Suggestion("Running event", "word")]),
        ("running th", [Suggestion("Running the event loop", "title"), Suggestion("running the", "word")]),
        ("event", []),
        *((text, []) for text in ("", "e", " e ", "((", "zzz")),
    ],
)
def test_words_and_titles_complete_a_text(typed: str, offered: list[Suggestion], searcher: Searcher) -> None:
    assert suggestions(searcher, typed) == offered


def test_a_very_long_title_is_not_offered(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    titles = ("word " * 15, "word " * 30)
    write_index(store, [[Page(f"https://a.org/{n}", title, "text") for n, title in enumerate(titles)]])
    assert [one.text for one in suggestions(open_index(store), "word wo")] == [titles[0].strip(), "word word"]


@given(st.text(max_size=20))
@example("numb")
@example("c++ ev")
@example('"event')
def test_any_text_has_a_few_suggestions_at_most(searcher: Searcher, text: str) -> None:
    assert len(suggestions(searcher, text)) <= MAX_SUGGESTIONS
