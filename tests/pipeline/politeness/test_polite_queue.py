from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from crawlctl.pipeline.config.settings import PolitenessSettings
from crawlctl.pipeline.config.units import Duration
from crawlctl.pipeline.politeness.crawl_delay import (
    backoff_after,
    delay_between,
    delay_between_hosts,
    is_trouble,
)
from crawlctl.pipeline.politeness.handout import Action, Fate, Handout, Reply
from crawlctl.pipeline.politeness.host_state import HostState, KnownRobots
from crawlctl.pipeline.politeness.polite_queue import PoliteQueue
from crawlctl.pipeline.robots.robots import Robots, robots_for_status

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

DAY = 86_400.0
SETTINGS = PolitenessSettings(
    delay=Duration(2), response_factor=5.0, max_response_delay=Duration(30), max_crawl_delay=Duration(60)
)
QUICK = Reply(200, 0.01)
NO_RULES = Robots("crawlctl")


def hosts_left(queue: PoliteQueue) -> int:
    """Return how many hosts are left for the next round."""
    return sum(host.is_left for host in queue._hosts.values())


def queue_of(
    *urls: str,
    settings: PolitenessSettings = SETTINGS,
    states: Mapping[str, HostState] | None = None,
    now: float = 0.0,
) -> PoliteQueue:
    queue = PoliteQueue(settings, "crawlctl", states or {}, now)
    for url in urls:
        queue.add(url)
    return queue


def known(
    robots: Robots = NO_RULES, read_at: float = 0.0, hosts: Iterable[str] = ("h",)
) -> dict[str, HostState]:
    robots_of = {scheme: KnownRobots(robots, read_at, 200) for scheme in ("http", "https")}
    return {host: HostState(robots=robots_of) for host in hosts}


def take(queue: PoliteQueue, now: float) -> Handout:
    handout = queue.next_ready(now)
    assert handout is not None
    return handout


def fetch(queue: PoliteQueue, now: float, reply: Reply = QUICK) -> str:
    handout = take(queue, now)
    assert handout.action is Action.PAGE
    queue.finished(handout, now, reply)
    return handout.url


def read_robots(queue: PoliteQueue, now: float, status: int | None, body: bytes = b"") -> str:
    handout = take(queue, now)
    assert handout.action is Action.ROBOTS
    robots = robots_for_status(status, body, "crawlctl")
    queue.robots_finished(handout, now, Reply(status, 0.01), robots)
    return handout.url


@pytest.mark.parametrize(
    ("crawl_delay", "last_seconds", "delay"),
    [
        (0.0, 0.0, 2.0),
        (7.5, 0.0, 7.5),
        (3_600.0, 0.0, 60.0),
        (0.0, 1.0, 5.0),
        (0.0, 100.0, 30.0),
        (7.0, 1.0, 7.0),
    ],
)
def test_the_delay_is_the_longest_of_those_that_apply(
    crawl_delay: float, last_seconds: float, delay: float
) -> None:
    assert delay_between(SETTINGS, crawl_delay, last_seconds) == delay


def test_the_back_off_doubles_up_to_its_cap_and_keeps_to_retry_after() -> None:
    assert [backoff_after(SETTINGS, failures, None) for failures in (1, 2, 3, 4)] == [10, 20, 40, 80]
    assert backoff_after(SETTINGS, 10_000, None) == SETTINGS.max_backoff
    assert backoff_after(SETTINGS, 1, 3.0) == 10
    assert backoff_after(SETTINGS, 1, 300.0) == 300
    assert backoff_after(SETTINGS, 1, 1e12) == SETTINGS.max_retry_after


def test_only_the_host_as_a_whole_can_be_in_trouble() -> None:
    assert all(map(is_trouble, [None, 429, 500, 503, 599]))
    assert not any(map(is_trouble, [200, 204, 301, 304, 400, 403, 404, 410]))


def test_robots_txt_is_read_before_the_first_page_of_each_scheme() -> None:
    queue = queue_of("https://h/a", "http://h/b")
    assert read_robots(queue, 0, 200, b"User-agent: *\nDisallow: /b") == "https://h/robots.txt"
    assert fetch(queue, 2) == "https://h/a"
    assert read_robots(queue, 4, 404) == "http://h/robots.txt"
    assert fetch(queue, 6) == "http://h/b"


def test_a_host_waits_for_its_robots_txt_whatever_its_connections() -> None:
    queue = queue_of(
        "https://h/a", "https://h/b", settings=msgspec.structs.replace(SETTINGS, connections_per_host=0)
    )
    assert take(queue, 0).action is Action.ROBOTS
    assert queue.next_ready(1_000) is None
    assert queue.next_time() is None


def test_robots_txt_is_read_again_when_it_is_a_day_old() -> None:
    queue = queue_of("https://h/a", "https://h/b", states=known(), now=DAY)
    assert fetch(queue, DAY) == "https://h/a"
    assert read_robots(queue, DAY + 2, 404) == "https://h/robots.txt"
    assert fetch(queue, DAY + 4) == "https://h/b"


@pytest.mark.parametrize("robots", [Robots("other"), KnownRobots(NO_RULES, 5_000.0)])
def test_rules_for_another_name_or_from_the_future_are_read_again(robots: Robots | KnownRobots) -> None:
    states = known(robots) if isinstance(robots, Robots) else known(robots.robots, robots.read_at)
    assert take(queue_of("https://h/a", states=states), 0).action is Action.ROBOTS


def test_pages_that_are_forbidden_are_reported_at_once_and_cost_no_time() -> None:
    rules = Robots.parse(b"User-agent: *\nDisallow: /x", "crawlctl")
    queue = queue_of("https://h/x1", "https://h/x2", "https://h/a", states=known(rules))
    for url in ("https://h/x1", "https://h/x2"):
        assert take(queue, 0) == ("h", url, Action.FORBIDDEN, "Disallow: /x")
    assert fetch(queue, 0) == "https://h/a"
    assert list(queue.left_over()) == []


def test_forbidden_pages_of_one_host_do_not_hold_up_another() -> None:
    rules = Robots.parse(b"User-agent: *\nDisallow: /x", "crawlctl")
    states = {**known(rules), **known(hosts=["g"])}
    queue = queue_of("https://h/x1", "https://h/x2", "https://g/a", states=states)
    assert [take(queue, 0).url for _ in range(3)] == ["https://h/x1", "https://g/a", "https://h/x2"]


def test_a_robots_txt_that_cannot_be_had_is_tried_again_and_then_closes_its_scheme() -> None:
    queue = queue_of("https://h/a", "https://h/b", "http://h/c")
    for now in (0, 10, 30):
        assert read_robots(queue, now, 503) == "https://h/robots.txt"
        assert queue.next_ready(now + 9) is None
    assert read_robots(queue, 70, 404) == "http://h/robots.txt"
    assert fetch(queue, 72) == "http://h/c"
    left = list(queue.left_over())
    assert [one.url for one in left] == ["https://h/a", "https://h/b"]
    assert all("answered with status 503" in one.reason and one.fate is Fate.FAILED for one in left)


def test_a_robots_txt_that_has_come_but_is_of_no_use_is_not_asked_for_again_at_once() -> None:
    queue = queue_of("http://h/a")
    handout = take(queue, 0.0)
    queue.robots_finished(handout, 0.0, QUICK, Robots("crawlctl", note="too large", try_later=True))
    assert queue.next_ready(100.0) is None
    assert [(left.reason, left.fate) for left in queue.left_over()] == [("too large", Fate.FAILED)]


def test_a_crawl_delay_outlives_a_robots_txt_that_cannot_be_had() -> None:
    slow = Robots("crawlctl", crawl_delay=50.0)
    queue = queue_of("http://h/a", "https://h/b", states=known(slow, read_at=-DAY))
    for now in (1, 51, 101):
        assert read_robots(queue, now, 500) == "http://h/robots.txt"
    assert read_robots(queue, 151, 404) == "https://h/robots.txt"
    assert queue.next_time() == 201


def test_a_robots_txt_that_could_not_be_had_is_asked_for_again_after_robots_retry() -> None:
    closed = robots_for_status(None, b"", "crawlctl")
    early = queue_of("https://h/a", states=known(closed), now=2_700)
    assert early.next_ready(2_700) is None
    assert len(list(early.left_over())) == 1
    late = queue_of("https://h/a", states=known(closed), now=2_701)
    assert read_robots(late, 2_701, 404) == "https://h/robots.txt"


def test_a_request_begins_only_when_the_delay_has_passed_since_the_last_ended() -> None:
    queue = queue_of("https://h/a", "https://h/b", "https://h/c", states=known())
    handout = take(queue, 0)
    assert queue.next_ready(100) is None
    queue.finished(handout, 100, Reply(200, 4.0))
    assert queue.next_time() == 120
    assert queue.next_ready(119.9) is None
    assert fetch(queue, 120) == "https://h/b"
    assert queue.next_time() == 122


def test_a_crawl_delay_is_kept() -> None:
    queue = queue_of("https://h/a", "https://h/b")
    read_robots(queue, 0, 200, b"User-agent: *\nCrawl-delay: 9")
    assert queue.next_ready(8.9) is None
    fetch(queue, 9)
    assert queue.next_time() == 18


def test_several_connections_are_opened_one_delay_apart() -> None:
    settings = msgspec.structs.replace(SETTINGS, connections_per_host=2)
    queue = queue_of("https://h/a", "https://h/b", "https://h/c", settings=settings, states=known())
    first = take(queue, 0)
    assert queue.next_ready(1.9) is None
    take(queue, 2)
    assert queue.next_ready(50) is None
    queue.finished(first, 50, QUICK)
    assert queue.next_ready(51.9) is None
    assert take(queue, 52).url == "https://h/c"


def test_a_pause_that_comes_up_while_a_host_waits_is_kept() -> None:
    settings = msgspec.structs.replace(SETTINGS, connections_per_host=2)
    queue = queue_of("https://h/a", "https://h/b", settings=settings, states=known())
    first = take(queue, 0)
    queue.finished(first, 1, Reply(503, 0.1, 500.0))
    assert queue.next_ready(2) is None
    assert queue.next_time() == 501


def test_without_delay_and_limit_everything_is_handed_out_at_once() -> None:
    settings = PolitenessSettings(delay=Duration(0), response_factor=0, connections_per_host=0)
    queue = queue_of(*(f"https://h/{number}" for number in range(50)), settings=settings, states=known())
    assert [take(queue, 0).url for _ in range(50)] == [f"https://h/{number}" for number in range(50)]


def test_urls_of_a_host_come_by_priority_and_then_in_the_order_they_were_added() -> None:
    queue = PoliteQueue(PolitenessSettings(delay=Duration(0), response_factor=0), "crawlctl", known(), 0)
    for url, priority in (("a", 1.0), ("b", 3.0), ("c", 3.0), ("d", 2.0)):
        assert queue.add(f"https://h/{url}", priority)
    assert not queue.add("https://h/a", 9.0)
    assert [fetch(queue, 0)[-1] for _ in range(4)] == ["b", "c", "d", "a"]
    assert not queue.add("https://h/a", 9.0)


def test_failures_back_off_until_the_host_is_set_aside() -> None:
    queue = queue_of(*(f"https://h/{number}" for number in range(9)), states=known())
    for now in (0, 10, 30, 70, 150):
        assert queue.next_ready(now - 0.1) is None
        fetch(queue, now, Reply(None, 1.0))
    assert queue.next_ready(1e9) is None
    left = list(queue.left_over())
    assert [one.url for one in left] == [f"https://h/{number}" for number in range(5, 9)]
    assert left[0].fate is Fate.FAILED
    assert left[0].reason == "the host failed 5 times in a row, at last with no answer"


def test_a_host_set_aside_while_it_waits_is_not_asked_again() -> None:
    settings = msgspec.structs.replace(SETTINGS, connections_per_host=2, max_failures=1)
    queue = queue_of("https://h/a", "https://h/b", settings=settings, states=known())
    first = take(queue, 0)
    assert queue.next_time() == 2
    queue.finished(first, 1, Reply(503, 0.1))
    assert queue.next_time() is None
    assert (list(queue.busy_hosts()), hosts_left(queue)) == ([], 1)
    assert queue.next_ready(1e9) is None


def test_an_answer_ends_the_row_of_failures() -> None:
    queue = queue_of(*(f"https://h/{number}" for number in range(9)), states=known())
    now = 0.0
    for status in (503, None, 429, 503, 404, 503):
        fetch(queue, now, Reply(status, 0.01))
        now = queue.next_time() or 0.0
    (_, state), *_ = queue.states()
    assert (state.failures, state.pages, state.reason) == (1, 1, "status 503")


def test_a_page_that_fails_delays_its_host_by_the_first_back_off_and_the_others_go_on() -> None:
    queue = queue_of(*(f"https://h/{number}" for number in range(12)), states=known())
    for now in range(0, 90, 10):
        assert queue.next_ready(now - 0.1) is None
        assert fetch(queue, now, Reply(500, 0.01)) == f"https://h/{now // 10}"
        assert not queue.only_failing_hosts_wait()
    fetch(queue, 90)
    state = dict(queue.states())["h"].schemes["https"]
    assert (state.failures, state.page_errors, state.pages) == (0, 0, 1)
    assert queue.next_time() == 92


def test_errors_of_many_pages_in_a_row_are_failures_of_the_host() -> None:
    settings = msgspec.structs.replace(SETTINGS, max_page_errors=3, max_failures=2)
    queue = queue_of(*(f"https://h/{number}" for number in range(9)), settings=settings, states=known())
    for now in (0, 10, 20, 30, 40):
        fetch(queue, now, Reply(500, 0.01))
    assert hosts_left(queue) == 0
    fetch(queue, 50, Reply(500, 0.01))
    assert queue.next_ready(1e9) is None
    assert [left.fate for left in queue.left_over()] == [Fate.FAILED] * 3
    state = dict(queue.states())["h"]
    again = queue_of("https://h/7", "https://h/8", settings=settings, states={"h": state}, now=1_000)
    fetch(again, 1_000, Reply(502, 0.01))
    assert hosts_left(again) == 1


def test_a_request_that_ends_by_our_fault_says_nothing_of_the_host() -> None:
    queue = queue_of(*(f"http://h/{number}" for number in range(9)), states=known())
    for number in range(9):
        fetch(queue, 2.0 * number, Reply(None, 60.0, is_ours=True))
    state = dict(queue.states())["h"]
    assert (state.failures, state.reason, state.pages, state.last_seconds) == (0, "", 0, 0.0)


def test_a_page_that_asks_for_a_pause_speaks_for_the_host() -> None:
    queue = queue_of("https://h/a", "http://h/b", states=known())
    fetch(queue, 0, Reply(500, 0.01, 100.0))
    assert dict(queue.states())["h"].schemes["https"].failures == 1
    assert queue.next_time() == 100


def test_while_one_scheme_does_not_answer_the_other_one_goes_on() -> None:
    queue = queue_of("https://h/a", "http://h/b", "http://h/c", "http://h/d")
    assert read_robots(queue, 0, None) == "https://h/robots.txt"
    assert read_robots(queue, 2, 404) == "http://h/robots.txt"
    assert [fetch(queue, now) for now in (4, 6)] == ["http://h/b", "http://h/c"]
    assert read_robots(queue, 10, None) == "https://h/robots.txt"
    assert fetch(queue, 12) == "http://h/d"
    assert queue.next_time() == 30
    state = dict(queue.states())["h"]
    assert (state.failures, state.schemes["https"].failures, state.not_before) == (0, 2, 14)


def test_tries_of_a_robots_txt_count_over_rounds_until_its_scheme_is_closed() -> None:
    states: dict[str, HostState] = {}
    for now, fate in ((0, Fate.DUE), (100, Fate.DUE), (200, Fate.FAILED)):
        queue = queue_of("https://h/a", states=states, now=now)
        assert read_robots(queue, now, None) == "https://h/robots.txt"
        assert queue.next_ready(now + 1e3 if fate is Fate.FAILED else now) is None
        assert [left.fate for left in queue.left_over()] == [fate]
        states = dict(queue.states())


def test_a_host_that_may_not_be_asked_is_excluded_with_the_reason() -> None:
    queue = queue_of("https://h/a", "http://h/b")
    handout = take(queue, 0)
    queue.refused(handout, 1, "10.0.0.1 is not allowed")
    assert read_robots(queue, 3, 404) == "http://h/robots.txt"
    assert next(queue.left_over()) == ("https://h/a", "10.0.0.1 is not allowed", Fate.EXCLUDED)


def test_hosts_that_have_answered_before_are_waited_for_as_long_as_they_back_off() -> None:
    queue = queue_of("https://h/a", "https://h/b", "https://g/a", "https://g/b", states=known(hosts="gh"))
    assert queue.patience() == 150  # nobody has answered: it may be all there is
    fetch(queue, 0)
    fetch(queue, 0, Reply(None, 0.01))
    assert queue.patience() == 150
    fetch(queue, 2)
    assert queue.only_failing_hosts_wait()
    assert queue.patience() == 120  # the host that fails has never answered
    fetch(queue, 10)


def test_what_was_left_of_a_host_is_remembered_with_the_reason() -> None:
    queue = queue_of("https://h/a", "https://h/b", "http://h/c", states=known())
    fetch(queue, 0, Reply(503, 0.01))
    state = dict(queue.states_at_the_end())["h"]
    assert (state.left, state.not_before) == (2, 10)
    assert (
        state.left_reason == "the round ended before its turn came; the last request had failed (status 503)"
    )


def test_a_host_that_failed_in_the_last_round_gets_one_try() -> None:
    state = msgspec.structs.replace(known()["h"], failures=5, not_before=100.0)
    queue = queue_of("https://h/a", "https://h/b", states={"h": state})
    assert queue.next_ready(99) is None
    fetch(queue, 100, Reply(None, 1.0))
    assert hosts_left(queue) == 1
    assert dict(queue.states())["h"].not_before == 100 + 320


def test_retry_after_is_kept_and_remembered() -> None:
    queue = queue_of("https://h/a", "https://h/b", states=known())
    fetch(queue, 0, Reply(429, 0.1, 120.0))
    assert queue.next_ready(119) is None
    state = dict(queue.states())["h"]
    again = queue_of("https://h/b", states={"h": state}, now=60)
    assert again.next_time() == 120


def test_a_clock_that_was_wrong_does_not_close_a_host_for_ever() -> None:
    state = msgspec.structs.replace(known()["h"], not_before=1e12)
    assert queue_of("https://h/a", states={"h": state}, now=50).next_time() == 50 + DAY


def test_a_clock_that_was_ahead_and_is_set_right_leaves_the_pause_and_no_more() -> None:
    before = queue_of("https://h/a", "http://h/b", states=known(read_at=5 * DAY), now=5 * DAY)
    fetch(before, 5 * DAY, Reply(None, 0.01))
    state = dict(before.states())["h"]
    today = queue_of("https://h/c", states={"h": state}, now=4 * DAY)
    assert today.next_time() == 4 * DAY + 10
    assert take(today, 4 * DAY + 10).action is Action.ROBOTS  # its rules are from a day to come


def test_a_host_has_its_share_of_a_round() -> None:
    settings = msgspec.structs.replace(SETTINGS, pages_per_host=2)
    queue = queue_of(*(f"https://h/{number}" for number in range(4)), settings=settings, states=known())
    fetch(queue, 0)
    fetch(queue, 2)
    assert queue.next_ready(1_000) is None
    assert [left.reason for left in queue.left_over()] == [
        "the host has had its share of the round, 2 pages"
    ] * 2


def at_one_address(*hosts: str, ip: str = "192.0.2.1") -> dict[str, HostState]:
    return {host: msgspec.structs.replace(state, ip=ip) for host, state in known(hosts=hosts).items()}


def starts(queue: PoliteQueue, until: float, reply: Reply = QUICK) -> list[float]:
    """Return when requests began, each answered at once."""
    times: list[float] = []
    now = 0.0
    while now <= until:
        if handout := queue.next_ready(now):
            times.append(now)
            if handout.action is Action.ROBOTS:
                queue.robots_finished(handout, now, reply, NO_RULES)
            else:
                queue.finished(handout, now, reply)
        else:
            now = queue.next_time() or until + 1
    return times


def test_hosts_at_one_address_share_its_time() -> None:
    hosts = [f"h{number}.com" for number in range(8)]
    queue = queue_of(*(f"https://{host}/" for host in hosts), states=at_one_address(*hosts))
    assert starts(queue, 100) == pytest.approx([0.4 * number for number in range(8)])


def test_hosts_of_a_domain_share_its_time_until_their_addresses_are_known() -> None:
    queue = queue_of(*(f"https://h{number}.example.org/" for number in range(4)))
    asked = starts(queue, 100, Reply(404, 0.01, None, "192.0.2.1"))
    assert asked == pytest.approx([0.4 * number for number in range(4)] + [2 + 0.4 * n for n in range(4)])


def test_hosts_of_many_domains_and_addresses_wait_for_nobody() -> None:
    queue = queue_of(*(f"https://h{number}.com/" for number in range(4)))
    assert starts(queue, 1) == [0.0] * 4


def test_all_tasks_together_keep_to_the_rate_of_an_address_but_slow_down_no_single_host() -> None:
    assert delay_between_hosts(SETTINGS, 1) == pytest.approx(0.4)
    assert delay_between_hosts(SETTINGS, 4) == pytest.approx(1.6)
    assert delay_between_hosts(SETTINGS, 100) == 2


def test_an_address_has_so_many_connections_at_once() -> None:
    settings = msgspec.structs.replace(SETTINGS, connections_per_address=2)
    hosts = ("a.com", "b.com", "c.com")
    queue = queue_of(
        *(f"https://{host}/" for host in hosts), settings=settings, states=at_one_address(*hosts)
    )
    first, _ = take(queue, 0), take(queue, 0.4)
    assert queue.next_ready(100) is None
    queue.finished(first, 100, QUICK)
    assert take(queue, 100).host == "c.com"


@pytest.mark.parametrize("lifted", [{"delay": Duration(0)}, {"connections_per_host": 0}])
def test_an_operator_who_lifts_the_limits_of_hosts_lifts_those_of_addresses(lifted: dict[str, Any]) -> None:
    settings = msgspec.structs.replace(SETTINGS, **lifted)
    hosts = [f"h{number}.com" for number in range(50)]
    queue = queue_of(
        *(f"https://{host}/" for host in hosts), settings=settings, states=at_one_address(*hosts)
    )
    assert len({take(queue, 0).host for _ in hosts}) == 50


def test_a_host_that_is_held_in_the_line_of_its_machine_holds_up_nobody() -> None:
    hosts = ("a.com", "b.com", "c.com")
    queue = queue_of(*(f"https://{host}/" for host in hosts), states=at_one_address(*hosts))
    fetch(queue, 0)
    queue.hold("b.com")
    assert fetch(queue, 0.4) == "https://c.com/"
    queue.release("b.com")
    assert fetch(queue, 0.8) == "https://b.com/"


def test_what_is_left_takes_as_long_as_the_machine_of_many_hosts_takes() -> None:
    queue = queue_of(*(f"http://{number}.example.org/" for number in range(101)))
    rest = queue.rest(0.0)
    assert (len(rest.hosts), rest.machines) == (101, 1)
    assert rest.seconds == pytest.approx(100 * SETTINGS.address_factor * SETTINGS.delay)


def test_a_request_under_way_is_taken_to_last_as_long_again() -> None:
    queue = queue_of("https://h/a", states=known())
    take(queue, 0)
    assert queue.rest(20.0).seconds == pytest.approx(20.0)


def test_a_request_under_way_is_taken_to_last_as_long_as_the_last_one() -> None:
    queue = queue_of("https://h/a", "https://h/b", states=known())
    fetch(queue, 0, Reply(200, 8.0))
    take(queue, 100)
    assert queue.rest(103.0).seconds >= 5
    assert not queue.answering(102.0, 5.0)
    assert [host.host for host in queue.answering(103.0, 5.0)] == ["h"]
    assert not queue.answering(109.0, 5.0)  # it is slower than it was


def test_a_request_that_was_broken_off_is_no_failure_and_its_page_stays_due() -> None:
    queue = queue_of("https://h/a", states=known())
    queue.broken_off(take(queue, 0), 4)
    (state,) = (state for _, state in queue.states_at_the_end())
    assert (state.failures, state.pages, state.left, state.last_seconds) == (0, 0, 1, 8.0)
    assert state.not_before == 4 + SETTINGS.max_response_delay
    assert [(left.url, left.fate) for left in queue.left_over()] == [("https://h/a", Fate.DUE)]
    assert queue.next_ready(1_000) is None and not queue.hosts_done()


def test_a_request_that_was_broken_off_is_not_near_its_end_when_it_has_come_as_far_again() -> None:
    first = queue_of("https://h/a", states=known())
    first.broken_off(take(first, 0), 15)
    second = queue_of("https://h/a", states=dict(first.states()), now=100)
    take(second, 100)
    assert not second.answering(114, 5.0)


@pytest.mark.parametrize(
    ("seconds", "reason"), [(4, ""), (15, "the round ended before its answer was whole, after 15 s")]
)
def test_a_host_whose_slow_answers_are_broken_off_says_so_and_has_no_failure(
    seconds: int, reason: str
) -> None:
    queue = queue_of("https://h/a", states=known())
    queue.broken_off(take(queue, 0), seconds)
    (state,) = (state for _, state in queue.states())
    assert (state.failures, state.reason) == (0, reason)


def test_each_of_several_requests_of_a_host_has_lasted_since_its_own_start() -> None:
    two = msgspec.structs.replace(SETTINGS, connections_per_host=2)
    queue = queue_of("https://h/a", "https://h/b", states=known(), settings=two)
    first, second = take(queue, 0), take(queue, 10)
    assert queue.rest(16).seconds == pytest.approx(16)
    queue.broken_off(second, 16)
    queue.broken_off(first, 16)
    lasted = {left.url: left.reason.rpartition("after ")[2] for left in queue.left_over()}
    assert lasted == {"https://h/a": "16 s", "https://h/b": "6 s"}
    (state,) = (state for _, state in queue.states())
    assert state.last_seconds == 32


def test_the_answer_of_one_request_does_not_begin_another_anew() -> None:
    two = msgspec.structs.replace(SETTINGS, connections_per_host=2)
    queue = queue_of("https://h/a", "https://h/b", states=known(), settings=two)
    slow, quick = take(queue, 0), take(queue, 2)
    queue.finished(quick, 3, QUICK)
    assert queue.rest(20).seconds == pytest.approx(20)
    queue.broken_off(slow, 20)
    assert [left.reason.rpartition("after ")[2] for left in queue.left_over()] == ["20 s"]


def test_a_robots_txt_that_was_broken_off_is_asked_for_again() -> None:
    queue = queue_of("https://h/a")
    queue.broken_off(take(queue, 0), 4)
    assert [left.url for left in queue.left_over()] == ["https://h/a"]
    assert take(queue, 1_000).action is Action.ROBOTS


def test_a_service_that_has_failed_is_taken_to_fail_once_more() -> None:
    queue = queue_of("https://h/a", "https://h/b", states=known())
    queue.finished(take(queue, 0), 0, Reply(None, 1.0))
    backoffs = SETTINGS.backoff + 2 * SETTINGS.backoff
    assert queue.rest(0.0).seconds == pytest.approx(backoffs)


def test_a_dead_host_holds_up_nobody() -> None:
    hosts = [f"h{number}" for number in range(20)]
    queue = queue_of(
        *(f"https://{host}/{page}" for page in range(5) for host in hosts), states=known(hosts=hosts)
    )
    dead = take(queue, 0)  # never answered
    fetched = [fetch(queue, now) for now in range(0, 20, 2) for _ in range(19) if now < 10]
    assert len(fetched) == 19 * 5
    assert all(dead.host not in url.split("/") for url in fetched)
    assert queue.next_time() is None


def test_what_the_round_did_not_reach_is_left_over() -> None:
    queue = queue_of("https://h/a", "https://h/b", states=known())
    fetch(queue, 0)
    assert list(queue.left_over()) == [("https://h/b", "the round ended before its turn came", Fate.DUE)]


def test_hosts_that_are_asked_or_still_to_be_asked_are_busy() -> None:
    queue = queue_of("https://a/1", "https://b/1", "https://b/2", "https://c/1", states=known(hosts="abc"))
    asked = take(queue, 0)
    fetch(queue, 0)
    assert [host.host for host in queue.busy_hosts()] == ["a", "b", "c"]
    queue.finished(asked, 1, Reply(200, 0.1))
    assert [host.host for host in queue.busy_hosts()] == ["b", "c"]


def test_a_host_that_is_held_is_asked_when_it_is_released() -> None:
    queue = queue_of("https://h/a", "https://h/b", "https://g/a", states=known(hosts="gh"))
    under_way = take(queue, 0)
    queue.hold("h")
    assert fetch(queue, 0) == "https://g/a"
    queue.finished(under_way, 1, QUICK)
    assert queue.next_ready(1_000) is None
    assert queue.next_time() is None
    queue.release("h")
    assert queue.next_time() == 3
    assert fetch(queue, 3) == "https://h/b"


def test_a_host_that_the_caller_sets_aside_is_left_over_with_the_reason() -> None:
    queue = queue_of("https://h/a", "https://h/b", states=known())
    under_way = take(queue, 0)
    queue.set_aside("h", "its pages keep the parser busy")
    queue.finished(under_way, 1, QUICK)
    queue.release("h")
    assert queue.next_ready(1_000) is None
    assert list(queue.left_over()) == [("https://h/b", "its pages keep the parser busy", Fate.DUE)]


def test_an_answer_is_taken_once() -> None:
    queue = queue_of("https://h/a", states=known())
    handout = take(queue, 0)
    queue.finished(handout, 1, QUICK)
    with pytest.raises(ValueError, match="not in progress"):
        queue.finished(handout, 1, QUICK)


def test_what_is_remembered_survives_the_host_table() -> None:
    queue = queue_of("https://h/a", "http://h/b")
    read_robots(queue, 0, 200, b"User-agent: *\nCrawl-delay: 4\nDisallow: /x")
    fetch(queue, 4, Reply(200, 0.25))
    state = dict(queue.states())["h"]
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(state), type=HostState) == state
    assert (state.pages, state.last_seconds, state.not_before, state.crawl_delay) == (1, 0.25, 8.0, 4.0)


def test_robots_txt_may_not_be_kept_longer_than_a_day() -> None:
    with pytest.raises(ValueError, match="at most 1d"):
        PolitenessSettings(robots_max_age=Duration(86_401))


def test_urls_that_are_withdrawn_are_not_handed_out_and_may_be_queued_again() -> None:
    queue = queue_of("http://h/a", "http://h/b", "http://i/c", states=known(hosts=("h", "i")))
    asked = take(queue, 0)
    assert sorted(queue.withdraw([asked.url, "http://h/b", "http://i/c", "http://j/"])) == [
        url for url in ("http://h/a", "http://h/b", "http://i/c") if url != asked.url
    ]
    queue.finished(asked, 1, QUICK)
    assert queue.next_ready(1_000) is None and not list(queue.left_over())
    assert queue.needs_urls("h") and queue.needs_urls("j")
    assert queue.add("http://h/b") and not queue.add(asked.url)
    assert not queue.needs_urls("h")
    assert fetch(queue, 1_000) == "http://h/b"


def test_a_host_that_was_set_aside_or_whose_machine_is_asked_for_others_needs_no_urls() -> None:
    queue = queue_of("http://a.x.org/", "http://b.x.org/", states=known(hosts=("a.x.org", "b.x.org")))
    first = take(queue, 0)
    assert not queue.needs_urls(first.host), "the other host waits in line for the same machine"
    other = take(queue, 1)
    assert queue.needs_urls(first.host)
    queue.set_aside(other.host, "too slow")
    assert not queue.needs_urls(other.host)
