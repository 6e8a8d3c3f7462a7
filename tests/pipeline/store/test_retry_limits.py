from __future__ import annotations

import pytest

from crawlctl.pipeline.store import retry_limits
from crawlctl.pipeline.store.retry_limits import FIRST_PAUSE, LONGEST_PAUSE, WARN_AFTER, RetryLimit


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [0.0]
    monkeypatch.setattr("crawlctl.pipeline.store.retry_limits.time.monotonic", lambda: now[0])
    return now


@pytest.mark.parametrize("is_known", [False, True])
def test_pauses_grow_until_the_time_is_up(clock: list[float], is_known: bool) -> None:
    limit = RetryLimit(is_known=is_known)
    pauses = []
    while (pause := limit.next_pause("trouble")) is not None:
        pauses.append(pause)
        clock[0] += pause
    assert FIRST_PAUSE / 2 <= pauses[0] <= FIRST_PAUSE
    assert all(pause <= LONGEST_PAUSE for pause in pauses)
    total = retry_limits.KNOWN_SERVICE_SECONDS if is_known else retry_limits.NEW_SERVICE_SECONDS
    assert total - LONGEST_PAUSE <= clock[0] <= total


def test_the_trouble_is_logged_once(clock: list[float], caplog: pytest.LogCaptureFixture) -> None:
    limit = RetryLimit(is_known=True)
    for _ in range(WARN_AFTER + 3):
        limit.next_pause("namenode: no answer")
    assert caplog.messages == ["namenode: no answer; trying again"]
