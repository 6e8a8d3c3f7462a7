from __future__ import annotations

from crawlctl.pipeline.politeness.host_state import HostState, KnownRobots
from crawlctl.pipeline.politeness.rules_memory import SMALL, RuleMemory
from crawlctl.pipeline.robots.robots import Robots

LARGE = Robots.parse(
    b"User-agent: *\nCrawl-delay: 3\nSitemap: /s.xml\n"
    + b"\n".join(b"Disallow: /%d" % (number * 7919 % 1_000_003) for number in range(20_000)),
    "crawlctl",
)
SIZE = len(LARGE.packed)
SMALL_RULES = Robots.parse(b"User-agent: *\nDisallow: /a", "crawlctl")


def test_large_rules_are_kept_as_long_as_they_fit() -> None:
    rules = RuleMemory(2 * SIZE)
    assert SIZE > SMALL
    assert rules.admit("http://a/robots.txt", LARGE) is LARGE
    assert rules.admit("http://b/robots.txt", LARGE) is LARGE
    closed = rules.admit("http://c/robots.txt", LARGE)
    assert closed.try_later
    assert (closed.rules, closed.crawl_delay, closed.sitemaps) == (b"", 3.0, ("/s.xml",))
    assert "round.task_memory" in closed.verdict("http://c/x").rule
    assert rules.memory == 2 * SIZE


def test_a_robots_txt_that_is_read_again_counts_once() -> None:
    rules = RuleMemory(SIZE)
    for _ in range(3):
        assert rules.admit("http://a/robots.txt", LARGE) is LARGE


def test_rules_that_have_become_small_make_room_for_others() -> None:
    rules = RuleMemory(SIZE)
    assert rules.admit("http://a/robots.txt", LARGE) is LARGE
    assert rules.admit("http://b/robots.txt", LARGE).try_later
    rules.admit("http://a/robots.txt", SMALL_RULES)
    assert rules.admit("http://b/robots.txt", LARGE) is LARGE


def test_small_rules_are_always_kept() -> None:
    small = SMALL_RULES
    rules = RuleMemory(0)
    assert rules.admit("http://a/robots.txt", small) is small
    state = HostState({"http": KnownRobots(small, 9.0)})
    assert rules.admit_host("a", state) is state


def test_remembered_rules_that_do_not_fit_are_asked_for_again() -> None:
    state = HostState({"http": KnownRobots(LARGE, 9.0, 200)})
    assert RuleMemory(SIZE).admit_host("a", state) == state
    known = RuleMemory(SIZE - 1).admit_host("a", state).robots["http"]
    assert (known.robots.rules, known.read_at) == (b"", 0.0)
    assert (known.robots.crawl_delay, known.robots.sitemaps) == (3.0, ("/s.xml",))
