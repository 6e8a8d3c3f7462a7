from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.config.settings import ScopeSettings
from crawlctl.pipeline.errors import ConfigError
from crawlctl.pipeline.scope.scope import Scope

OPEN = ("*",)


def in_scope(url: str, *include: str, exclude: tuple[str, ...] = (), seeds: tuple[str, ...] = ()) -> bool:
    settings = ScopeSettings(include=include, exclude=exclude)
    return Scope(settings, seeds).verdict(url, 0) is None


def trap(url: str, depth: int = 1, settings: ScopeSettings | None = None) -> str:
    exclusion = Scope(settings or ScopeSettings(include=OPEN)).verdict(url, depth)
    return exclusion.setting if exclusion else ""


@pytest.mark.parametrize(
    ("rule", "url", "taken"),
    [
        ("example.org", "http://example.org/a", True),
        ("EXAMPLE.org.", "https://example.org/a", True),
        ("bücher.example", "https://xn--bcher-kva.example/", True),
        ("example.org", "https://www.example.org/", False),
        ("example.org", "https://example.org:8080/", False),
        ("example.org:8080", "https://example.org:8080/", True),
        ("*.example.org", "https://a.b.example.org/", True),
        ("*.example.org", "https://example.org/", False),
        ("*.example.org", "https://badexample.org/", False),
        ("domain:example.org", "https://example.org/", True),
        ("domain:example.org", "https://a.example.org:81/", True),
        ("domain:example.org", "https://badexample.org/", False),
        ("domain:example.org", "https://example.org.evil.example/", False),
        ("domain:127.0.0.1", "http://127.0.0.1:8099/", True),
        ("domain:[::1]", "http://[::1]:8099/", True),
        ("[::1]:8099", "http://[::1]:8099/", True),
        ("https://example.org/docs/", "https://example.org/docs/a", True),
        ("https://example.org/docs/", "http://example.org/docs/a", False),
        ("https://example.org/%7edocs/", "https://example.org/~docs/a", True),
        (r"regex:/20\d\d/", "https://example.org/2024/a", True),
        (r"regex:/20\d\d/", "https://example.org/1999/a", False),
        ("*", "https://anything.example/", True),
    ],
)
def test_a_rule_takes_in_what_it_names(rule: str, url: str, taken: bool) -> None:
    assert in_scope(url, rule) is taken
    assert in_scope(url, "*", exclude=(rule,)) is not taken


def test_one_of_many_rules_is_enough_and_exclude_wins() -> None:
    rules = ("a.example", "*.b.example", "regex:^https://c[.]")
    for url in ("https://a.example/", "https://x.b.example/", "https://c.example/"):
        assert in_scope(url, *rules)
        assert not in_scope(url, *rules, exclude=("regex:example/$",))
    assert not in_scope("https://b.example/", *rules)


@pytest.mark.parametrize(
    ("url", "taken"),
    [
        ("http://example.org/", True),
        ("https://www.example.org/", True),
        ("https://blog.example.org/", False),
        ("https://example.org:8080/", False),
        ("https://dept.example.edu/", True),
        ("https://example.edu/", False),
    ],
)
def test_without_rules_the_hosts_of_the_seeds_and_their_www_twins_are_the_scope(
    url: str, taken: bool
) -> None:
    assert in_scope(url, seeds=("example.org", "www.dept.example.edu")) is taken


def test_rules_replace_the_seeds() -> None:
    assert not in_scope("https://seed.example/", "other.example", seeds=("seed.example",))


def test_an_exclusion_names_the_setting_and_the_rule() -> None:
    scope = Scope(ScopeSettings(exclude=("*.b.example",)), ["a.example"])
    assert str(scope.verdict("https://x.b.example/", 0)) == "scope.exclude: the rule *.b.example"
    assert str(scope.verdict("https://c.example/", 0)) == (
        "scope.include: no rules are set, and c.example is not a host of the seeds"
    )


@pytest.mark.parametrize(
    "rule", ["", "a b", "example.org/docs", "user@example.org", "a.*.org", "*.", "domain:"]
)
def test_what_is_no_rule_is_refused_with_the_forms_there_are(rule: str) -> None:
    with pytest.raises(ConfigError, match=r"scope\.include: .*write a host \(example\.org\)"):
        Scope(ScopeSettings(include=(rule,)))


@pytest.mark.parametrize("rule", ["regex:(", r"regex:(a)\1", "regex:(?=a)"])
def test_what_is_no_linear_expression_is_refused(rule: str) -> None:
    with pytest.raises(ConfigError, match=r"scope\.exclude: .*no RE2 expression \([a-z]"):
        Scope(ScopeSettings(exclude=(rule,)))


def test_an_expression_takes_linear_time() -> None:
    # The standard library's engine would need some 2 to the 1,000 steps for this.
    scope = Scope(ScopeSettings(include=("regex:(a+)+$",)))
    assert scope.verdict("https://example.org/" + "a" * 1_000 + "!", 0) is not None


def test_a_link_too_far_from_the_seeds_is_left_out() -> None:
    settings = ScopeSettings(include=OPEN, max_depth=3)
    assert trap("https://example.org/", 3, settings) == ""
    assert trap("https://example.org/", 4, settings) == "scope.max_depth"


@pytest.mark.parametrize(
    ("path", "setting"),
    [
        ("", ""),
        ("a/b/a/b", ""),
        ("a/b/a/b/a", "scope.max_segment_repeats"),
        ("a/a/a", "scope.max_segment_repeats"),
        ("a/a/a/", "scope.max_segment_repeats"),
        ("a/a/", ""),
        ("2024/01/01/", ""),
        ("a////b", "scope.max_segment_repeats"),
        ("http://example.org/", ""),
        ("/".join(map(str, range(20))), ""),
        ("/".join(map(str, range(20))) + "/", ""),
        ("/".join(map(str, range(21))), "scope.max_path_segments"),
        ("a" * 2_027, ""),
        ("a" * 2_029, "scope.max_url_length"),
        ("picture.JPG", "scope.skip_extensions"),
        ("picture.jpg?size=big", "scope.skip_extensions"),
        ("a.tar.gz", "scope.skip_extensions"),
        ("page.html", ""),
        ("paper.pdf", ""),
        ("jpg", ""),
        ("a.jpg/", ""),
        ("page?file=a.jpg", ""),
        ("?" + "&".join("abcdefghij"), ""),
        ("?" + "&".join("abcdefghijk"), "scope.max_query_parameters"),
        ("a;jsessionid=0123456789ABCDEF01", "scope.session_parameters"),
        ("a?b=c&PHPSESSID=0123456789abcdef01", "scope.session_parameters"),
        ("a?ASPSESSIONIDQABC=0123456789abcdef01", "scope.session_parameters"),
        ("a?sid=17", ""),
        ("a?besid=0123456789abcdef01", ""),
        ("sid=0123456789abcdef01", ""),
    ],
)
def test_what_looks_like_a_trap_is_left_out(path: str, setting: str) -> None:
    assert trap(f"https://example.org/{path}") == setting


def test_every_check_can_be_set() -> None:
    loose = ScopeSettings(
        include=OPEN,
        max_url_length=4096,
        max_path_segments=100,
        max_segment_repeats=100,
        max_query_parameters=100,
        skip_extensions=(),
        session_parameters=(),
    )
    url = "https://example.org/" + "a/" * 50 + "b.jpg?" + "&".join("x" * 30) + "&sid=0123456789abcdef01"
    assert trap(url, 1, loose) == ""
    assert trap("https://example.org/a/b", 1, ScopeSettings(include=OPEN, max_path_segments=1))
    assert trap("https://example.org/a/a", 1, ScopeSettings(include=OPEN, max_segment_repeats=1))
    assert trap("https://example.org/?a", 1, ScopeSettings(include=OPEN, max_query_parameters=0))
    assert trap("https://example.org/a.b", 1, ScopeSettings(include=OPEN, skip_extensions=(".B",)))


@pytest.mark.parametrize("name", ["", "*", "a*b"])
def test_what_cannot_name_a_session_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="write a whole name"):
        Scope(ScopeSettings(session_parameters=(name,)))


SEGMENTS = st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=8)


@given(SEGMENTS)
def test_repeats_are_counted_over_the_whole_path(segments: list[str]) -> None:
    path = "/".join(segments)
    counted = path.split("/")[: -1 if path.endswith("/") else None]
    times = max((counted.count(segment) for segment in counted), default=0)
    assert bool(trap(f"https://example.org/{path}")) == (path != "" and times > 2)
