from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.index.segment.columns import NOT_FETCHED
from crawlctl.pipeline.index.segment.stored_documents import Lengths
from crawlctl.pipeline.index.static_quality import BEST, flags_of, losses_of, quality_of, quality_share
from crawlctl.pipeline.text.documents.page import LINKS_AWAY, OTHER_LANGUAGE, STUFFED, WORD_LIST

HOST = "http://h.example/"
PAGE = Lengths(300, 5, 4, 6)


@pytest.mark.parametrize("path", ["guide.html", "reference/changing-things.html", "modules/indexing.html"])
def test_an_ordinary_page_has_the_best_quality(path: str) -> None:
    assert quality_of(HOST + path, PAGE) == BEST


@pytest.mark.parametrize(
    "path", ["genindex.html", "genindex-A.html", "py-modindex.html", "_modules/a/b.html", "search.html"]
)
def test_indexes_of_names_and_source_code_have_a_low_quality(path: str) -> None:
    assert quality_of(HOST + path, PAGE) < BEST / 4


@pytest.mark.parametrize("path", ["", "index.html", "changelog.html", "releases/2.1.html", "tag/python/"])
def test_front_pages_lists_of_changes_and_tags_have_less(path: str) -> None:
    assert BEST / 4 < quality_of(HOST + path, PAGE) < BEST


def test_a_page_without_title_or_text_has_less() -> None:
    url = HOST + "a.html"
    assert quality_of(url, Lengths(300, 0, 0, 3)) < quality_of(url, PAGE)
    assert quality_of(url, Lengths(3, 0, 4, 3)) < quality_of(url, PAGE)


@pytest.mark.parametrize("sign", [LINKS_AWAY, WORD_LIST, STUFFED])
def test_a_link_farm_and_a_stuffed_page_are_hardly_ever_an_answer(sign: int) -> None:
    assert quality_of(HOST + "guide.html", PAGE, sign) < BEST / 4


def test_of_several_signs_the_worst_counts() -> None:
    url = HOST + "guide.html"
    assert quality_of(url, PAGE, STUFFED | OTHER_LANGUAGE) == quality_of(url, PAGE, STUFFED)
    assert quality_of(url, PAGE, OTHER_LANGUAGE) > BEST * 0.8


def test_links_take_more_the_more_there_are_for_the_text() -> None:
    url = HOST + "guide.html"
    found = [quality_of(url, PAGE, links=links) for links in (0, 14, 40, 80, 150, 9_999)]
    assert found[0] == found[1] == BEST
    assert found[1] > found[2] > found[3] > found[4] == found[5] == round(BEST * 0.9)
    assert quality_of(url, Lengths(0, 0, 4, 6), links=0) == quality_of(url, Lengths(0, 0, 4, 6))
    (loss,) = losses_of(url, PAGE, links=99)
    assert loss.name == "many links for its text"


def test_a_sign_of_a_later_version_takes_nothing() -> None:
    assert quality_of(HOST + "guide.html", PAGE, 1 << 30) == BEST


def test_what_speaks_against_a_page_is_named() -> None:
    losses = losses_of(HOST + "genindex.html", Lengths(3, 0, 0, 3), WORD_LIST)
    assert [loss.name for loss in losses] == [
        "an index of names or a search form",
        "a list of words",
        "no title",
        "few words",
    ]
    assert losses_of(HOST + "guide.html", PAGE) == []


@given(st.integers(1, BEST), st.booleans())
def test_a_quality_comes_back_from_its_flags(quality: int, is_fetched: bool) -> None:
    flags = flags_of(quality, is_fetched=is_fetched)
    assert 0 < flags < 256
    assert bool(flags & NOT_FETCHED) is not is_fetched
    assert quality_share(flags) == 2 * quality


def test_a_segment_of_an_older_version_is_as_good_as_any() -> None:
    assert quality_share(0) == quality_share(NOT_FETCHED) == quality_share(flags_of(BEST))
