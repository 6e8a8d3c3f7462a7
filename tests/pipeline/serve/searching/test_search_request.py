"""The parameters of a search: read within limits, and written into links again."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.serve.problem import Problem
from crawlctl.pipeline.serve.searching.search_request import (
    MAX_CHARACTERS,
    MAX_RESULTS,
    PER_PAGE,
    SearchRequest,
    program_search_of,
    search_of,
)

LAST_PAGE = MAX_RESULTS // PER_PAGE


@given(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=30),
    st.sampled_from(["score", "date"]),
    st.integers(1, LAST_PAGE),
)
def test_the_address_of_a_search_is_read_back(text: str, sort: str, page: int) -> None:
    wanted = search_of({"q": text, "sort": sort, "page": str(page)})
    again = search_of(dict(parse_qsl(urlsplit(wanted.path()).query)))
    assert again == wanted
    assert (again.text, again.sort, again.page) == (text.strip(), sort, page)


def test_defaults_are_left_out_of_addresses() -> None:
    assert SearchRequest("a b").path() == "/search?q=a+b"
    assert SearchRequest("a").path("/why", n=3) == "/why?q=a&n=3"


def test_that_all_pages_are_wanted_stays_in_addresses() -> None:
    wanted = search_of({"q": "a", "all": "1", "exact": "1"})
    assert (wanted.is_all, wanted.is_exact) == (True, True)
    assert wanted.path(page=2) == "/search?q=a&exact=1&all=1&page=2"
    assert search_of(dict(parse_qsl(urlsplit(wanted.path()).query))) == wanted


@pytest.mark.parametrize(
    "wrong",
    [
        {"page": "0"},
        {"page": str(LAST_PAGE + 1)},
        {"page": "-1"},
        {"page": "1.5"},
        {"page": "²"},
        {"page": "9" * 5000},
        {"sort": "newest"},
        {"all": "2"},
        {"q": "x" * (MAX_CHARACTERS + 1)},
    ],
)
def test_what_is_out_of_bounds_is_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(Problem) as refused:
        search_of({"q": "a", **wrong})
    assert refused.value.status == 400
    assert next(iter(wrong)) in refused.value.detail or "query" in refused.value.detail


def test_a_program_reaches_as_many_results_as_a_person() -> None:
    assert program_search_of({"q": "a", "limit": "100", "offset": "900"}).offset == 900
    last = program_search_of({"q": "a", "limit": "100", "offset": "901"})
    assert (last.offset, last.limit) == (901, 99)
    with pytest.raises(Problem):
        program_search_of({"q": "a", "offset": "1000"})
