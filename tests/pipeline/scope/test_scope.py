from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from crawlctl.pipeline.config.settings import ScopeSettings
from crawlctl.pipeline.errors import ConfigError
from crawlctl.pipeline.scope.scope import Scope
from crawlctl.pipeline.scope.scope_rules import RuleSet

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
        ("url:https://example.org/a", "https://example.org/a", True),
        ("url:https://EXAMPLE.org:443/a#b", "https://example.org/a", True),
        ("url:https://example.org/a", "https://example.org/a/b", False),
        ("url:https://example.org/a", "https://example.org/", False),
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
        ("https://host.example/3/*", "https://host.example/3/a/b?c", True),
        ("https://host.example/3/*", "https://host.example/3/", True),
        ("https://host.example/3/*", "https://host.example/2/", False),
        ("https://host.example/3/*", "http://host.example/3/", False),
        ("https://host.example/3*", "https://host.example/3.12/", True),
        ("HTTPS://Host.Example:443/%7ea/*", "https://host.example/~a/b", True),
        ("https://host.example/A/*", "https://host.example/a/", False),
        ("https://host.example/ü/*", "https://host.example/%C3%BC/b", True),
        ("https://*.example.org/*.html", "https://a.b.example.org/c/d.html", True),
        ("https://*.example.org/*.html", "https://a.example.org/d.html?print", False),
        ("https://*.example.org/*.html", "https://evil.example/a.example.org/d.html", False),
        ("https://*.example.org/*.html", "https://example.org/d.html", False),
        ("https://*.example.org", "https://a.example.org/anything", True),
        ("https://*.example.org/docs/", "https://a.example.org/docs/b", True),
        ("https://host.example/*/docs/", "https://host.example/a/docs/b", True),
        ("https://host.example/*/docs/", "https://host.example/docs/b", False),
        ("https://host.example/*?page=*", "https://host.example/list?page=2", True),
        ("https://host.example/*?page=*", "https://host.example/list?sort=1", False),
        ("*.example.org/docs/*", "http://a.example.org/docs/b", True),
        ("*.example.org/docs/*", "https://a.example.org/doc/b", False),
        ("example.org/docs/", "https://example.org/docs/b", True),
        ("example.org/docs/", "http://example.org/docs/b", True),
        ("*://example.org/*", "http://example.org/b", True),
        ("http*://example.org/b", "https://example.org/bc", True),
        ("https://*/docs/*", "https://anything.example:8080/docs/", True),
        ("https://host.example/a.c/*", "https://host.example/abc/", False),
    ],
)
def test_a_rule_takes_in_what_it_names(rule: str, url: str, taken: bool) -> None:
    assert in_scope(url, rule) is taken
    assert in_scope(url, "*", exclude=(rule,)) is not taken


PARTS = st.lists(st.sampled_from(["*", "a", "b", "ab", "/", ".", "?", "zzq"]), max_size=6).map("".join)
HOSTS = st.lists(st.sampled_from(["*", "a", "b.", "*."]), max_size=3).map("".join)


def matches(pattern: str, text: str, never: str) -> bool:
    """Whether a text matches from its start to its end; a * takes any characters but `never`."""
    if not pattern:
        return not text
    if pattern[0] != "*":
        return text[:1] == pattern[0] and matches(pattern[1:], text[1:], never)
    takes_one = bool(text) and text[0] != never and matches(pattern, text[1:], never)
    return takes_one or matches(pattern[1:], text, never)


@given(HOSTS, PARTS, st.sampled_from(["a", "aa", "b.a", "ab.a", "c.b.a"]), PARTS)
def test_stars_match_what_a_naive_matcher_matches(host: str, path: str, name: str, rest: str) -> None:
    # What the canonical form changes (dots, empty queries) would have to be repeated here.
    assume(not re.search(r"[.?]|//", path) and not re.search(r"[.*]|//|[?]$", rest))
    is_beginning = "*" not in path or path.endswith(("*", "/"))
    wanted = matches(f"{host}a.org", f"{name}.org", "/") and matches(
        f"{path}*" if is_beginning else path, rest, ""
    )
    rules = RuleSet("scope.include", [f"https://{host}a.org/{path}"])
    assert bool(rules.matching(f"https://{name}.org/{rest}", f"{name}.org")) is wanted


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        ("https://example.org*", "it would match other sites too, such as https://example.org.example.net"),
        ("https://*ü.example/", "a * cannot stand beside letters that are not ASCII"),
        ("ftp://example.org/*", "neither a host nor an http or https URL"),
        ("/docs/*", "neither a host nor an http or https URL"),
    ],
)
def test_a_star_that_would_surprise_is_refused(rule: str, why: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Scope(ScopeSettings(include=(rule,)))
    assert why in str(caught.value)


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
    "rule", ["", "a b", "//example.org/docs", "user@example.org", "a.*.org", "*.", "domain:"]
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
