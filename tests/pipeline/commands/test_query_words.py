"""`crawlctl query` for versions, single characters, identifiers and pages in several languages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crawlctl.pipeline.store.local.store import LocalStore
from crawlctl.tests.pipeline.search.brute_force import Page
from crawlctl.tests.pipeline.search.small_index import write_index

if TYPE_CHECKING:
    from crawlctl.tests.pipeline.commands.conftest import Shell

TEXTS = {
    "notes-2.1.6": "Django 2.1.6 release notes: fixed in 2.1.6",
    "notes-3.0": "Django release notes of version 3.0, after 2.1 and with 6 fixes. Django release notes",
    "py3": "python 3 is a language",
    "py": "python is a language, python is a snake",
    "fit": "curve_fit of scipy. use it",
    "prose": "how to fit a curve by hand, or a curve fit by eye",
    "qt": "the class QNetworkAccessManager of Qt",
    "between": "pandas.Series.between returns booleans",
    "between-words": "a series of pandas, between trees",
    "any": "std::any holds a value",
    "cpp": "C++ has templates",
    "cs": "C# has generics",
    "c": "C has pointers",
    "mail": "send an e-mail in UTF-8 to us",
    "email": "send an email as utf8 to them",
    "show": "we show the tree",
}
PAGES = [Page(f"https://a.org/{name}", text=text) for name, text in TEXTS.items()]
FRENCH = Page("https://a.org/fr", text="montrer un arbre dans le réseau à Zürich", language="fr")


@pytest.fixture
def asked(shell: Shell) -> Shell:
    write_index(LocalStore(Path("crawl")), [PAGES[::2], [*PAGES[1::2], FRENCH]])
    return shell


def names(shell: Shell, *arguments: str) -> list[str]:
    urls = shell("query", "--urls", *arguments).split("\n")[:-1]
    return [url.removeprefix("https://a.org/") for url in urls]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("django 2.1.6 release notes", "notes-2.1.6"),
        ("2.1.6", "notes-2.1.6"),
        ("python 3", "py3"),
        ("curve_fit", "fit"),
        ("scipy curve fit", "fit"),
        ("network access manager", "qt"),
        ("QNetworkAccessManager", "qt"),
        ("qnetworkaccessmanager", "qt"),
        ("pandas.Series.between", "between"),
        ("std::any", "any"),
        ("c++", "cpp"),
        ("c#", "cs"),
    ],
)
def test_the_page_that_was_meant_comes_first(asked: Shell, query: str, first: str) -> None:
    assert names(asked, query)[0] == first


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("c++", {"cpp"}),
        ("c", {"c"}),
        ("e-mail", {"mail", "email"}),
        ("email", {"mail", "email"}),
        ("utf-8", {"mail", "email"}),
        ("utf8", {"mail", "email"}),
        ("curve_fit", {"fit", "prose"}),
        ("reseau zurich", {"fr"}),
        ("réseau", {"fr"}),
    ],
)
def test_other_spellings_of_a_word_are_found_and_other_words_are_not(
    asked: Shell, query: str, expected: set[str]
) -> None:
    assert set(names(asked, query)) == expected


def test_the_stem_of_another_language_finds_nothing(asked: Shell) -> None:
    assert names(asked, "shower", "AND", "tree") == []  # to French, shower is a form of show


def test_the_parts_of_a_name_are_marked(asked: Shell) -> None:
    shown = asked("query", "--json", "network manager")
    assert "NetworkAccessManager" in shown
