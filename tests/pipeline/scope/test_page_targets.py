from __future__ import annotations

import pytest

from crawlctl.pipeline.scope.page_targets import hosts_of, target_rule


@pytest.mark.parametrize(
    ("typed", "rule"),
    [
        ("https://a.org/x", "url:https://a.org/x"),
        ("HTTPS://A.org:443/x#part", "url:https://a.org/x"),
        ("https://a.org/x?utm_id=3", "url:https://a.org/x"),
        ("https://a.org/docs/", "https://a.org/docs/"),
        ("https://a.org/docs/*", "https://a.org/docs/"),
        ("https://a.org/do*", "https://a.org/do"),
        ("https://a.org", "https://a.org/"),
        ("url:https://a.org/docs/", "url:https://a.org/docs/"),
        (" a.org ", "a.org"),
        ("*.a.org", "*.a.org"),
    ],
)
def test_what_a_user_types_becomes_a_rule(typed: str, rule: str) -> None:
    assert target_rule(typed, ("utm_*",)) == rule


def test_the_hosts_of_rules_are_known_unless_a_rule_may_match_any() -> None:
    assert hosts_of(["a.org", "url:https://b.org:81/x", "http://c.org/"]) == frozenset(
        {"a.org", "b.org:81", "c.org"}
    )
    for rule in ("*.a.org", "domain:a.org", "regex:x", "*"):
        assert hosts_of(["a.org", rule]) is None
