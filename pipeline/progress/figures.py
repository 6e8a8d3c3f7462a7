"""The figures of a step: how far it is, how fast, when it ends, and how its hosts are doing."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace

from crawlctl.pipeline.terminal.counted import by_number, counted, sized
from crawlctl.pipeline.terminal.printable import escaped
from crawlctl.pipeline.terminal.width import columns
from crawlctl.pipeline.terminal.wrapping import cut

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlctl.pipeline.progress.task_file import HostProgress, Progress

WINDOW = 20.0  # seconds over which rates are measured
_LONG_WAIT = 100.0  # seconds
_LONGEST_HOST, _SHORTEST_HOST = 30, 10  # columns


@dataclass(frozen=True)
class Figures:
    """How far a step is and how fast it goes; `eta` is in seconds, None while nothing moves."""

    progress: Progress
    per_second: float
    bytes_per_second: float
    eta: float | None

    def __str__(self) -> str:
        return ", ".join(self.parts())

    def parts(self) -> list[str]:
        """Return the figures one by one, the most important one first."""
        hosts = self.progress
        parts = [f"ETA {duration(self.eta)}"] if self.eta is not None else []
        parts.append(f"{self.per_second:.1f}/s")
        if self.progress.errors:
            parts.append(counted(self.progress.errors, "error"))
        states = {"asked": hosts.asking, "waiting": hosts.waiting, "failing": hosts.failing}
        told = [f"{number:,} {state}" for state, number in states.items() if number]
        if told:
            noun = by_number(sum(states.values()), "host", "hosts")
            parts.append(f"{noun}: {', '.join(told)}")
        if self.progress.bytes:
            parts.append(f"{sized(self.bytes_per_second)}/s")
        return parts


class Meter:
    """Turns reports of progress into rates; work of earlier attempts does not count for the rate.

    `deadline` is when the step ends at the latest, in seconds since 1970; None if nothing limits it.
    """

    def __init__(
        self,
        total: int,
        deadline: float | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        self._total = total
        self._deadline = deadline
        self._clock = clock
        self._wall_clock = wall_clock
        self._samples: deque[tuple[float, Progress]] = deque()

    def measure(self, progress: Progress) -> Figures:
        """Add a sample of the progress, and return the figures."""
        now = self._clock()
        self._samples.append((now, progress))
        while len(self._samples) > 2 and now - self._samples[1][0] >= WINDOW:
            self._samples.popleft()
        since, before = self._samples[0]
        seconds = max(now - since, 1e-3)
        rate = (_own(progress) - _own(before)) / seconds
        return Figures(
            progress,
            per_second=rate,
            bytes_per_second=(progress.bytes - before.bytes) / seconds,
            eta=self._eta(progress, rate),
        )

    def _eta(self, progress: Progress, rate: float) -> float | None:
        """Return the seconds until all pages and the slowest host are done, or until the time is up."""
        left = max(self._total - progress.done, 0)
        if not left or not (rate > 0 or progress.seconds):
            return None
        needed = max(left / rate if rate > 0 else 0.0, progress.seconds)
        if self._deadline is None:
            return needed
        return max(0.0, min(needed, self._deadline - self._wall_clock()))


def ended_parts(progress: Progress, seconds: float) -> list[str]:
    """Return the figures of a step that has ended: seconds and errors; a rate would mislead at the end."""
    errors = [counted(progress.errors, "error")] if progress.errors else []
    return [f"in {seconds:.1f} s", *errors]


def _own(progress: Progress) -> int:
    return progress.done - progress.earlier


def counted_unit(total: int, unit: str) -> str:
    """Return a total with its noun; `unit` is a plural that ends in s, such as `pages`."""
    return counted(total, unit.removesuffix("s"))


def status_line(title: str, done: int, total: int, unit: str, parts: list[str], *, room: int) -> str:
    """Return the line of a step that fits into `room` columns; the count is never cut.

    Each figure in `parts` that does not fit is left out. If even the count does not fit beside the title, the
    title is left out, and then the unit.
    """
    count = f"{done:,}/{counted_unit(total, unit)}"
    shortest = f"{done:,}/{total:,}"
    line = next((start for start in (f"{title} {count}", count) if columns(start) <= room), shortest)
    for part in parts:
        if columns(line) + len(", ") + columns(part) <= room:
            line = f"{line}, {part}"
    return line


def host_line(host: HostProgress, room: int, now: float) -> str:
    """Return a host and its state in at most `room` columns.

    Where they do not fit, the reason of a failure is cut to its kind before the name of the host is cut.
    """
    name, state = cut(escaped(host.host), _LONGEST_HOST), host_state(host, now)
    if columns(f"  {name}  {state}") > room:
        state = host_state(replace(host, reason=host.reason.partition(": ")[0]), now)
    widest = max(_SHORTEST_HOST, room - columns(state) - len("    "))
    return cut(f"  {cut(name, widest)}  {state}", room)


def host_state(host: HostProgress, now: float) -> str:
    """Return what a host is doing: how many URLs it has left, and whether it is asked, waits or fails."""
    left = f"{counted(host.left, 'URL')} left, " if host.left else ""
    fails = f"fails ({escaped(host.reason)}), " if host.reason else ""
    if host.asking:
        return f"{left}{fails}asked{' again' * bool(fails)}"
    if host.until <= now:
        return f"{left}{fails}ready"
    wait = host.until - now
    return f"{left}{fails}waits {f'{wait:.0f} s' if wait < _LONG_WAIT else duration(wait)}"


def duration(seconds: float) -> str:
    """Return a span of time as h:mm:ss."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}"
