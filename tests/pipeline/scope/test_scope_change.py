from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.config.settings import ScopeSettings
from crawlctl.pipeline.scope.scope import Scope
from crawlctl.pipeline.scope.scope_change import EXCLUDING, HARMLESS, INCLUDING, LIMITS, may_widen

RULES = st.lists(st.sampled_from(["a.org", "b.org", "https://a.org/x/", "*.a.org"]), max_size=2, unique=True)
SCOPES = st.builds(
    ScopeSettings,
    include=RULES.map(tuple),
    exclude=RULES.map(tuple),
    forgotten=RULES.map(tuple),
    max_depth=st.integers(0, 3),
    max_path_segments=st.integers(1, 3),
    skip_extensions=st.sampled_from([(), ("png",), ("png", "gif")]),
)
URLS = [
    f"https://{host}/{path}" for host in ("a.org", "b.org", "w.a.org") for path in ("", "x/y.png", "x/y/z")
]


def test_every_setting_of_the_scope_is_in_exactly_one_list() -> None:
    assert sorted((*LIMITS, *EXCLUDING, *INCLUDING, *HARMLESS)) == sorted(ScopeSettings.__struct_fields__)


@given(SCOPES, SCOPES)
def test_a_change_that_lets_a_url_in_is_one_that_may_widen(
    before: ScopeSettings, after: ScopeSettings
) -> None:
    old, new = Scope(before, ["a.org"]), Scope(after, ["a.org"])
    lets_in = any(old.verdict(url, 2) and not new.verdict(url, 2) for url in URLS)
    assert may_widen(before, after) or not lets_in


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {"exclude": ["a.org"]}),
        ({"max_depth": 3}, {"max_depth": 1}),
        ({"include": ["a.org", "b.org"]}, {"include": ["a.org"]}),
        ({}, {"forgotten": ["url:https://a.org/x"]}),
    ],
)
def test_a_change_that_only_excludes_does_not_read_the_archive(
    before: dict[str, object], after: dict[str, object]
) -> None:
    assert not may_widen(ScopeSettings(**before), ScopeSettings(**after))  # type: ignore[arg-type]
