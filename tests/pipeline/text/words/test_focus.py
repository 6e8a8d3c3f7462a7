from __future__ import annotations

import pytest

from crawlctl.pipeline.config.settings import FocusSettings
from crawlctl.pipeline.text.words.focus import DECAY, Focus, focus_of
from crawlctl.pipeline.urls.hosts import webdb_key

SETTINGS = FocusSettings(
    terms=("SQL", "transaction"),
    phrases=("foreign key",),
    examples=("https://A.example/best#top",),
    domains=("wanted.example",),
    weight=10.0,
)
PLAIN = "https://a.example/page"


@pytest.mark.parametrize(
    ("title", "text", "relevance"),
    [
        ("", "nothing of it", 0.0),
        ("", "sql", 1 / 9),
        ("", "sql " * 9, 1 / 3),
        ("SQL", "", 2 / 3),
        ("SQL and transactions", "Sql sql sql. A foreign key; foreign key, foreign key", 1.0),
        ("", "a key of a foreign land", 0.0),
    ],
)
def test_a_page_is_judged_by_its_words(title: str, text: str, relevance: float) -> None:
    assert Focus(SETTINGS).page(PLAIN, title, text) == pytest.approx(relevance)


@pytest.mark.parametrize("url", ["https://a.example/best", "https://www.wanted.example/anything"])
def test_pages_that_are_named_are_relevant_whatever_they_say(url: str) -> None:
    focus = Focus(SETTINGS)
    assert focus.page(url, "", "") == 1.0
    assert focus.link(url, "") == 1.0


@pytest.mark.parametrize(
    ("url", "anchor", "relevance"),
    [
        (PLAIN, "", 0.0),
        (PLAIN, "the SQL reference", 1.0),
        ("https://a.example/foreign-key/", "", 1.0),
        ("https://sql.example/page", "", 0.0),
    ],
)
def test_a_link_is_judged_by_its_anchor_and_path(url: str, anchor: str, relevance: float) -> None:
    assert Focus(SETTINGS).link(url, anchor) == relevance


def test_links_of_a_relevant_page_have_half_of_its_relevance_or_their_own() -> None:
    links = [(webdb_key(PLAIN), "page"), (webdb_key("https://a.example/sql"), "more")]
    focus = Focus(SETTINGS)
    assert focus.dealt(links, 0.0) == [(1.0, links[:1]), (11.0, links[1:])]
    assert focus.dealt(links, 1.0) == [(1 + 10 * DECAY, links[:1]), (11.0, links[1:])]


def test_a_crawl_that_looks_for_nothing_has_no_focus() -> None:
    assert focus_of(FocusSettings()) is None
    assert focus_of(FocusSettings(domains=("a.example",))) is not None
