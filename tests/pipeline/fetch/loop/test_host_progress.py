from __future__ import annotations

from crawlctl.pipeline.config.settings import PolitenessSettings
from crawlctl.pipeline.config.units import Duration
from crawlctl.pipeline.fetch.loop.host_progress import HostWatch
from crawlctl.pipeline.politeness.handout import Reply
from crawlctl.pipeline.politeness.host_state import HostState, KnownRobots
from crawlctl.pipeline.politeness.polite_queue import PoliteQueue
from crawlctl.pipeline.robots.robots import robots_for_status

AGENT = "crawlctl"
SETTINGS = PolitenessSettings(delay=Duration(2), backoff=Duration(30))


def queue_of(*urls: str) -> PoliteQueue:
    open_to_all = HostState(robots={"https": KnownRobots(robots_for_status(404, b"", AGENT), 0.0)})
    queue = PoliteQueue(SETTINGS, AGENT, dict.fromkeys("abc", open_to_all), 0.0)
    for url in urls:
        queue.add(url)
    return queue


def test_hosts_are_counted_by_what_they_do_and_the_slowest_is_first() -> None:
    queue = queue_of(*(f"https://{host}/{number}" for host in "abc" for number in range(4)))
    answered, failed, asked = (queue.next_ready(0.0) for _ in range(3))
    assert answered and failed and asked
    queue.finished(answered, 0.1, Reply(200, 0.1))
    queue.finished(failed, 0.1, Reply(503, 0.1, retry_after=60.0))
    seen = HostWatch(queue).look(0.2)
    assert (seen.asking, seen.waiting, seen.failing) == (1, 1, 1)
    first = seen.hosts[0]
    assert (first.host, first.left, first.asking) == (failed.host, 3, 0)
    assert first.reason and first.until > 30
    assert seen.seconds >= first.seconds > 60
    states = {host.host: (host.asking, host.until > 0) for host in seen.hosts[1:]}
    assert states == {answered.host: (0, True), asked.host: (1, False)}


def test_why_a_host_fails_is_said_in_words() -> None:
    queue = queue_of("https://a/1", "https://a/2")
    asked = queue.next_ready(0.0)
    assert asked
    queue.finished(asked, 0.1, Reply(None, 0.1, reason="too_slow: 9 bytes per second"))
    (host,) = HostWatch(queue).look(0.2).hosts
    assert host.reason == "too few bytes per second: 9 bytes per second"


def test_a_host_that_has_nothing_left_is_not_shown() -> None:
    queue = queue_of("https://a/1")
    handout = queue.next_ready(0.0)
    assert handout
    queue.finished(handout, 0.1, Reply(200, 0.1))
    assert HostWatch(queue).look(0.2, at_once=True).hosts == ()
