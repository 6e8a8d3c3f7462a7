"""HostWait: how long a run waits when all due pages are on hosts that may not be asked yet."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from crawlctl.pipeline.fetch.failure_words import in_words
from crawlctl.pipeline.politeness.host_queue import ROUND_ENDED
from crawlctl.pipeline.terminal.utc import utc

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlctl.pipeline.crawl.reports.left_over import HostTrouble, LeftHosts
    from crawlctl.pipeline.crawl.reports.round_report import RoundReport


class HostWait:
    """Waits after each round in which no host could be asked; it lives as long as a run.

    The first such round begins a time of `longest` seconds (`round.max_time`, so a run waits no longer than a
    round may fetch). The run waits for hosts that may be asked within this time. If the next host may be
    asked only later, the run ends. A round with results ends the time; the next round without any begins it
    anew.
    """

    def __init__(
        self,
        left: LeftHosts,
        longest: float,
        say: Callable[[str], None],
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._left = left
        self._longest = longest
        self._say = say
        self._clock = clock
        self._sleep = sleep
        self._until: float | None = None  # when the run gives up waiting; None while rounds have results

    def round_done(self) -> None:
        """Record that a round had results."""
        self._until = None

    def wait(self, report: RoundReport) -> bool:
        """Wait until the next host may be asked; return False if the run should end, after saying why."""
        now = self._clock()
        self._until = now + self._longest if self._until is None else self._until
        first = self._left.next_ready(now)
        if report.is_offline or first is None:
            reached = "reached no host" if report.is_offline else "asked no host"
            self._say(f"round {report.round} {reached}; what is due stays due")
            return False
        if first.not_before > self._until:
            self._say(
                f"round {report.round} asked no host: the first that may be asked again, at "
                f"{utc(first.not_before)}, is {first.host}, {_why(first)}; this run does not wait so long "
                "(round.max_time): type `crawlctl run` then"
            )
            return False
        self._say(f"waiting until {utc(first.not_before)} for {first.host}, {_why(first)}")
        self._sleep(first.not_before - now)
        return True


def _why(host: HostTrouble) -> str:
    if host.failure:
        return f"which failed ({host.failure})"
    return "which is asked slowly" if host.reason == ROUND_ENDED else f"which waits ({in_words(host.reason)})"
