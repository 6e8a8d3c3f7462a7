from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crawlctl.pipeline.errors import CorruptFile
from crawlctl.pipeline.robots.packed_rules import MAX_STARRED, MAX_STARS, pack_rules
from crawlctl.pipeline.robots.patterns import Rule
from crawlctl.pipeline.robots.robots import Robots, robots_for_status
from crawlctl.pipeline.robots.robots_lines import MAX_ROBOTS_BYTES, MAX_SITEMAPS
from crawlctl.pipeline.robots.rule_index import IndexCache, RuleIndex

if TYPE_CHECKING:
    from pathlib import Path

# (robots.txt, agent, URL) of expectations we do not share, with the reason.
DEPARTURES = {
    (
        "User-agent: FooBot\nDisallow: /\nAllow: /foo/bar/%62%61%7A\n",
        "FooBot",
        "http://foo.bar/foo/bar/baz",
    ): "The last row of the table in RFC 9309 §2.2.2 says that this pattern is matched as /foo/bar/baz. "
    "Google compares the escapes literally. Our URLs are canonical and never hold an escaped letter, so "
    "literally `Disallow: /%7Ejoe/` would keep us out of nothing.",
}


@pytest.fixture(scope="session")
def google_cases(repository: Path) -> list[dict[str, Any]]:
    path = repository.parent / "shared" / "data" / "conformance" / "robots-cases.json"
    if not path.exists():
        pytest.skip(f"{path.name}, Google's expectations, is not beside the repository")
    cases: list[dict[str, Any]] = json.loads(path.read_bytes())
    return cases


def allowed(robots: str | bytes, url: str, agent: str = "crawlctl") -> bool:
    body = robots.encode() if isinstance(robots, str) else robots
    return Robots.parse(body, agent).verdict(url).allowed


def for_all(*lines: str) -> str:
    return "\n".join(["User-agent: *", *lines])


def test_the_expectations_of_google_hold(google_cases: list[dict[str, Any]]) -> None:
    missed = {
        (case["robots"], case["agent"], case["url"])
        for case in google_cases
        if allowed(case["robots"], case["url"], case["agent"]) != case["allowed"]
    }
    assert len(google_cases) == 142
    assert missed == set(DEPARTURES)


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("/a", "/a?b=c", True),
        ("/a?b", "/a?b=c", True),
        ("/a/*/c", "/a/b/b/c/d", True),
        ("/a*", "/a", True),
        ("/*a$", "/bab", False),
        ("/*a$", "/baba", True),
        ("/*$", "/anything", True),
        ("/a*b*$", "/axbx", True),
        ("/a$b", "/a$bc", True),
        ("/a$b$", "/a$bc", False),
        ("*/end", "/in/the/end", True),
        ("/**/x**y", "/a/xy", True),
        ("/ab*ab$", "/ab", False),
        ("/ab*ab$", "/abab", True),
        ("private", "/private/x", True),
        ("/%7Ejoe/", "/~joe/", True),
        ("/~joe/", "/%7ejoe/", True),
        ("/caf%c3%a9", "/caf%C3%A9", True),
        ("/café", "/caf%C3%A9", True),
        ("/wiki/Special:", "/wiki/Special%3ASearch", True),
        ("/wiki/Special%3A", "/wiki/Special:Search", True),
        ("/a%2Fb", "/a/b", False),
        ("/a%2fb", "/a%2Fb", True),
        ("/a?b%26c", "/a?b&c", False),
        ("/file-%2A", "/file-*", True),
        ("/file-%2A", "/file-x", False),
        ("/price-%24", "/price-$", True),
        ("/price-%24", "/price-%24", True),
        ("/100%", "/100%25", True),
        ("/%2541", "/A", False),
        ("/a b", "/a%20b", True),
        ("/it's", "/it%27s", True),
    ],
)
def test_a_pattern_matches_every_spelling_of_a_path_and_no_other(
    pattern: str, path: str, matches: bool
) -> None:
    assert allowed(for_all(f"Disallow: {pattern}"), f"http://h{path}") is not matches


def test_the_verdict_names_the_rule_and_its_line() -> None:
    robots = Robots.parse(b"# hello\r\nUser-agent: *\r\nDisallow: /a\r\nAllow: /a/b # why\r\n", "crawlctl")
    assert robots.verdict("http://h/a/b/c") == (True, "Allow: /a/b", 4)
    assert robots.verdict("http://h/a/c") == (False, "Disallow: /a", 3)
    assert robots.verdict("http://h/c") == (True, "no rule of robots.txt matches", 0)


def test_robots_txt_itself_may_always_be_read() -> None:
    assert allowed(for_all("Disallow: /"), "http://h/robots.txt")
    assert robots_for_status(503, b"", "crawlctl").verdict("http://h/robots.txt").allowed


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\n\n"])
@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"])
def test_any_line_end_and_a_byte_order_mark_are_understood(end: str, start: bytes) -> None:
    body = start + end.join(["User-agent: crawlctl", "Disallow: /a", "Disallow: /b"]).encode()
    assert not allowed(body, "http://h/a")
    assert not allowed(body, "http://h/b")
    assert allowed(body, "http://h/c")


@pytest.mark.parametrize("line", ["Dissallow: /a", "disalow:/a", " DISALLOW\t:\t/a ", "Disallow /a"])
def test_common_misspellings_are_understood(line: str) -> None:
    assert not allowed(for_all(line), "http://h/a")


def test_groups_that_name_us_are_merged_and_the_others_do_not_count() -> None:
    robots = (
        "user-agent: CrawlCtl/2.0\nDisallow: /a\n\n"
        "User-agent: *\nDisallow: /\n\n"
        "User-agent: x\nuser-agent: crawlctl\nDisallow: /b"
    )
    assert [allowed(robots, f"http://h/{path}") for path in "abc"] == [False, False, True]


@pytest.mark.parametrize("name", ["crawlctlx", "crawl", "x-crawlctl", "crawlctl-news", "*crawlctl", ""])
def test_a_name_that_only_resembles_ours_is_not_ours(name: str) -> None:
    assert allowed(f"User-agent: {name}\nDisallow: /", "http://h/a")


def test_rules_before_the_first_group_are_nobodys() -> None:
    assert allowed("Disallow: /\nUser-agent: *\nDisallow: /a", "http://h/b")


def test_an_empty_disallow_ends_the_names_of_a_group() -> None:
    assert allowed("User-agent: crawlctl\nDisallow:\nUser-agent: *\nDisallow: /", "http://h/a")


def test_a_url_that_is_not_canonical_is_refused() -> None:
    assert not allowed(for_all("Disallow: /x"), "http://h/é")


def test_what_lies_beyond_the_limit_is_not_read_and_no_line_is_cut() -> None:
    start, end = b"User-agent: *\nDisallow: /a\n#", b"\nAllow: /"
    body = start + b"x" * (MAX_ROBOTS_BYTES - len(start) - len(end)) + end + b"public\nDisallow: /b\n"
    assert body[:MAX_ROBOTS_BYTES].endswith(b"\nAllow: /")
    assert Robots.parse(body, "crawlctl") == Robots.parse(start, "crawlctl")


def test_the_last_line_of_a_file_of_exactly_the_limit_counts() -> None:
    body = b"User-agent: *\n"
    body += b"#" * (MAX_ROBOTS_BYTES - len(body) - len(b"\nDisallow: /b")) + b"\nDisallow: /b"
    assert len(body) == MAX_ROBOTS_BYTES
    assert not allowed(body, "http://h/b")


@given(st.binary(max_size=300))
@example(b"\xff\xfeU\x00s\x00e\x00r\x00")
@example(b"User-agent: *\nDisallow: /\xe9\xff\nAllow: \x00\n")
def test_no_bytes_break_the_reading(body: bytes) -> None:
    robots = Robots.parse(b"User-agent: *\n" + body, "crawlctl")
    robots.verdict("http://h/a?b=c")
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(robots), type=Robots) == robots


def test_latin_1_patterns_match_the_escapes_of_their_bytes() -> None:
    assert not allowed(b"User-agent: *\nDisallow: /caf\xe9", "http://h/caf%E9")


@pytest.mark.parametrize(
    ("lines", "delay"),
    [
        (["User-agent: *", "Crawl-delay: 2.5"], 2.5),
        (["User-agent: *", "Crawl-delay: 1", "Crawl-delay: 7", "Crawl-delay: 3"], 7.0),
        (["User-agent: *", "Crawl-delay: 10s"], 10.0),
        (["User-agent: *", "Crawl-delay: .5"], 0.5),
        (["User-agent: *", "Crawl-delay: 5."], 5.0),
        (["User-agent: *", "Crawl-delay: 1,5"], 1.5),
        (["User-agent: *", "Crawl-delay: ."], None),
        (["User-agent: *", "Crawl-delay: -1"], None),
        (["User-agent: *", "Crawl-delay: nan"], None),
        (["User-agent: *", "Crawl-delay: inf"], None),
        (["User-agent: *", "Crawl-delay:"], None),
        (["Crawl-delay: 5", "User-agent: *"], None),
        (["User-agent: crawlctl", "Disallow: /a", "User-agent: *", "Crawl-delay: 5"], None),
        (["User-agent: x", "Crawl-delay: 9", "User-agent: crawlctl", "Disallow: /"], None),
        (["User-agent: crawlctl", "Crawl-delay: 9", "User-agent: x", "Disallow: /"], 9.0),
    ],
)
def test_a_crawl_delay_holds_for_the_crawlers_named_before_it(lines: list[str], delay: float | None) -> None:
    assert Robots.parse("\n".join(lines).encode(), "crawlctl").crawl_delay == delay


def test_a_crawl_delay_does_not_end_a_group() -> None:
    assert not allowed("User-agent: crawlctl\nCrawl-delay: 9\nUser-agent: x\nDisallow: /", "http://h/a")


def test_sitemaps_are_taken_from_anywhere_once_and_not_without_end() -> None:
    lines = [
        "Sitemap: https://h/a.xml",
        "User-agent: x",
        "sitemap:https://h/b.xml",
        "Sitemap: https://h/a.xml",
    ]
    assert Robots.parse("\n".join(lines).encode(), "crawlctl").sitemaps == (
        "https://h/a.xml",
        "https://h/b.xml",
    )
    many = "\n".join(f"Sitemap: https://h/{number}.xml" for number in range(2 * MAX_SITEMAPS))
    assert len(Robots.parse(many.encode(), "crawlctl").sitemaps) == MAX_SITEMAPS


@pytest.mark.parametrize("status", [301, 307, 400, 401, 403, 404, 410, 418, 499])
def test_a_host_without_robots_txt_has_no_rules(status: int) -> None:
    robots = robots_for_status(status, b"User-agent: *\nDisallow: /", "crawlctl")
    assert robots.verdict("http://h/a") == (True, f"the host has no robots.txt (status {status})", 0)
    assert not robots.try_later


@pytest.mark.parametrize("status", [None, 0, 100, 304, 429, 500, 502, 503, 599])
def test_a_host_that_cannot_answer_is_closed_until_it_can(status: int | None) -> None:
    robots = robots_for_status(status, b"", "crawlctl")
    assert not robots.verdict("http://h/a").allowed
    assert robots.try_later


def test_an_answer_is_read_whatever_its_kind_of_success() -> None:
    for status in (200, 203, 206):
        assert robots_for_status(status, b"User-agent: *\nDisallow: /a", "crawlctl").rules


def test_hostile_patterns_take_linear_time() -> None:
    # A backtracking matcher would not come back from this; the time limit of the test run would end it.
    robots = Robots.parse(b"User-agent: *\nDisallow: /" + b"*a" * 100_000 + b"*b$", "crawlctl")
    assert robots.verdict("http://h/" + "a" * 4_000).allowed


def test_too_many_patterns_with_stars_forbid_more_and_never_less() -> None:
    stars = [f"Disallow: /x{number}/*/y" for number in range(MAX_STARRED)]
    robots = for_all(*stars, "Disallow: /z/*/y", "Allow: /z/*/y/z", "Disallow: /x0/*/y")
    assert not allowed(robots, "http://h/x0/a/y")
    assert allowed(robots, "http://h/x0/a/z")
    assert not allowed(robots, "http://h/z/a/y")
    assert not allowed(robots, "http://h/z/a/y/z")


def test_stars_are_bounded_over_all_patterns() -> None:
    last = MAX_STARS // 100
    robots = for_all(*(f"Disallow: /{number}" + "*a" * 100 for number in range(last + 1)))
    assert allowed(robots, f"http://h/{last - 1}/")
    assert not allowed(robots, f"http://h/{last}/")


def test_the_rules_of_older_tables_are_read() -> None:
    old = ["crawlctl", [[False, "/a%7e", 3], [True, "/*.gif$", 7]], 2.0, [], "no rule", False]
    robots = msgspec.msgpack.decode(msgspec.msgpack.encode(old), type=Robots)
    assert robots.verdict("http://h/a~b") == (False, "Disallow: /a%7e", 3)
    assert robots.verdict("http://h/a~b.gif") == (True, "Allow: /*.gif$", 7)


def test_rules_can_be_listed_as_the_site_wrote_them() -> None:
    lines = ["Disallow: /b*c$", "Allow: /index.html", "Disallow: /a%7e", "Disallow: /b*c$", "Disallow: /x$"]
    robots = Robots.parse(for_all(*lines).encode(), "crawlctl")
    assert [(rule.line, str(rule)) for rule in robots.listed()] == [
        (2, "Disallow: /b*c$"),
        (3, "Allow: /index.html"),
        (4, "Disallow: /a%7e"),
        (6, "Disallow: /x$"),
    ]
    assert Robots("crawlctl").listed() == []


def test_a_large_file_is_kept_in_few_bytes() -> None:
    lines = "\n".join(f"allow:/{number:05}" for number in range(40_000))
    robots = Robots.parse(f"User-agent: *\nDisallow: /\n{lines}".encode(), "crawlctl")
    assert len(robots.packed) < 300_000
    assert robots.verdict("http://h/12345/x") == (True, "Allow: /12345", 12348)
    assert robots.verdict("http://h/x") == (False, "Disallow: /", 2)


def test_rules_that_were_asked_longest_ago_are_forgotten_first() -> None:
    packed = [pack_rules([Rule(False, f"/{number}", 1)]) for number in range(5)]
    cache = IndexCache(3 * RuleIndex(packed[0]).memory)
    first = cache.get(packed[0])
    for rules in packed:
        cache.get(rules)
        assert cache.get(packed[0]) is first
    assert len(cache) == 3
    cache.limit_to(0)
    assert len(cache) == 1
    assert cache.get(packed[0]) is first


def test_damaged_rules_are_named_as_such() -> None:
    for damaged in (b"\x78\x01nonsense", b"\x93\x01\x02\x03"):
        with pytest.raises(CorruptFile, match="not the rules of a robots"):
            RuleIndex(damaged)


PATTERNS = st.text("ab/*$%", min_size=1, max_size=8).map(lambda text: f"/{text}".replace("%", "%61"))
PATHS = st.text("ab/$", max_size=10).map(lambda text: f"/{text}")
MANY_RULES = st.lists(
    st.builds(Rule, st.booleans(), st.text("abc/*$", max_size=8).map("/{}".format), st.integers(1, 99)),
    min_size=17,
    max_size=60,
)
RULES = st.lists(st.builds(Rule, st.booleans(), PATTERNS, st.integers(1, 99)), max_size=6)


def reference_match(pattern: str, path: str) -> bool:
    """Follow all places a pattern can have reached at once, as an automaton does."""
    places = {0}
    for number, symbol in enumerate(pattern):
        if symbol == "$" and number == len(pattern) - 1:
            return len(path) in places
        if symbol == "*":
            places = set(range(min(places), len(path) + 1))
        else:
            places = {place + 1 for place in places if path[place : place + 1] == symbol}
        if not places:
            return False
    return True


@given(RULES | MANY_RULES, PATHS)
def test_the_longest_match_decides_and_allow_wins_ties(rules: list[Rule], path: str) -> None:
    plain = [(rule, rule.pattern.replace("%61", "a")) for rule in rules]
    matching = [(len(pattern), rule.allow) for rule, pattern in plain if reference_match(pattern, path)]
    deciding = RuleIndex(pack_rules(rules)).deciding(path)
    if not matching:
        assert deciding is None
    else:
        assert deciding is not None
        assert (len(deciding.pattern.replace("%61", "a")), deciding.allow) == max(matching)


@given(RULES, PATHS)
def test_rules_kept_between_rounds_give_the_same_verdict(rules: list[Rule], path: str) -> None:
    robots = Robots("crawlctl", tuple(rules), 1.5, ("https://h/s.xml",))
    kept = msgspec.msgpack.decode(msgspec.msgpack.encode(robots), type=Robots)
    assert kept.verdict(f"http://h{path}") == robots.verdict(f"http://h{path}")


def test_an_allowed_index_page_allows_its_folder() -> None:
    robots = for_all("Disallow: /", "Allow: /docs/index.html", "Allow: /index.php")
    assert allowed(robots, "http://h/docs/")
    assert not allowed(robots, "http://h/docs/a")
    assert not allowed(robots, "http://h/")
