from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.search.answer.completions import complete
from crawlctl.pipeline.search.open.open_index import open_index
from crawlctl.tests.pipeline.search.brute_force import Page
from crawlctl.tests.pipeline.search.small_index import write_index

if TYPE_CHECKING:
    from crawlctl.pipeline.search.open.searcher import Searcher
    from crawlctl.pipeline.store.local.store import LocalStore


@pytest.fixture
def index(store: LocalStore) -> Searcher:
    pages = [
        Page("https://a.org/1", title="Python tutorial", text="Learn.", prior=10),
        Page("https://a.org/2", title="Python reference", text="Look up.", prior=200),
        Page("https://a.org/3", title="Perl", text="Python is another language."),
    ]
    write_index(store, [pages])
    return open_index(store)


def test_titles_are_completed_the_highest_ranked_first(index: Searcher) -> None:
    titles = [found.text for found in complete(index, "pyt") if found.kind == "title"]
    assert titles == ["Python reference", "Python tutorial"]


@pytest.mark.parametrize("text", ["", "  ", "(", '"', "*", "title:"])
def test_nothing_is_completed_without_a_word(index: Searcher, text: str) -> None:
    assert complete(index, text) == []
