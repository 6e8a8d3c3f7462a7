from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.search.answer.answer import answer
from crawlctl.pipeline.search.answer.find import SearchOptions
from crawlctl.pipeline.search.open.open_index import open_index
from crawlctl.pipeline.search.query.grammar import parse
from crawlctl.pipeline.search.suggestions.suggest import respelt, suggestion
from crawlctl.tests.pipeline.search.brute_force import Page
from crawlctl.tests.pipeline.search.small_index import write_index

if TYPE_CHECKING:
    from crawlctl.pipeline.search.open.searcher import Searcher
    from crawlctl.pipeline.store.local.store import LocalStore

TEXTS = (
    "Asynchronous programming in Python runs many programs at once.",
    "Python has generators; a pythonic program uses them.",
    "The programmes of the theatre are printed.",
    "Ein schönes Beispiel für Wörter.",
)


@pytest.fixture
def index(store: LocalStore) -> Searcher:
    pages = [Page(f"https://a.org/{number}", text=text) for number, text in enumerate(TEXTS)]
    write_index(store, [pages], [Page("https://b.org/frontier-only")])
    return open_index(store)


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("pyhton", "python"),  # swapped
        ("pthon", "python"),  # dropped
        ("pythonn", "python"),  # added
        ("pythom", "python"),  # changed
        ("yphton", "python"),
        ("asynchroonus", "asynchronous"),  # two slips, and the index has but the stem
        ("generatros", "generators"),
        ("programing", "programming"),
        ("schönse", "schönes"),
        ("frontir", "frontier"),  # in the address of a page that was not fetched
        ("oython", "python"),  # the first letter
        ("ython", "python"),
        ("apython", "python"),
        ("zebra", None),
        ("pyt", None),
        ("2038", None),
    ],
)
def test_the_nearest_word_that_some_page_has_is_suggested(
    index: Searcher, word: str, meant: str | None
) -> None:
    assert suggestion(index, word) == meant


def test_of_the_forms_on_a_page_the_nearest_is_suggested_though_another_is_more_frequent(
    store: LocalStore,
) -> None:
    text = "Written asynchronously, read asynchronously: an asynchronous program."
    write_index(store, [[Page("https://a.org/", text=text)]], [])
    assert suggestion(open_index(store), "asynchronuos") == "asynchronous"


def test_a_slip_that_a_few_pages_have_is_no_word(store: LocalStore) -> None:
    pages = [Page(f"https://a.org/{number}", text="They receive it.") for number in range(250)]
    write_index(store, [[*pages, Page("https://a.org/slip", text="They recieve it.")]])
    index = open_index(store)
    assert suggestion(index, "reecieve") == "receive"  # though `recieve` is nearer
    assert suggestion(index, "recieve", rare=True) == "receive"
    assert suggestion(index, "receive") is None


def test_a_rare_word_is_no_slip_of_a_word_that_is_not_much_more_frequent(store: LocalStore) -> None:
    pages = [Page(f"https://a.org/{number}", text="house") for number in range(250)]
    pages += [Page(f"https://b.org/{number}", text="marble") for number in range(40)]
    write_index(store, [[*pages, Page("https://a.org/rare", text="marbles")]])
    assert suggestion(open_index(store), "marbles", rare=True) is None


def test_two_words_without_a_space_are_told_apart(store: LocalStore) -> None:
    pages = [Page(f"https://a.org/{number}", text="event loop") for number in range(3)]
    write_index(store, [pages])
    assert suggestion(open_index(store), "eventloop") == "event loop"


def test_all_wrong_words_of_a_query_are_respelt_and_all_else_stays(index: Searcher) -> None:
    text = 'site:a.org "Pyhton programing" -genertors'
    assert respelt(index, text, ["pyhton", "genertors"]) == 'site:a.org "python programing" -generators'
    assert respelt(index, text, ["zebra"]) == ""


def test_only_words_that_no_page_has_are_followed_by_a_suggestion(index: Searcher) -> None:
    found = answer(index, parse("python programing generatros"), SearchOptions(limit=5))
    assert found.suggestions == {"generatros": "generators"}
