from __future__ import annotations

from collections import deque
from typing import Any

import pytest

from crawlctl.pipeline.config.units import Duration
from crawlctl.pipeline.fetch.loop.parse_queue import ParseQueue
from crawlctl.pipeline.text.documents.document import FetchedDocument, Parsed, ParseOutcome
from crawlctl.pipeline.text.guarded.guard import ParseAnswer

MEGABYTE = 1 << 20


class FakeGuard:
    """Answers in the order of the documents, when told to."""

    def __init__(self) -> None:
        self.jobs: deque[tuple[str, Any]] = deque()
        self.seconds = 0.01

    def __len__(self) -> int:
        return len(self.jobs)

    def submit(self, document: FetchedDocument, tag: Any, *, is_sitemap: bool = False) -> None:
        self.jobs.append((document.url, tag))

    def collect(self, timeout: float = 0.0) -> list[ParseAnswer]:
        return [ParseAnswer(self.jobs.popleft()[1], Parsed(ParseOutcome.PARSED), self.seconds)]

    def drop(self, host: str) -> list[Any]:
        dropped = [tag for url, tag in self.jobs if f"//{host}/" in url]
        self.jobs = deque(job for job in self.jobs if f"//{host}/" not in job[0])
        return dropped


class FakeQueue:
    def __init__(self) -> None:
        self.held: set[str] = set()
        self.set_aside_for: dict[str, str] = {}

    def hold(self, host: str) -> None:
        self.held.add(host)

    def release(self, host: str) -> None:
        self.held.discard(host)

    def set_aside(self, host: str, reason: str) -> None:
        self.set_aside_for[host] = reason


@pytest.fixture
def guard() -> FakeGuard:
    return FakeGuard()


@pytest.fixture
def queue() -> FakeQueue:
    return FakeQueue()


@pytest.fixture
def parsing(guard: FakeGuard, queue: FakeQueue) -> ParseQueue:
    return ParseQueue(guard, queue, Duration(10))  # type: ignore[arg-type]


def page(host: str, size: int = 0) -> FetchedDocument:
    return FetchedDocument(f"http://{host}/", bytes(size))


def drain(parsing: ParseQueue) -> list[tuple[Any, bool]]:
    """Return the tags that came out, and whether they were parsed."""
    found: list[tuple[Any, bool]] = []
    while len(parsing):
        found += [(tag, result is not None) for tag, result in parsing.collect(0.0)]
    return found


def test_a_host_of_which_much_waits_is_held_until_less_does(parsing: ParseQueue, queue: FakeQueue) -> None:
    for number in range(5):
        assert parsing.submit(page("a", MEGABYTE), number)
    parsing.submit(page("b", MEGABYTE), 5)
    assert queue.held == {"a"}
    list(parsing.collect(0.0))
    assert queue.held == {"a"}
    for _ in range(3):
        list(parsing.collect(0.0))
    assert queue.held == set()
    assert [tag for tag, _ in drain(parsing)] == [4, 5]


def test_where_much_waits_in_all_hosts_are_held_sooner(parsing: ParseQueue, queue: FakeQueue) -> None:
    for number in range(40):
        parsing.submit(page(f"h{number}", MEGABYTE), number)
    assert "h0" not in queue.held and "h39" in queue.held
    parsing.submit(page("small"), "small")
    assert "small" not in queue.held
    assert not parsing.is_full
    drain(parsing)
    assert queue.held == set()


def test_where_too_much_waits_nothing_more_is_wanted(parsing: ParseQueue) -> None:
    for number in range(64):
        parsing.submit(page(f"h{number}", MEGABYTE), number)
    assert parsing.is_full
    drain(parsing)
    assert not parsing.is_full


def test_a_host_that_has_used_up_its_time_is_given_up(
    parsing: ParseQueue, guard: FakeGuard, queue: FakeQueue
) -> None:
    for number in range(5):
        parsing.submit(page("slow"), number)
        parsing.submit(page("good"), f"good{number}")
    guard.seconds = 6.0
    found = list(parsing.collect(0.0))
    guard.seconds = 0.01
    found += parsing.collect(0.0)
    guard.seconds = 6.0
    found += parsing.collect(0.0)
    assert [(tag, bool(result)) for tag, result in found] == [
        (0, True),
        ("good0", True),
        (1, True),
        (2, False),
        (3, False),
        (4, False),
    ]
    assert "parse.host_time = 10s" in queue.set_aside_for["slow"]
    assert not parsing.submit(page("slow"), 6)
    guard.seconds = 0.01
    assert drain(parsing) == [(f"good{number}", True) for number in range(1, 5)]
    assert "good" not in queue.set_aside_for


def test_quick_documents_never_use_up_the_time_of_a_host(parsing: ParseQueue, queue: FakeQueue) -> None:
    for number in range(2_000):
        parsing.submit(page("large"), number)
    assert len(drain(parsing)) == 2_000 and not queue.set_aside_for
