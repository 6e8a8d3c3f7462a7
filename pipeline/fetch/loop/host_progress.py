"""HostWatch: the progress of the hosts of a fetch task, for the display of the driver."""

from __future__ import annotations

import time
from heapq import nlargest
from typing import TYPE_CHECKING

from crawlctl.pipeline.fetch.failure_words import in_words
from crawlctl.pipeline.progress.task_file import MOST_HOSTS, HostProgress, Progress

if TYPE_CHECKING:
    from crawlctl.pipeline.politeness.host_queue import HostQueue
    from crawlctl.pipeline.politeness.polite_queue import PoliteQueue

_REST = 20  # looking at all hosts takes at most 1/20 of the time of the task


class HostWatch:
    """Counts the hosts of a task from time to time; a count takes time linear in their number."""

    def __init__(self, queue: PoliteQueue) -> None:
        self._queue = queue
        self._next_look = 0.0
        self._seen = Progress()

    def look(self, now: float, *, at_once: bool = False) -> Progress:
        """Return the counts of hosts and the slowest ones; `now` is the time by the clock of the task."""
        started = time.monotonic()
        if at_once or started >= self._next_look:
            hosts = [_progress_of(host, now) for host in self._queue.busy_hosts()]
            self._seen = _seen(hosts, self._queue.rest(now).seconds)
            self._next_look = started + _REST * (time.monotonic() - started)
        return self._seen


def _progress_of(host: HostQueue, now: float) -> HostProgress:
    waits = not host.in_flight and host.ready_at > now
    return HostProgress(
        host.host,
        len(host),
        len(host.in_flight),
        host.ready_at if waits else 0.0,
        in_words(host.reason),
        host.seconds_left(now),
    )


def _seen(hosts: list[HostProgress], seconds: float) -> Progress:
    slowest = nlargest(MOST_HOSTS, hosts, key=lambda host: host.seconds)
    return Progress(
        asking=sum(host.asking > 0 for host in hosts),
        waiting=sum(host.until > 0 and not host.reason for host in hosts),
        failing=sum(bool(host.reason) for host in hosts),
        seconds=seconds,
        hosts=tuple(slowest),
    )
