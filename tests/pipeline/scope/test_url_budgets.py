from __future__ import annotations

import tracemalloc
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.config.settings import BudgetSettings, ScopeSettings
from crawlctl.pipeline.scope.url_budgets import UrlBudgets

SMALL = BudgetSettings(
    urls_per_host=100,
    urls_per_prefix=5,
    urls_per_parameter_set=3,
    parameter_sets_per_path=2,
    urls_earned_per_page=2,
)


def admitted(budgets: UrlBudgets, pattern: str, times: int) -> int:
    return sum(budgets.admit(f"https://h/{pattern.format(number)}") is None for number in range(times))


def test_a_folder_has_a_budget() -> None:
    budgets = UrlBudgets(SMALL)
    assert admitted(budgets, "a/{}", 20) == 5
    assert admitted(budgets, "b/{}", 20) == 5
    assert str(budgets.admit("https://h/a/x")) == (
        "budgets.urls_per_prefix: h/a/ has 5 URLs, of which 0 gave a useful page"
    )


def test_every_level_of_folders_has_its_own_budget() -> None:
    budgets = UrlBudgets(SMALL)
    assert admitted(budgets, "calendar/{}/1", 20) == 5
    assert admitted(budgets, "a/b/{}", 4) == 4
    assert admitted(budgets, "a/c/{}", 4) == 1


def test_pages_in_the_root_count_for_the_host_alone() -> None:
    budgets = UrlBudgets(SMALL)
    assert admitted(budgets, "{}", 200) == 100
    exclusion = budgets.admit("https://h/x")
    assert exclusion is not None
    assert exclusion.setting == "budgets.urls_per_host"
    assert budgets.admit("https://other/x") is None


def test_a_site_of_folders_alone_is_counted_in_bounded_memory() -> None:
    roomy = BudgetSettings(urls_per_prefix=50)
    assert admitted(UrlBudgets(roomy), "{}/x", 2000) == 2000
    budgets = UrlBudgets(roomy, memory=100 * 310)
    assert admitted(budgets, "{}/x", 2000) < 100 + 50 + 10
    tracemalloc.start()
    assert admitted(budgets, "more/{}/x", 2000) == 0
    assert tracemalloc.get_traced_memory()[0] < 10_000
    tracemalloc.stop()
    assert admitted(budgets, "7/{}", 49) == 49, "folders that are known keep their own budget"
    budgets.useful("https://h/1999/x")


def test_useful_pages_earn_more() -> None:
    budgets = UrlBudgets(SMALL)
    assert admitted(budgets, "a/{}", 20) == 5
    budgets.useful("https://h/a/0")
    budgets.useful("https://h/a/1")
    assert admitted(budgets, "a/more-{}", 20) == 4


def test_a_path_and_the_names_of_its_parameters_have_a_budget() -> None:
    budgets = UrlBudgets(SMALL)
    assert admitted(budgets, "list?page={}", 20) == 3
    assert admitted(budgets, "list?sort=up&page={}", 20) == 3
    assert budgets.admit("https://h/list?page=x&sort=down") is not None
    assert budgets.admit("https://h/other?page=1") is None
    budgets.useful("https://h/list?page=0")
    assert admitted(budgets, "list?page=more-{}", 20) == 2


def test_the_sets_of_parameters_of_a_path_are_bounded() -> None:
    budgets = UrlBudgets(SMALL)
    assert [budgets.admit(f"https://h/list?{names}=1") is None for names in ("a", "b", "c", "a")] == [
        True,
        True,
        False,
        True,
    ]
    assert "has 2 different sets" in str(budgets.admit("https://h/list?a=1&c=2"))


def test_urls_known_from_before_count_but_are_never_refused() -> None:
    budgets = UrlBudgets(SMALL)
    for number in range(9):
        budgets.count(f"https://h/a/{number}")
    budgets.useful("https://h/a/0")
    assert budgets.admit("https://h/a/x") is not None


def test_a_url_that_is_refused_is_not_counted() -> None:
    budgets = UrlBudgets(SMALL)
    admitted(budgets, "a/b/{}", 20)
    assert admitted(budgets, "c/{}", 200) == 5
    assert admitted(budgets, "{}", 200) == 90


def rooms(budgets: UrlBudgets, *paths: str) -> list[bool]:
    return [budgets.has_room(f"https://h/{path}") for path in paths]


def test_budgets_have_room_until_half_of_them_is_used_up() -> None:
    budgets = UrlBudgets(BudgetSettings(urls_per_prefix=20, urls_per_parameter_set=4, urls_earned_per_page=2))
    assert rooms(budgets, "x", "a/x", "list?page=1") == [True, True, True]
    assert admitted(budgets, "list?page={}", 2) == 2
    assert rooms(budgets, "x", "a/x", "list?page=x", "list?sort=x") == [True, True, False, True]
    assert admitted(budgets, "a/{}", 8) == 8
    assert rooms(budgets, "x", "a/x", "b/x") == [False, False, False], "the whole host counts as a folder"
    budgets.useful("https://h/a/1")
    assert rooms(budgets, "x", "a/x", "list?page=x") == [True, True, False]
    assert budgets.has_room("https://other/x")


def test_good_pages_pay_for_what_they_link_to() -> None:
    assert BudgetSettings().urls_earned_per_page >= ScopeSettings().max_new_urls_per_page


URLS = st.builds(
    "https://{}/{}/{}?{}={}".format,
    st.sampled_from(["g", "h"]),
    st.sampled_from("ab"),
    st.sampled_from("cd"),
    st.sampled_from("xyz"),
    st.integers(0, 9),
)


@given(st.lists(URLS, max_size=60))
def test_no_budget_is_ever_overdrawn_and_answers_repeat(urls: list[str]) -> None:
    settings = BudgetSettings(
        urls_per_host=7, urls_per_prefix=4, urls_per_parameter_set=2, parameter_sets_per_path=2
    )
    budgets, again = UrlBudgets(settings), UrlBudgets(settings)
    verdicts = [budgets.admit(url) for url in urls]
    assert verdicts == [again.admit(url) for url in urls]
    taken = [url for url, verdict in zip(urls, verdicts, strict=True) if verdict is None]
    assert max(Counter(url.split("/")[2] for url in taken).values(), default=0) <= 7
    assert max(Counter(tuple(url.split("/")[2:4]) for url in taken).values(), default=0) <= 4
    assert max(Counter(url.partition("=")[0] for url in taken).values(), default=0) <= 2


@pytest.mark.parametrize("segments", [0, 1, 3])
def test_how_deep_folders_are_told_apart_can_be_set(segments: int) -> None:
    budgets = UrlBudgets(BudgetSettings(urls_per_prefix=5, prefix_segments=segments))
    assert admitted(budgets, "a/b/c/{}", 20) == (20 if segments == 0 else 5)
    assert admitted(budgets, "a/b/d/{}", 20) == (20 if segments == 0 else 0)
